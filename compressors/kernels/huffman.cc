#include "compressors/kernels/huffman.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/huffman.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
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

}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(EqualMask);

void equal_mask(const std::uint16_t* symbols, std::size_t n, std::uint16_t symbol,
                std::uint64_t* mask) {
  HWY_DYNAMIC_DISPATCH(EqualMask)(symbols, n, symbol, mask);
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
