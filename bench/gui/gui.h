#pragma once
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

/// `gradwire bench gui`: the real window without a screen over made-up runs: how long sorting,
/// filtering, selecting and hovering take, how many pictures a second a panned timeline has, and
/// how long the window does not answer at most. By `gradwire-bench-gui`, a program of its own;
/// where that is not built, every row is skipped.
std::vector<BenchRow> bench_gui(const Say& say);

}  // namespace gradwire::bench
