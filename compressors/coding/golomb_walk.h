#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "compressors/coding/bit_instructions.h"
#include "compressors/coding/bit_stream.h"
#include "compressors/coding/golomb_rice.h"

/// Reading Golomb-Rice codes (see golomb_rice.h).
namespace gradwire::compressors {

/// What a walk over codes found.
struct GolombWalk {
  std::size_t visited = 0;         ///< codes handed to the visitor
  std::uint64_t bit_position = 0;  ///< of the code that ended the walk, or the end of the last one
  bool beyond_tensor = false;      ///< that code's index is not below n
  bool beyond_bytes = false;       ///< the bytes end within that code
  bool complete() const { return !beyond_tensor && !beyond_bytes; }
};

namespace golomb_detail {

inline constexpr int kGroupBits = 56;  ///< that a group of codes may take

// One code from a window that was just filled; false if it may not fit the window. A run of ones
// that goes on beyond the window is read on.
inline std::uint64_t read_gap(BitReader& in, GolombRule rule, std::uint64_t n,
                              std::uint32_t& extra) {
  std::uint64_t ones = 0;
  in.refill();
  int run = std::countl_one(in.window());
  while (run >= BitReader::kLargest && ones << rule.b <= n) {  // beyond n: will be refused
    in.skip(BitReader::kLargest);
    ones += BitReader::kLargest;
    in.refill();
    run = std::countl_one(in.window());
  }
  ones += static_cast<std::uint64_t>(run);
  in.skip(run < BitReader::kLargest ? run : BitReader::kLargest);
  const std::uint64_t low = in.read(rule.fixed_bits());
  extra = static_cast<std::uint32_t>(low & ((1u << rule.extra) - 1u));
  return (ones << rule.b) + (low >> rule.extra & ((std::uint64_t{1} << rule.b) - 1));
}

// Codes one by one, each checked.
template <class Visit>
GolombWalk walk_slowly(BitReader& in, GolombRule rule, std::size_t first, std::size_t last,
                       std::uint64_t n, std::uint64_t& next, Visit&& visit) {
  for (std::size_t i = first; i < last; ++i) {
    const std::uint64_t position = in.bit_position();
    std::uint32_t extra = 0;
    const std::uint64_t index = next + read_gap(in, rule, n, extra);
    if (in.overrun()) return {i, position, false, true};
    if (index >= n) return {i, position, true, false};
    visit(i, static_cast<std::uint32_t>(index), extra);
    next = index + 1;
  }
  return {last, in.bit_position(), false, false};
}

/// kCodes codes from 64 bits, ones and zeros exchanged: a run of ones is counted as zeros, and what
/// follows it is 2^(b+1) - 1 - low, then the extra bits' complement.
template <std::size_t kCodes>
struct Group {
  std::uint64_t index[kCodes];
  std::uint32_t extra[kCodes];
  std::uint64_t rest;  ///< the bits behind the codes
  int used;            ///< right only if at most kGroupBits
};

template <std::size_t kCodes>
GRADWIRE_ALWAYS_INLINE Group<kCodes> read_group(std::uint64_t window, GolombRule rule,
                                                std::uint64_t next) {
  Group<kCodes> group;
  const int fixed = rule.fixed_bits();
  const std::uint64_t step = std::uint64_t{2} << rule.b;
  group.used = static_cast<int>(kCodes) * fixed;
  std::uint64_t at = next - 1;
#pragma GCC unroll 4
  for (std::size_t j = 0; j < kCodes; ++j) {
    const int ones = std::countl_zero(window | 1);
    const std::uint64_t code = window << ones >> (64 - fixed);
    window = window << fixed << ones;  // the first of these need not wait for the count
    group.used += ones;
    at += (static_cast<std::uint64_t>(ones) << rule.b) + step - (code >> rule.extra);
    group.index[j] = at;
    group.extra[j] = ~static_cast<std::uint32_t>(code) & ((1u << rule.extra) - 1u);
  }
  group.rest = window;
  return group;
}

/// Whole groups, as long as 16 bytes are left. Two chains of steps run side by side: through the
/// codes of a window, and through the load of the bits that follow it.
template <std::size_t kCodes, class Visit>
GRADWIRE_ALWAYS_INLINE GolombWalk walk_groups_of(BitReader& in, GolombRule rule, std::size_t count,
                                                 std::uint64_t n, std::uint64_t& next,
                                                 Visit& visit) {
  const std::span<const std::byte> bytes = in.bytes();
  GolombWalk walk{0, in.bit_position()};
  std::uint64_t window = 0;
  bool filled = false;
  while (walk.visited + kCodes <= count && walk.bit_position / 8 + 16 <= bytes.size()) {
    const std::byte* at = bytes.data() + walk.bit_position / 8;
    const int skip = static_cast<int>(walk.bit_position % 8);
    const std::uint64_t second = ~load_big_endian(at + 8);
    if (!filled) window = ~load_big_endian(at) << skip | second >> 1 >> (63 - skip);
    const auto group = read_group<kCodes>(window, rule, next);
    if (group.used > kGroupBits || group.index[kCodes - 1] >= n) [[unlikely]] {
      in = BitReader(bytes, walk.bit_position);
      const auto slow = walk_slowly(in, rule, walk.visited, walk.visited + kCodes, n, next, visit);
      if (!slow.complete()) return slow;
      walk = slow;
      filled = false;
      continue;
    }
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kCodes; ++j)
      visit(walk.visited + j, static_cast<std::uint32_t>(group.index[j]), group.extra[j]);
    next = group.index[kCodes - 1] + 1;
    walk.visited += kCodes;
    walk.bit_position += static_cast<std::uint64_t>(group.used);
    window = group.rest | (second << skip) >> (64 - group.used);
    filled = true;
  }
  in = BitReader(bytes, walk.bit_position);
  return walk;
}

/// As many at once as fit most of the time.
template <class Visit>
GRADWIRE_ALWAYS_INLINE GolombWalk walk_groups(BitReader& in, GolombRule rule, std::size_t count,
                                              std::uint64_t n, std::uint64_t& next, Visit& visit) {
  const int fixed = rule.fixed_bits();
  if (fixed <= 10) return walk_groups_of<4>(in, rule, count, n, next, visit);
  if (fixed <= 13) return walk_groups_of<3>(in, rule, count, n, next, visit);
  if (fixed <= 20) return walk_groups_of<2>(in, rule, count, n, next, visit);
  return {0, in.bit_position()};
}

template <class Visit>
GRADWIRE_BIT_INSTRUCTIONS GolombWalk walk_groups_faster(BitReader& in, GolombRule rule,
                                                        std::size_t count, std::uint64_t n,
                                                        std::uint64_t& next, Visit& visit) {
  return walk_groups(in, rule, count, n, next, visit);
}

}  // namespace golomb_detail

/// Reads `count` codes and calls visit(i, index, extra) for each, indices ascending and below
/// n <= 2^32, until one is wrong. Any bytes are safe.
template <class Visit>
GolombWalk golomb_walk(BitReader in, GolombRule rule, std::size_t count, std::uint64_t n,
                       Visit&& visit) {
  using namespace golomb_detail;
  std::uint64_t next = 0;
  const GolombWalk walk = GRADWIRE_HAS_BIT_INSTRUCTIONS && bit_instructions()
                              ? walk_groups_faster(in, rule, count, n, next, visit)
                              : walk_groups(in, rule, count, n, next, visit);
  if (!walk.complete()) return walk;
  return walk_slowly(in, rule, walk.visited, count, n, next, visit);
}

}  // namespace gradwire::compressors
