#include "compressors/kernels/planes.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/planes.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names
namespace hn = hwy::HWY_NAMESPACE;

using ByteTag = hn::CappedTag<std::uint8_t, 64>;
inline constexpr std::size_t kBytes = hn::MaxLanes(ByteTag());

HWY_ATTR void SplitPlanes(const std::uint8_t* codes, std::size_t n, int bits, std::size_t stride,
                          std::byte* planes) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const ByteTag d;
  for (; i + kBytes <= n; i += kBytes) {
    const auto code = hn::LoadU(d, codes + i);
    for (int p = 0; p < bits; ++p) {
      const auto bit = hn::Set(d, static_cast<std::uint8_t>(1u << p));
      std::uint8_t mask[8];
      hn::StoreMaskBits(d, hn::Eq(hn::And(code, bit), bit), mask);
      std::memcpy(planes + static_cast<std::size_t>(p) * stride + i / 8, mask, kBytes / 8);
    }
  }
#endif
  for (; i < n; ++i)
    for (int p = 0; p < bits; ++p) {
      std::byte& byte = planes[static_cast<std::size_t>(p) * stride + i / 8];
      if (i % 8 == 0) byte = std::byte{0};
      byte |= static_cast<std::byte>((codes[i] >> p & 1) << (i % 8));
    }
}

HWY_ATTR void JoinPlanes(const std::byte* planes, std::size_t n, int bits, std::size_t stride,
                         std::uint8_t* codes) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const ByteTag d;
  for (; i + kBytes <= n; i += kBytes) {
    auto code = hn::Zero(d);
    for (int p = 0; p < bits; ++p) {
      std::uint8_t mask[8] = {};
      std::memcpy(mask, planes + static_cast<std::size_t>(p) * stride + i / 8, kBytes / 8);
      const auto bit = hn::Set(d, static_cast<std::uint8_t>(1u << p));
      code = hn::Or(code, hn::IfThenElseZero(hn::LoadMaskBits(d, mask), bit));
    }
    hn::StoreU(code, d, codes + i);
  }
#endif
  for (; i < n; ++i) {
    unsigned code = 0;
    for (int p = 0; p < bits; ++p)
      code |=
          (static_cast<unsigned>(planes[static_cast<std::size_t>(p) * stride + i / 8]) >> (i % 8) &
           1u)
          << p;
    codes[i] = static_cast<std::uint8_t>(code);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(SplitPlanes);
HWY_EXPORT(JoinPlanes);

void split_planes(const std::uint8_t* codes, std::size_t n, int bits, std::size_t stride,
                  std::byte* planes) {
  HWY_DYNAMIC_DISPATCH(SplitPlanes)(codes, n, bits, stride, planes);
}
void join_planes(const std::byte* planes, std::size_t n, int bits, std::size_t stride,
                 std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(JoinPlanes)(planes, n, bits, stride, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
