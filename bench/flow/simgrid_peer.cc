#include "bench/flow/simgrid_peer.h"

#include <cstdio>

#include "base/error.h"
#include "bench/rows/peer_program.h"

namespace gradwire::bench {
namespace {

constexpr const char* kProgram = "gradwire-bench-simgrid";

}  // namespace

bool has_simgrid_peer() {
  return has_peer_program(kProgram);
}

double simgrid_ring(const std::string& way, int workers, long long bytes_a_hop) {
  const std::string text =
      peer_program_output(kProgram, {way, std::to_string(workers), std::to_string(bytes_a_hop)});
  double transfers = 0, wall = 0, simulated = 0;
  if (std::sscanf(text.c_str(), "%lf %lf %lf", &transfers, &wall, &simulated) != 3 || wall <= 0)
    throw Error(ErrorKind::kFailure, "measure", kProgram, "it said: " + text);
  return transfers / wall;
}

}  // namespace gradwire::bench
