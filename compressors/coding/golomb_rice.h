#pragma once
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
/// extra bits < 2^extra. Let `entry` hold pointers, not references to what holds them: those would
/// be read again after each store, which costs a fifth of the speed.
template <class Entry>
void golomb_write(BitWriter& stream, GolombRule rule, std::size_t count, Entry entry) {
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

}  // namespace gradwire::compressors
