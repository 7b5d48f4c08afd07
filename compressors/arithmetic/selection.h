#pragma once
#include <cstdint>

#include "base/philox.h"
#include "compressors/arithmetic/bits.h"

/// The rules that decide which elements a sparse codec sends, for the host and the device.
namespace gradwire::compressors {

/// Which elements a threshold is estimated from: `count` of them, at 0, stride, 2 stride, ...
struct SampleRule {
  std::uint64_t count = 0;
  std::uint64_t stride = 1;
};

/// At most `wanted` >= 1 samples of n elements. The stride is odd, so that neither rows of even length
/// nor memory pages are in step with it.
GRADWIRE_HD SampleRule sample_rule(std::uint64_t n, std::uint64_t wanted) {
  if (wanted >= n) return SampleRule{n, 1};
  const std::uint64_t stride = n / wanted;
  return SampleRule{wanted, stride - (stride % 2 == 0 ? 1 : 0)};
}

/// The k largest of n are about the first ceil(count k / n) of a sample of `count`: the smallest of
/// these is the sampled threshold (DGC, arXiv 1712.01887, section 3). n <= 2^32.
GRADWIRE_HD std::uint64_t sample_rank(std::uint64_t count, std::uint64_t k, std::uint64_t n) {
  return (count * k + n - 1) / n;
}

/// What a sampled threshold may select: at least 0.8 k, or it is lowered; at most 1.3 k, or the
/// selected are cut to exactly k (released code of DGC).
GRADWIRE_HD std::uint64_t fewest_sampled(std::uint64_t k) {
  return (8 * k + 9) / 10;
}
GRADWIRE_HD std::uint64_t most_sampled(std::uint64_t k) {
  return 13 * k / 10;
}
inline constexpr int kThresholdRetries = 10;

/// The next lower threshold, in magnitude bits.
GRADWIRE_HD std::uint32_t lowered_threshold(std::uint32_t magnitude) {
  return magnitude_bits(0.8f * float_of(magnitude));
}

// ---- Selection at random: a keyed permutation of [0, n)

/// A Feistel network on `left + right` bits. Its round function is a table of Philox words that
/// both sides make: round r maps x to words[r << table_bits | x], cut to the half's bits.
struct PermutationRule {
  std::uint64_t n = 0;
  int left = 4;   ///< bits of the upper half
  int right = 4;  ///< bits of the lower half; left or left + 1
};
inline constexpr int kPermutationRounds = 6;

/// The smallest network that holds n (at most 2^32), of at least 8 bits: smaller ones permute
/// badly.
GRADWIRE_HD PermutationRule permutation_rule(std::uint64_t n) {
  int bits = 8;
  while (bits < 32 && (std::uint64_t{1} << bits) < n) ++bits;
  return PermutationRule{n, bits / 2, bits - bits / 2};
}

GRADWIRE_HD std::uint32_t permutation_words(PermutationRule rule) {
  return static_cast<std::uint32_t>(kPermutationRounds) << rule.right;
}

/// Where the permutation sends i < n. A result outside [0, n) goes through again ("cycle walking"),
/// less than once on average for n above 128. words[permutation_words(rule)].
GRADWIRE_HD std::uint32_t permuted_index(std::uint32_t i, PermutationRule rule,
                                         const std::uint32_t* words) {
  const std::uint32_t left_mask = (1u << rule.left) - 1u, right_mask = (1u << rule.right) - 1u;
  std::uint32_t left = i >> rule.right, right = i & right_mask;
  std::uint64_t to;
  do {
    for (std::uint32_t round = 0; round < kPermutationRounds; round += 2) {
      left = (left ^ words[(round << rule.right) + right]) & left_mask;
      right = (right ^ words[((round + 1) << rule.right) + left]) & right_mask;
    }
    to = std::uint64_t{left} << rule.right | right;
  } while (to >= rule.n);
  return static_cast<std::uint32_t>(to);
}

}  // namespace gradwire::compressors
