#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

struct EmulationOptions {
  std::uint64_t seed = 1;
  int first = 0;  ///< number of the first case
  int cases = 20;
  int steps = 30;     ///< of a case; of one that loses packets at least
  bool links = true;  ///< the link process by itself, and our ring beside Gloo's, too
  std::string shaper = "auto";
};

/// `gradwire bench emulation`: `flow` by its calibration against Linux, against the emulator: real
/// processes and the kernel's TCP, on drawn clusters (2 to 8 workers, 10 Mbps to 1 Gbps and 1 Gbps
/// at most in all, 1 to 40 ms a link, half of the cases with losses of up to 2 %) and steps (ring
/// all-reduce, parameter server, all-gather, on stars and other topologies).
///
/// A case's error is that of the mean of its steps. `flow` has the links that were emulated: their
/// delays, and each a share of the wake-ups in the measured base RTT. A case that is refused, or
/// during which links were late, is named with its reason and counts in no error.
///
/// Steps of a case go on from each other's congestion windows. Where packets are lost that makes a
/// few dozen of them one draw: such a case takes three emulations with losses of their own, each of
/// as many steps as 8 s have room for.
///
/// By itself the link process is held to what its links' rates and delays say: 10 MB, losses, and a
/// trace's opportunities.
std::vector<BenchRow> bench_emulation(const EmulationOptions& options, const Say& say);

}  // namespace gradwire::bench
