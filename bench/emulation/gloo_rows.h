#pragma once
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

/// The emulator's own ring beside PyTorch's Gloo: an all-reduce of 100 MB of floats among four
/// network namespaces over links that the kernel shapes, in turns. Python is $GRADWIRE_PYTHON, else
/// python3; a row that cannot be measured here says why.
std::vector<BenchRow> bench_gloo(const Say& say);

}  // namespace gradwire::bench
