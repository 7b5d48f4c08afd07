#include "compressors/codecs/sz/symbol_counts.h"

#include <bit>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/sz/symbol_counts_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names
namespace hn = hwy::HWY_NAMESPACE;

HWY_ATTR void EqualMask(const std::uint16_t* symbols, std::size_t n, std::uint16_t symbol,
                        std::uint64_t* mask) {
  const hn::CappedTag<std::uint16_t, 32> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto wanted = hn::Set(d, symbol);
  std::size_t i = 0;
  for (; i + 64 <= n; i += 64) {
    std::uint64_t bits = 0;
    for (std::size_t j = 0; lanes >= 8 && j < 64; j += lanes) {
      std::uint8_t bytes[8] = {};
      hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, symbols + i + j), wanted), bytes);
      std::uint64_t part;
      std::memcpy(&part, bytes, 8);
      bits |= part << j;
    }
    for (std::size_t j = 0; lanes < 8 && j < 64; ++j)
      bits |= std::uint64_t{symbols[i + j] == symbol} << j;
    mask[i / 64] = bits;
  }
  if (i < n) mask[i / 64] = 0;
  for (; i < n; ++i) mask[i / 64] |= std::uint64_t{symbols[i] == symbol} << (i % 64);
}

constexpr std::size_t kMostWords = 64;

/// long_runs[i] &= long_runs shifted down by `length`: from ones that begin `length` ones to those
/// that begin twice as many. Returns whether there is any.
HWY_ATTR bool double_length(std::uint64_t* long_runs, std::size_t length) {
  const std::size_t skip = length / 64, shift = length % 64;
  std::uint64_t any = 0;
  for (std::size_t i = 0; i < kMostWords; ++i) {
    const std::uint64_t low = long_runs[i + skip];
    const std::uint64_t next = long_runs[i + skip + 1];
    long_runs[i] &= shift == 0 ? low : low >> shift | next << (64 - shift);
    any |= long_runs[i];
  }
  return any != 0;
}

// Without a branch for each run: where do runs of at least 1, 2, 4, ... ones begin?
HWY_ATTR void CountRuns(const std::uint64_t* mask, std::size_t words, std::uint32_t* classes) {
  std::uint64_t starts[kMostWords], long_runs[2 * kMostWords + 1] = {}, last = 0;
  for (std::size_t i = 0; i < words; ++i) {
    starts[i] = mask[i] & ~(mask[i] << 1 | last >> 63);
    long_runs[i] = last = mask[i];
  }
  std::uint32_t shorter = 0;  // runs of this class and longer ones
  for (std::size_t i = 0; i < words; ++i)
    shorter += static_cast<std::uint32_t>(std::popcount(starts[i]));
  for (std::size_t c = 0; shorter > 0; ++c) {
    std::uint32_t longer = 0;
    if (double_length(long_runs, std::size_t{1} << c))
      for (std::size_t i = 0; i < words; ++i)
        longer += static_cast<std::uint32_t>(std::popcount(starts[i] & long_runs[i]));
    classes[c] += shorter - longer;
    shorter = longer;
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(EqualMask);
HWY_EXPORT(CountRuns);

void equal_mask(const std::uint16_t* symbols, std::size_t n, std::uint16_t symbol,
                std::uint64_t* mask) {
  HWY_DYNAMIC_DISPATCH(EqualMask)(symbols, n, symbol, mask);
}

void count_runs(const std::uint64_t* mask, std::size_t words, std::uint32_t* classes) {
  HWY_DYNAMIC_DISPATCH(CountRuns)(mask, words, classes);
}

void count_symbols(const std::uint16_t* symbols, std::size_t n, std::size_t alphabet,
                   std::uint32_t* tables) {
  std::uint32_t *a = tables, *b = a + alphabet, *c = b + alphabet, *d = c + alphabet;
  std::size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    std::uint64_t four;
    std::memcpy(&four, symbols + i, 8);
    ++a[four & 0xFFFF];
    ++b[four >> 16 & 0xFFFF];
    ++c[four >> 32 & 0xFFFF];
    ++d[four >> 48];
  }
  for (; i < n; ++i) ++a[symbols[i]];
}

}  // namespace gradwire::compressors::kernels
#endif
