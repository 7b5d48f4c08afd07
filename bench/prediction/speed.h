#pragma once
#include <cstdint>
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

/// `gradwire bench predict`: how long predictions take, in this process. One fit with its 64 draws
/// is asked about 10,000 drawn steps, no two alike (every exchange, 2 to 1,024 workers, 1 to 32
/// buckets, with and without loss), and from scenario to answer about the layer table of ResNet-50
/// on 512 workers. Seconds of all are medians of five; a point's and the scenario's time is the
/// least of five, since what the system takes meanwhile is no part of it.
std::vector<BenchRow> bench_predict(std::uint64_t seed, const Say& say);

}  // namespace gradwire::bench
