#pragma once

namespace gradwire::bench {

/// What a plain ns-3 program (bench/ns3/ring.cc) took.
struct Ns3Ring {
  double events = 0;
  double simulated_s = 0;
  double wall_s = 0;  ///< of the whole process
};

/// gradwire-bench-ns3, beside the running program, where ns-3 was found when it was built.
bool has_ns3_peer();
/// Throws Error if the program fails.
Ns3Ring ns3_ring(int workers, long long bytes_a_hop);

}  // namespace gradwire::bench
