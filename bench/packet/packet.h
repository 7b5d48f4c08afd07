#pragma once
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

/// `gradwire bench packet`: a ring all-reduce of 4 MB on 16 workers at 1 Gbps in the packet
/// executor, in turns with a plain ns-3 program that does the same; how much faster and how far off
/// `flow` is on it; and what was forecast of several runs (sim/packet/packet_estimate.h) against
/// what they took. Throws Error(kCapability) where gradwire-packet was not built.
std::vector<BenchRow> bench_packet(const Say& say);

}  // namespace gradwire::bench
