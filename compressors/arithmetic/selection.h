#pragma once
#include <cstdint>

#include "base/philox.h"
#include "compressors/arithmetic/bits.h"

/// The rules that decide which elements a sparse codec sends, for the host and the device.
namespace gradwire::compressors {

inline constexpr std::uint64_t kSampleLine = 16;

/// Which elements a threshold is estimated from: `count` of them, at 0, stride, 2 stride, ...
struct SampleRule {
  std::uint64_t count = 0;
  std::uint64_t stride = 1;
};

/// At most `wanted` samples of n elements. The stride is odd, so that neither rows of even
/// length nor memory pages are in step with it.
GRADWIRE_HD SampleRule sample_rule(std::uint64_t n, std::uint64_t wanted) {
  if (wanted >= n || wanted == 0) return SampleRule{wanted == 0 ? 0 : n, 1};
  const std::uint64_t stride = n / wanted;
  return SampleRule{wanted, stride - (stride % 2 == 0 ? 1 : 0)};
}

/// What an exact selection's first guess is drawn from: `lines` times kSampleLine neighbours, from
/// elements 0, stride, 2 stride, ... A whole cache line costs no more than one element of it.
struct LineSample {
  std::uint64_t lines = 0;
  std::uint64_t stride = kSampleLine;
  GRADWIRE_HD std::uint64_t size() const { return lines * kSampleLine; }
};

/// At most 2,048 lines, and one element in 16. An odd number of lines apart, as above.
GRADWIRE_HD LineSample line_sample(std::uint64_t n) {
  const std::uint64_t all = n / kSampleLine;
  const SampleRule rule = sample_rule(all, all / 16 < 2048 ? all / 16 : 2048);
  return LineSample{rule.count, rule.stride * kSampleLine};
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

/// Of the sampled threshold, lowered 0, 1, ... kThresholdRetries times, counts[j] elements pass.
/// The first j that at least fewest_sampled(k) pass decides: returns it if at most `most` do, else
/// (or if there is none) -1: exactly k are selected.
GRADWIRE_HD int sampled_retry(const std::uint32_t* counts, std::uint64_t k, std::uint64_t most) {
  for (int j = 0; j <= kThresholdRetries; ++j)
    if (counts[j] >= fewest_sampled(k)) return counts[j] <= most ? j : -1;
  return -1;
}

// ---- Gaps of 16 bits (dgc)

inline constexpr std::uint64_t kRunCovered = 65536;  ///< positions that a filler stands for

/// Fillers before an entry that comes `gap` positions after the one before.
GRADWIRE_HD std::uint64_t run_fillers(std::uint64_t gap) {
  return gap / kRunCovered;
}

/// (run = 65,535, value = +0) stands for skipped positions alone.
GRADWIRE_HD bool is_run_filler(std::uint32_t run, std::uint32_t value_bits) {
  return run == kRunCovered - 1 && value_bits == 0;
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

/// The words as they are defined: word i of the Philox stream {seed = key}.
struct PermutationWords {
  std::uint64_t key;
  GRADWIRE_HD std::uint32_t operator[](std::uint32_t i) const {
    return philox_word(RandomStream{key, 0, 0, 0}, i);
  }
};

/// The key of a call; its stream's seed is salted, since rounding draws other words. `shared`:
/// without the worker in it, so that all workers of a step choose the same elements.
GRADWIRE_HD std::uint64_t permutation_key(RandomStream stream, std::uint64_t first_element,
                                          bool shared) {
  stream.seed ^= 0x6B6D6F646E6172ull;  // "randomk"
  if (shared) stream.worker = 0;
  const PhiloxBlock block = philox_block(stream, static_cast<std::uint32_t>(first_element / 4));
  return std::uint64_t{block.word[1]} << 32 | block.word[0];
}

/// Where the permutation sends i < n. A result outside [0, n) goes through again ("cycle walking"),
/// less than once on average for n above 128. words[permutation_words(rule)]: a table, or
/// PermutationWords.
template <class Words>
GRADWIRE_HD std::uint32_t permuted_index(std::uint32_t i, PermutationRule rule,
                                         const Words& words) {
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
