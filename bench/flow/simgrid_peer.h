#pragma once
#include <optional>
#include <string>

namespace gradwire::bench {

/// gradwire-bench-simgrid, beside the running program, where SimGrid was found when it was built.
bool has_simgrid_peer();

/// Transfers a second of SimGrid on a ring all-reduce (bench/simgrid/ring.cc); `way`: "actors" or
/// "comms". Throws Error if the program fails.
double simgrid_ring(const std::string& way, int workers, long long bytes_a_hop);

}  // namespace gradwire::bench
