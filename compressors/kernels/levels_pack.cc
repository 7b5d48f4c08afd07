#include <cstring>

#include "compressors/kernels/levels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/kernels/levels_pack.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names
namespace hn = hwy::HWY_NAMESPACE;

// Eight codes of b bits are one group: eight bytes unpacked, b bytes packed. In a 64-bit lane,
// neighbours are pushed together in three steps: bytes, then 16-bit, then 32-bit halves.
inline constexpr std::uint64_t kEvenBytes = 0x00FF00FF00FF00FFull;
inline constexpr std::uint64_t kEvenPairs = 0x0000FFFF0000FFFFull;
inline constexpr std::uint64_t kEvenFours = 0x00000000FFFFFFFFull;

HWY_INLINE std::uint64_t pack_group(std::uint64_t x, int bits, BitOrder order) {
  if (order == BitOrder::kHighFirst) x = __builtin_bswap64(x);
  x = (x & kEvenBytes) | ((x & ~kEvenBytes) >> (8 - bits));
  x = (x & kEvenPairs) | ((x & ~kEvenPairs) >> (16 - 2 * bits));
  x = (x & kEvenFours) | ((x & ~kEvenFours) >> (32 - 4 * bits));
  return order == BitOrder::kHighFirst ? __builtin_bswap64(x << (64 - 8 * bits)) : x;
}

HWY_INLINE std::uint64_t unpack_group(std::uint64_t x, int bits, BitOrder order) {
  if (order == BitOrder::kHighFirst) x = __builtin_bswap64(x) >> (64 - 8 * bits);
  const std::uint64_t low32 = (std::uint64_t{1} << (4 * bits)) - 1;
  x = (x & low32) | ((x << (32 - 4 * bits)) & ~kEvenFours);
  const std::uint64_t low16 = ((std::uint64_t{1} << (2 * bits)) - 1) * 0x0000000100000001ull;
  x = (x & low16) | ((x << (16 - 2 * bits)) & (low16 << 16));
  const std::uint64_t low8 = ((std::uint64_t{1} << bits) - 1) * 0x0001000100010001ull;
  x = (x & low8) | ((x << (8 - bits)) & (low8 << 8));
  return order == BitOrder::kHighFirst ? __builtin_bswap64(x) : x;
}

/// Whole groups, then the last few codes.
HWY_INLINE void pack_rest(const std::uint8_t* codes, std::size_t n, int bits, BitOrder order,
                          std::byte* packed) {
  const std::size_t bytes = static_cast<std::size_t>(bits);
  for (; n > 0; codes += 8, packed += bytes) {
    const std::size_t count = n < 8 ? n : 8;
    std::uint64_t group = 0;
    std::memcpy(&group, codes, count);
    group = pack_group(group, bits, order);
    std::memcpy(packed, &group, (count * bytes + 7) / 8);
    n -= count;
  }
}

HWY_INLINE void unpack_rest(const std::byte* packed, std::size_t n, int bits, BitOrder order,
                            std::uint8_t* codes) {
  const std::size_t bytes = static_cast<std::size_t>(bits);
  for (; n > 0; codes += 8, packed += bytes) {
    const std::size_t count = n < 8 ? n : 8;
    std::uint64_t group = 0;
    std::memcpy(&group, packed, (count * bytes + 7) / 8);
    group = unpack_group(group, bits, order);
    std::memcpy(codes, &group, count);
    n -= count;
  }
}

#if HWY_TARGET != HWY_SCALAR
using GroupTag = hn::CappedTag<std::uint64_t, 8>;
using GroupVector = hn::Vec<GroupTag>;
inline constexpr std::size_t kGroups = hn::MaxLanes(GroupTag());
inline constexpr std::size_t kStep = 8 * kGroups;  ///< codes a vector

HWY_INLINE GroupVector reverse_groups(GroupVector x) {
  alignas(16) static constexpr std::uint8_t kReverse[16] = {7,  6,  5,  4,  3,  2,  1, 0,
                                                            15, 14, 13, 12, 11, 10, 9, 8};
  const hn::Repartition<std::uint8_t, GroupTag> bytes;
  return hn::BitCast(GroupTag(),
                     hn::TableLookupBytes(hn::BitCast(bytes, x), hn::LoadDup128(bytes, kReverse)));
}

struct VectorPacker {
  int bits;
  bool reverse;

  static HWY_INLINE GroupVector fold(GroupVector x, std::uint64_t even, int shift) {
    const auto mask = hn::Set(GroupTag(), even);
    return hn::Or(hn::And(x, mask), hn::ShiftRightSame(hn::AndNot(mask, x), shift));
  }
  HWY_INLINE GroupVector pack(GroupVector x) const {
    if (reverse) x = reverse_groups(x);
    x = fold(x, kEvenBytes, 8 - bits);
    x = fold(x, kEvenPairs, 16 - 2 * bits);
    x = fold(x, kEvenFours, 32 - 4 * bits);
    return reverse ? reverse_groups(hn::ShiftLeftSame(x, 64 - 8 * bits)) : x;
  }
  static HWY_INLINE GroupVector spread(GroupVector x, std::uint64_t low, int width, int shift) {
    const GroupTag d;
    return hn::Or(hn::And(x, hn::Set(d, low)),
                  hn::And(hn::ShiftLeftSame(x, shift), hn::Set(d, low << width)));
  }
  HWY_INLINE GroupVector unpack(GroupVector x) const {
    if (reverse) x = hn::ShiftRightSame(reverse_groups(x), 64 - 8 * bits);
    x = spread(x, (std::uint64_t{1} << (4 * bits)) - 1, 32, 32 - 4 * bits);
    x = spread(x, ((std::uint64_t{1} << (2 * bits)) - 1) * 0x0000000100000001ull, 16,
               16 - 2 * bits);
    x = spread(x, ((std::uint64_t{1} << bits) - 1) * 0x0001000100010001ull, 8, 8 - bits);
    return reverse ? reverse_groups(x) : x;
  }
};

#if HWY_TARGET <= HWY_AVX3_DL
/// Moves groups of b bytes together (or apart) with one permutation of bytes.
struct GroupMover {
  __m512i pack_index, unpack_index;
  __mmask64 packed_bytes;

  explicit GroupMover(std::size_t bits) {
    alignas(64) std::uint8_t packing[64] = {}, unpacking[64] = {};
    for (std::size_t group = 0; group < 8; ++group)
      for (std::size_t byte = 0; byte < bits; ++byte) {
        packing[group * bits + byte] = static_cast<std::uint8_t>(8 * group + byte);
        unpacking[8 * group + byte] = static_cast<std::uint8_t>(group * bits + byte);
      }
    pack_index = _mm512_load_si512(packing);
    unpack_index = _mm512_load_si512(unpacking);
    packed_bytes = bits == 8 ? ~__mmask64{0} : (__mmask64{1} << (8 * bits)) - 1;
  }
  HWY_INLINE void store(GroupVector x, std::byte* packed) const {
    _mm512_mask_storeu_epi8(packed, packed_bytes, _mm512_permutexvar_epi8(pack_index, x.raw));
  }
  HWY_INLINE GroupVector load(const std::byte* packed) const {
    return GroupVector{
        _mm512_permutexvar_epi8(unpack_index, _mm512_maskz_loadu_epi8(packed_bytes, packed))};
  }
};
#else
struct GroupMover {
  std::size_t bytes;
  explicit GroupMover(std::size_t bits) : bytes(bits) {}
  HWY_INLINE void store(GroupVector x, std::byte* packed) const {
    std::uint64_t lane[kGroups];
    hn::StoreU(x, GroupTag(), lane);
    std::byte out[kStep + 8];
    for (std::size_t g = 0; g < kGroups; ++g) std::memcpy(out + g * bytes, &lane[g], 8);
    std::memcpy(packed, out, kGroups * bytes);
  }
  HWY_INLINE GroupVector load(const std::byte* packed) const {
    std::byte in[kStep + 8];
    std::memcpy(in, packed, kGroups * bytes);
    std::uint64_t lane[kGroups];
    for (std::size_t g = 0; g < kGroups; ++g) std::memcpy(&lane[g], in + g * bytes, 8);
    return hn::LoadU(GroupTag(), lane);
  }
};
#endif
#endif

HWY_ATTR void Pack(const std::uint8_t* codes, std::size_t n, int bits, BitOrder order,
                   std::byte* packed) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::uint8_t, GroupTag> bytes;
  const VectorPacker packer{bits, order == BitOrder::kHighFirst};
  const GroupMover mover(static_cast<std::size_t>(bits));
  for (; i + kStep <= n; i += kStep) {
    const auto x = hn::BitCast(GroupTag(), hn::LoadU(bytes, codes + i));
    mover.store(packer.pack(x), packed + i / 8 * static_cast<std::size_t>(bits));
  }
#endif
  pack_rest(codes + i, n - i, bits, order, packed + i / 8 * static_cast<std::size_t>(bits));
}

HWY_ATTR void Unpack(const std::byte* packed, std::size_t n, int bits, BitOrder order,
                     std::uint8_t* codes) {
  std::size_t i = 0;
#if HWY_TARGET != HWY_SCALAR
  const hn::Repartition<std::uint8_t, GroupTag> bytes;
  const VectorPacker packer{bits, order == BitOrder::kHighFirst};
  const GroupMover mover(static_cast<std::size_t>(bits));
  for (; i + kStep <= n; i += kStep) {
    const auto x = packer.unpack(mover.load(packed + i / 8 * static_cast<std::size_t>(bits)));
    hn::StoreU(hn::BitCast(bytes, x), bytes, codes + i);
  }
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
