#pragma once
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

/// `gradwire bench report`: 100 runs of AlexNet's layer table (five methods on five numbers of
/// workers, four seeds, 40 steps each) are simulated and stored; then their scalability report is
/// made from the opened database to the last file, and their plain report. Times are medians of
/// five.
std::vector<BenchRow> bench_report(const Say& say);

}  // namespace gradwire::bench
