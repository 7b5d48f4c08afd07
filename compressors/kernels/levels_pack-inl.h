// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_LEVELS_PACK_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_LEVELS_PACK_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_LEVELS_PACK_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_LEVELS_PACK_INL_H_
#endif

#include <hwy/highway.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compressors/kernels/levels.h"

/// Codes of b bits between bytes, registers and their packed form.
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

/// Whole groups, eight bytes an access while the buffer has them, then the last few codes.
HWY_INLINE void pack_rest(const std::uint8_t* codes, std::size_t n, int bits, BitOrder order,
                          std::byte* packed) {
  const std::size_t bytes = static_cast<std::size_t>(bits);
  for (; n >= 64; n -= 8, codes += 8, packed += bytes) {
    std::uint64_t group;
    std::memcpy(&group, codes, 8);
    group = pack_group(group, bits, order);
    std::memcpy(packed, &group, 8);
  }
  for (; n > 0; codes += 8, packed += bytes) {
    const std::size_t count = n < 8 ? n : 8;
    std::uint64_t group = 0;
    for (std::size_t i = 0; i < count; ++i) group |= std::uint64_t{codes[i]} << (8 * i);
    group = pack_group(group, bits, order);
    const std::size_t used = (count * bytes + 7) / 8;
    for (std::size_t i = 0; i < used; ++i) packed[i] = static_cast<std::byte>(group >> (8 * i));
    n -= count;
  }
}

HWY_INLINE void unpack_rest(const std::byte* packed, std::size_t n, int bits, BitOrder order,
                            std::uint8_t* codes) {
  const std::size_t bytes = static_cast<std::size_t>(bits);
  for (; n > 0 && (n * bytes + 7) / 8 >= 8 && n >= 8; n -= 8, codes += 8, packed += bytes) {
    std::uint64_t group;
    std::memcpy(&group, packed, 8);
    if (order == BitOrder::kLowFirst && bits < 8) group &= (std::uint64_t{1} << (8 * bits)) - 1;
    group = unpack_group(group, bits, order);
    std::memcpy(codes, &group, 8);
  }
  for (; n > 0; codes += 8, packed += bytes) {
    const std::size_t count = n < 8 ? n : 8, used = (count * bytes + 7) / 8;
    std::uint64_t group = 0;
    for (std::size_t i = 0; i < used; ++i)
      group |= std::to_integer<std::uint64_t>(packed[i]) << (8 * i);
    group = unpack_group(group, bits, order);
    for (std::size_t i = 0; i < count; ++i) codes[i] = static_cast<std::uint8_t>(group >> (8 * i));
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
/// Where bytes of packed groups go: index[bits][order], for both directions.
struct ByteMoves {
  alignas(64) std::uint8_t pack[9][2][64] = {};
  alignas(64) std::uint8_t unpack[9][2][64] = {};
  alignas(64) std::uint8_t shift[9][2][64] = {};  ///< of each code in its unpacked group
};

constexpr ByteMoves make_byte_moves() {
  ByteMoves moves;
  for (unsigned bits = 1; bits <= 8; ++bits)
    for (unsigned group = 0; group < 8; ++group)
      for (unsigned byte = 0; byte < 8; ++byte) {
        const unsigned at = 8 * group + byte, packed = bits * group + byte;
        const unsigned reversed = 8 * group + bits - 1 - byte;  // high first: value's top byte
        if (byte < bits) {
          moves.pack[bits][0][packed] = static_cast<std::uint8_t>(at);
          moves.pack[bits][1][packed] = static_cast<std::uint8_t>(reversed);
          moves.unpack[bits][0][at] = static_cast<std::uint8_t>(packed);
          moves.unpack[bits][1][reversed] = static_cast<std::uint8_t>(packed);
        }
        moves.shift[bits][0][at] = static_cast<std::uint8_t>(bits * byte);
        moves.shift[bits][1][at] = static_cast<std::uint8_t>(bits * (7 - byte));
      }
  return moves;
}
inline constexpr ByteMoves kByteMoves = make_byte_moves();

/// 64 codes at a time: products push neighbours together, one permutation moves bytes.
struct GroupCoder {
  __m512i pack_index, unpack_index, shifts, mask, byte_weights, pair_weights;
  __m128i first_shift, second_shift;
  __mmask64 packed;

  GroupCoder(int bits, BitOrder order) {
    const int o = order == BitOrder::kHighFirst ? 1 : 0;
    pack_index = _mm512_load_si512(kByteMoves.pack[bits][o]);
    unpack_index = _mm512_load_si512(kByteMoves.unpack[bits][o]);
    shifts = _mm512_load_si512(kByteMoves.shift[bits][o]);
    mask = _mm512_set1_epi8(static_cast<char>((1 << bits) - 1));
    const int wide = 1 << bits, wider = 1 << (2 * bits);
    byte_weights = _mm512_set1_epi16(static_cast<short>(o == 0 ? wide << 8 | 1 : 1 << 8 | wide));
    pair_weights = _mm512_set1_epi32(o == 0 ? wider << 16 | 1 : 1 << 16 | wider);
    first_shift = _mm_cvtsi32_si128(o == 0 ? 0 : 4 * bits);
    second_shift = _mm_cvtsi32_si128(o == 0 ? 4 * bits : 0);
    packed = bits == 8 ? ~__mmask64{0} : (__mmask64{1} << (8 * bits)) - 1;
  }
  HWY_INLINE void pack(const std::uint8_t* codes, std::byte* out) const {
    pack(_mm512_loadu_si512(codes), out);
  }
  HWY_INLINE void pack(__m512i codes, std::byte* out) const {  // fewer than 8 bits
    const __m512i pairs = _mm512_maddubs_epi16(byte_weights, codes);
    const __m512i fours = _mm512_madd_epi16(pairs, pair_weights);
    const __m512i first = _mm512_maskz_mov_epi32(0x5555, fours);
    const __m512i second = _mm512_srli_epi64(fours, 32);
    const __m512i group = _mm512_or_si512(_mm512_sll_epi64(first, first_shift),
                                          _mm512_sll_epi64(second, second_shift));
    _mm512_mask_storeu_epi8(out, packed, _mm512_permutexvar_epi8(pack_index, group));
  }
  HWY_INLINE __m512i load(const std::byte* in) const {
    const __m512i bytes = _mm512_maskz_loadu_epi8(packed, in);
    const __m512i group = _mm512_permutexvar_epi8(unpack_index, bytes);
    return _mm512_and_si512(_mm512_multishift_epi64_epi8(shifts, group), mask);
  }
  HWY_INLINE void unpack(const std::byte* in, std::uint8_t* codes) const {
    _mm512_storeu_si512(codes, load(in));
  }
};
inline constexpr std::size_t kSpare = 0;
#else
/// One vector of codes at a time; touches up to 8 bytes beyond its packed groups.
struct GroupCoder {
  VectorPacker packer;
  std::size_t bytes;
  bool nibbles;

  GroupCoder(int bits, BitOrder order)
      : packer{bits, order == BitOrder::kHighFirst},
        bytes(static_cast<std::size_t>(bits)),
        nibbles(bits == 4) {}

  HWY_INLINE void pack(const std::uint8_t* codes, std::byte* out) const {
    const hn::Repartition<std::uint8_t, GroupTag> d8;
    auto x = hn::BitCast(GroupTag(), hn::LoadU(d8, codes));
#if HWY_TARGET == HWY_AVX2
    if (nibbles) return pack_nibbles(x.raw, out);
    x = packer.reverse ? packer.pack(x) : pack_low_first(x);
#else
    x = packer.pack(x);
#endif
    alignas(64) std::uint64_t lane[kGroups];
    hn::Store(x, GroupTag(), lane);
    for (std::size_t g = 0; g < kGroups; ++g) std::memcpy(out + g * bytes, &lane[g], 8);
  }
  HWY_INLINE void unpack(const std::byte* in, std::uint8_t* codes) const {
    if constexpr (kStep >= kNibbles) {
      if (nibbles) return unpack_nibbles(in, codes);
    }
    const hn::Repartition<std::uint8_t, GroupTag> d8;
    hn::StoreU(hn::BitCast(d8, packer.unpack(load_groups(in))), d8, codes);
  }

#if HWY_TARGET == HWY_AVX2
  /// 32 codes of 4 bits, 16 bytes exactly.
  HWY_INLINE void pack_nibbles(__m256i codes, std::byte* out) const {
    const __m256i weights = _mm256_set1_epi16(packer.reverse ? 0x0110 : 0x1001);
    const __m256i pairs = _mm256_maddubs_epi16(weights, codes);
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packus_epi16(pairs, pairs), 0x08);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm256_castsi256_si128(bytes));
  }
#endif

 private:
#if HWY_TARGET == HWY_AVX2
  /// Products push neighbours together.
  HWY_INLINE GroupVector pack_low_first(GroupVector x) const {
    const int bits = packer.bits;
    const __m256i byte_weights = _mm256_set1_epi16(static_cast<short>(1 << bits << 8 | 1));
    const __m256i pair_weights = _mm256_set1_epi32(1 << (2 * bits) << 16 | 1);
    const GroupVector fours{
        _mm256_madd_epi16(_mm256_maddubs_epi16(byte_weights, x.raw), pair_weights)};
    return VectorPacker::fold(fours, kEvenFours, 32 - 4 * bits);
  }
#endif
  HWY_INLINE GroupVector load_groups(const std::byte* in) const {
    const auto group = [&](std::size_t g) HWY_ATTR {
      std::uint64_t lane;
      std::memcpy(&lane, in + g * bytes, 8);
      return lane;
    };
#if HWY_TARGET == HWY_AVX2
    return GroupVector{
        _mm256_setr_epi64x(static_cast<long long>(group(0)), static_cast<long long>(group(1)),
                           static_cast<long long>(group(2)), static_cast<long long>(group(3)))};
#else
    std::uint64_t lane[kGroups];
    for (std::size_t g = 0; g < kGroups; ++g) lane[g] = group(g);
    return hn::LoadU(GroupTag(), lane);
#endif
  }
  /// Codes of 4 bits are unpacked 32 at a time, where a vector has as many.
  static constexpr std::size_t kNibbles = 32;
  /// Two codes a byte, 16 bytes at a time.
  HWY_INLINE void unpack_nibbles(const std::byte* in, std::uint8_t* codes) const {
    packer.reverse ? unpack_nibbles<true>(in, codes) : unpack_nibbles<false>(in, codes);
  }
  template <bool kReverse>
  static HWY_INLINE void unpack_nibbles(const std::byte* in, std::uint8_t* codes) {
    const hn::CappedTag<std::uint8_t, 16> d;
    const hn::Repartition<std::uint16_t, decltype(d)> d16;
    const auto mask = hn::Set(d, 15);
    for (std::size_t i = 0; i < kStep; i += kNibbles) {
      const auto x = hn::LoadU(d, reinterpret_cast<const std::uint8_t*>(in + i / 2));
      const auto low = hn::And(x, mask);
      const auto high = hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(d16, x))), mask);
      const auto& first = kReverse ? high : low;
      const auto& second = kReverse ? low : high;
      hn::StoreU(hn::InterleaveLower(d, first, second), d, codes + i);
      hn::StoreU(hn::InterleaveUpper(d, first, second), d, codes + i + 16);
    }
  }
};
/// Codes that must follow a vector of them, so that its spare bytes are theirs.
inline constexpr std::size_t kSpare = 64;
#endif
#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_LEVELS_PACK_INL_H_
