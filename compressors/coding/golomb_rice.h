#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "compressors/arithmetic/golomb.h"
#include "compressors/coding/bit_stream.h"

/// Golomb-Rice codes of the gaps between ascending indices, with a few bits of the caller's after
/// each gap, such as a sign (Sattler et al., arXiv 1903.02891). MSB-first: a gap g (the positions
/// skipped since the index before, or since the start) takes g >> b ones, a zero, the low b bits of
/// g, then `extra` bits.
namespace gradwire::compressors {

inline constexpr int kLargestGolombParameter = 31;
inline constexpr int kLargestGolombExtra = 8;  ///< bits after each gap

/// How the codes look: b in [0, 31], extra in [0, 8].
struct GolombRule {
  int b = 0;
  int extra = 0;
  int fixed_bits() const { return golomb_tail_bits(b, extra); }  ///< of each code, besides the ones
};

/// b* = 1 + floor(log2(ln(phi - 1) / ln(1 - p))), p = k / n, phi = (1 + sqrt 5) / 2, at least 0 and
/// at most 31: the best b where indices are spread at random. 0 for k = 0. Needs no logarithm:
/// (1 - p)^(2^j) >= phi - 1 holds for the j that are at most the inner log2.
int golomb_parameter(std::size_t n, std::size_t k);

/// The most bits that k indices below n can take: their gaps sum up to n - k at most.
std::uint64_t golomb_max_bits(std::size_t n, std::size_t k, GolombRule rule);

/// An index and the bits that follow it.
struct GolombEntry {
  std::uint32_t index = 0;
  std::uint32_t extra = 0;
};

namespace golomb_detail {

inline constexpr int kPairLimit = BitWriter::kLargest / 2;

struct Code {
  std::uint64_t bits;
  int width;
};

// Precondition: the code has at most 63 bits.
inline Code code_of(std::uint64_t gap, std::uint32_t extra, GolombRule rule) {
  const int width = static_cast<int>(golomb_ones(gap, rule.b)) + rule.fixed_bits();
  // The ones are all bits below 2^width but the fixed ones.
  return {(std::uint64_t{1} << width) - (std::uint64_t{1} << rule.fixed_bits()) +
              golomb_tail(gap, extra, rule.b, rule.extra),
          width};
}

inline void put_long(BitWriter& out, std::uint64_t gap, std::uint32_t extra, GolombRule rule) {
  out.put_ones(golomb_ones(gap, rule.b));
  out.put(golomb_tail(gap, extra, rule.b, rule.extra), rule.fixed_bits());
}

}  // namespace golomb_detail

/// Writes `count` codes; entry(i) gives the GolombEntry i, its index above the one before and its
/// extra bits < 2^extra.
template <class Entry>
void golomb_write(BitWriter& stream, GolombRule rule, std::size_t count, Entry&& entry) {
  using namespace golomb_detail;
  BitWriter out = stream;
  std::uint64_t next = 0;  // the lowest index that may follow
  std::size_t i = 0;
  // Two codes an access to memory, where they fit.
  const std::uint64_t most_ones = rule.fixed_bits() >= kPairLimit
                                      ? 0
                                      : static_cast<std::uint64_t>(kPairLimit - rule.fixed_bits());
  for (; i + 2 <= count; i += 2) {
    const GolombEntry e0 = entry(i), e1 = entry(i + 1);
    const std::uint64_t gap0 = e0.index - next, gap1 = e1.index - e0.index - 1u;
    next = std::uint64_t{e1.index} + 1;
    if ((gap0 | gap1) >> rule.b > most_ones || most_ones == 0) [[unlikely]] {
      put_long(out, gap0, e0.extra, rule);
      put_long(out, gap1, e1.extra, rule);
      continue;
    }
    const Code c0 = code_of(gap0, e0.extra, rule), c1 = code_of(gap1, e1.extra, rule);
    out.put(c0.bits << c1.width | c1.bits, c0.width + c1.width);
  }
  if (i < count) {
    const GolombEntry e = entry(i);
    put_long(out, e.index - next, e.extra, rule);
  }
  stream = out;
}

/// What a walk over codes found.
struct GolombWalk {
  std::size_t visited = 0;         ///< codes handed to the visitor
  std::uint64_t bit_position = 0;  ///< of the code that ended the walk, or the end of the last one
  bool beyond_tensor = false;      ///< that code's index is not below n
  bool beyond_bytes = false;       ///< the bytes end within that code
  bool complete() const { return !beyond_tensor && !beyond_bytes; }
};

namespace golomb_detail {

inline constexpr std::size_t kGroup = 4;

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

}  // namespace golomb_detail

/// Reads `count` codes and calls visit(i, index, extra) for each, indices ascending and below
/// n <= 2^32, until one is wrong. Any bytes are safe.
template <class Visit>
GolombWalk golomb_walk(BitReader in, GolombRule rule, std::size_t count, std::uint64_t n,
                       Visit&& visit) {
  using namespace golomb_detail;
  const std::uint64_t step = std::uint64_t{2} << rule.b;
  const std::uint32_t extra_mask = (1u << rule.extra) - 1u;
  const int fixed = rule.fixed_bits();
  std::uint64_t next = 0;
  std::size_t i = 0;
  const bool short_codes = 4 * (fixed + 1) <= BitReader::kLargest;
  while (short_codes && i + kGroup <= count && in.whole_word_left()) {
    in.refill();
    // Ones and zeros exchanged: a run of ones is counted as zeros, and what follows it is
    // 2^(b+1) - 1 - low, then the extra bits' complement.
    std::uint64_t window = ~in.window(), index[kGroup], at = next - 1;
    std::uint32_t extra[kGroup];
    int used = static_cast<int>(kGroup) * fixed;
#pragma GCC unroll 4
    for (std::size_t j = 0; j < kGroup; ++j) {
      const int ones = std::countl_zero(window);
      window = window << (ones & 63);
      const std::uint64_t code = window >> (64 - fixed);
      window <<= fixed;
      used += ones;
      at += (static_cast<std::uint64_t>(ones) << rule.b) + step - (code >> rule.extra);
      index[j] = at;
      extra[j] = ~static_cast<std::uint32_t>(code) & extra_mask;
    }
    if (used > in.available() || at >= n) [[unlikely]] {  // read on in the window: take care
      const GolombWalk walk = walk_slowly(in, rule, i, i + kGroup, n, next, visit);
      if (!walk.complete()) return walk;
    } else {
#pragma GCC unroll 4
      for (std::size_t j = 0; j < kGroup; ++j)
        visit(i + j, static_cast<std::uint32_t>(index[j]), extra[j]);
      in.skip(used);
      next = at + 1;
    }
    i += kGroup;
  }
  return walk_slowly(in, rule, i, count, n, next, visit);
}

}  // namespace gradwire::compressors
