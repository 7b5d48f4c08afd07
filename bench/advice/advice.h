#pragma once
#include <cstdint>
#include <vector>

#include "bench/rows/row.h"

namespace gradwire::bench {

struct AdviceOptions {
  std::uint64_t seed = 1;
  int cases = 40;
  int most_workers = 128;
  std::vector<int> rule_workers = {8, 16, 32, 64, 128};  ///< of the all-gather rule
  bool list = false;                                     ///< say every case
};

/// `gradwire bench advice`: "should I compress?" by the closed form against simulations of every
/// candidate (method x collective x bucket) by flow.
///
/// A case agrees where the verdict (fp32, fp16, compress) is flow's, or flow's best steps under
/// both verdicts are within 3 %, and the step that the model chose is within 3 % of flow's fastest.
/// The all-gather rule: which share of the elements top-k may send, by flow's times, until its
/// gathered step is no faster than the fp32 ring's; the ratio 4 E / message there over half the
/// workers, which counting bytes says is 1.
std::vector<BenchRow> bench_advice(const AdviceOptions& options, const Say& say);

}  // namespace gradwire::bench
