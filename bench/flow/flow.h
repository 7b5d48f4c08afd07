#pragma once
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

/// `gradwire bench flow`: transfers a second, seconds and peak memory of the flow executor, on one
/// thread, with the construction of cluster and graph and a summary timeline; and its ratio to
/// SimGrid on a ring of 256, where that is installed. Every figure is the best of several runs.
std::vector<BenchRow> bench_flow(const Say& say);

}  // namespace gradwire::bench
