#pragma once
#include <functional>
#include <string>
#include <vector>

#include "bench/row.h"

namespace gradwire::bench {

using Say = std::function<void(const std::string&)>;  ///< what is being done, for people

/// `gradwire bench flow`: transfers a second of the flow executor on ring all-reduces of 4 MB over
/// a 1 Gbps star.
std::vector<BenchRow> bench_flow(const Say& say);

}  // namespace gradwire::bench
