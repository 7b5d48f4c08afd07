#pragma once
#include <string>
#include <vector>

namespace gradwire::bench {

struct CoderPoint {
  std::string name;  ///< golomb_rice.decode
  double million_symbols_per_s = 0;
};

/// The entropy coders on one thread, on symbols that stay in the cache. `repetitions` rounds at
/// least; figures are medians.
std::vector<CoderPoint> bench_coders(int repetitions);

}  // namespace gradwire::bench
