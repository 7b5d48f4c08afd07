#pragma once
#include <cstdint>

#include "base/philox.h"

/// Selection at random: a keyed permutation of [0, n), for the host and the device.
namespace gradwire::compressors {

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
