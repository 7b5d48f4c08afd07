#pragma once
#include <span>

#include "compressors/codecs/lowbit/arithmetic.h"

namespace gradwire {
class ThreadTeam;
}

/// The projection of ADMM's low-bit quantisation (arXiv 2111.14836, with the usual alternating
/// updates): G = alpha q with q in a table T, near to V in the 2-norm.
///   alpha = mean |v| / start;  `iterations` times: q_i = the entry of T nearest to v_i / alpha;
///   alpha = <v, q> / <q, q>
/// Each half-step is exact in its one variable, so the error never rises. V that is alpha times
/// entries of T is its own projection, whatever the updates would come to: of the scales |v_0| / m,
/// v_0 the first that is not 0 and m = 1, 2, 4 those of T, the first that fits. All in double, sums
/// as in compressors/ordered_sum.h: the same result for any instruction set and team.
namespace gradwire::compressors {

inline constexpr int kLowbitIterations = 5;

struct LowbitScale {
  double quantiser = 0;  ///< the alpha that the final q was chosen with
  float alpha = 0;       ///< <v, q> / <q, q>, rounded once; 0 for all zeros
  bool finite = true;    ///< false: a value is NaN or Inf, the rest means nothing
};

/// One tie group. `sums` is scratch for [sum_blocks(values.size())] products where a team is given;
/// with neither, the sums are the same and the calling thread takes them.
LowbitScale lowbit_project(std::span<const float> values, const LowbitTable& table, int iterations,
                           ThreadTeam* team = nullptr, std::span<LowbitProducts> sums = {});

/// Several tensors that share one alpha (the codec's tie "model"): blocks of the ordered sums do
/// not span tensors.
LowbitScale lowbit_project(std::span<const std::span<const float>> tensors,
                           const LowbitTable& table, int iterations);

}  // namespace gradwire::compressors
