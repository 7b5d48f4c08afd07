#include "compressors/kernels/levels.h"

#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/levels_pack.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/levels_pack-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

HWY_ATTR void Pack(const std::uint8_t* codes, std::size_t n, int bits, BitOrder order,
                   std::byte* packed) {
  if (bits == 8) {
    if (n > 0) std::memcpy(packed, codes, n);
    return;
  }
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const GroupCoder coder(bits, order);
  for (; i + kStep + kSpare <= n; i += kStep)
    coder.pack(codes + i, packed + i / 8 * static_cast<std::size_t>(bits));
#endif
  pack_rest(codes + i, n - i, bits, order, packed + i / 8 * static_cast<std::size_t>(bits));
}

HWY_ATTR void Unpack(const std::byte* packed, std::size_t n, int bits, BitOrder order,
                     std::uint8_t* codes) {
  if (bits == 8) {
    if (n > 0) std::memcpy(codes, packed, n);
    return;
  }
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const GroupCoder coder(bits, order);
  for (; i + kStep + kSpare <= n; i += kStep)
    coder.unpack(packed + i / 8 * static_cast<std::size_t>(bits), codes + i);
#endif
  unpack_rest(packed + i / 8 * static_cast<std::size_t>(bits), n - i, bits, order, codes + i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(Pack);
HWY_EXPORT(Unpack);

void pack_codes(const std::uint8_t* codes, std::size_t n, int bits, BitOrder order,
                std::byte* packed) {
  HWY_DYNAMIC_DISPATCH(Pack)(codes, n, bits, order, packed);
}
void unpack_codes(const std::byte* packed, std::size_t n, int bits, BitOrder order,
                  std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(Unpack)(packed, n, bits, order, codes);
}

}  // namespace gradwire::compressors::kernels
#endif
