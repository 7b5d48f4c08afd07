#pragma once
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

/// The link process by itself, in the emulator. A row that cannot be measured here says why.
std::vector<BenchRow> bench_link_process(std::uint64_t seed, const Say& say);

}  // namespace gradwire::bench
