#include "bench/packet/ns3_peer.h"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "base/error.h"
#include "bench/rows/peer_program.h"
#include "bench/rows/timing.h"

namespace gradwire::bench {
namespace {

constexpr const char* kProgram = "gradwire-bench-ns3";

}  // namespace

bool has_ns3_peer() {
  return has_peer_program(kProgram);
}

Ns3Ring ns3_ring(int workers, long long bytes_a_hop) {
  const double start = now_s();
  const std::string text =
      peer_program_output(kProgram, {std::to_string(workers), std::to_string(bytes_a_hop)});
  Ns3Ring ring;
  ring.wall_s = now_s() - start;
  if (std::sscanf(text.c_str(), "%lf %lf", &ring.events, &ring.simulated_s) != 2)
    throw Error(ErrorKind::kFailure, "measure", kProgram, "it said: " + text);
  return ring;
}

}  // namespace gradwire::bench
