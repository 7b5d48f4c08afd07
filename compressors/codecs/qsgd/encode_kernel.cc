#include "compressors/codecs/qsgd/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "compressors/codecs/qsgd/encode_kernel.cc"
#include <hwy/foreach_target.h>  // compiles this file once for each instruction set
#include "compressors/kernels/levels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

#if HWY_TARGET != HWY_SCALAR
/// |value| in levels, times 2^24.
HWY_INLINE LevelVector scaled_magnitude(LevelVector value, const NormGrid& grid) {
  const LevelTag d;
  return hn::Min(hn::Mul(hn::Abs(value), hn::Set(d, grid.scale)), hn::Set(d, grid.top * 0x1p24f));
}
#endif

/// Several buckets, each a multiple of kWordUnit (or one bucket), so that Philox's batches run on.
struct NormEncoder {
  const float* values;
  const NormGrid* grids;
  std::size_t bucket;
  int bits;
  std::uint8_t* codes;
  std::size_t ahead;  ///< elements to what the caller will read next
  std::size_t bucket_end = bucket;

  HWY_INLINE const NormGrid& grid_at(std::size_t i) {
    if (i >= bucket_end) {
      ++grids;
      bucket_end += bucket;
    }
    return *grids;
  }

#if HWY_TARGET != HWY_SCALAR
  // Draws leave memory idle: the next norms' values come meanwhile. Harmless beyond the end.
  HWY_INLINE void fetch_next(std::size_t i) const {
    for (std::size_t line = 0; line < kWordUnit; line += 16)
      __builtin_prefetch(values + i + ahead + line);
  }

#if HWY_TARGET <= HWY_AVX3_DL
  // Signs join the levels as bytes, 64 at a time.
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    const LevelTag d;
    const NormGrid& grid = grid_at(i);
    WordUnit levels, signs;
    fetch_next(i);
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const auto value = load_floats(values + i + v * kLevelLanes);
      levels.vector[v] = level_in_top_byte(scaled_magnitude(value, grid), words.vector[v]);
      signs.vector[v] = hn::BitCast(WordTag(), value);
    }
    const auto level =
        join_bytes<3>(levels.vector[0], levels.vector[1], levels.vector[2], levels.vector[3]);
    const auto sign =
        join_bytes<3>(signs.vector[0], signs.vector[1], signs.vector[2], signs.vector[3]);
    const __mmask64 negative = _mm512_movepi8_mask(sign.raw);
    const __mmask64 signed_codes = _mm512_mask_test_epi8_mask(negative, level.raw, level.raw);
    const __m512i sign_bit = _mm512_set1_epi8(static_cast<char>(1 << (bits - 1)));
    _mm512_storeu_si512(codes + i,
                        _mm512_mask_add_epi8(level.raw, signed_codes, level.raw, sign_bit));
  }
#elif HWY_TARGET == HWY_AVX2
  // The same, 32 at a time.
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    const NormGrid& grid = grid_at(i);
    fetch_next(i);
    const __m256i sign_bit = _mm256_set1_epi8(static_cast<char>(1 << (bits - 1)));
#pragma GCC unroll 2
    for (std::size_t first = 0; first < kWordVectors; first += 4) {
      LevelVector value[4];
      LevelWords level[4];
      const std::size_t at = i + first * kLevelLanes;
#pragma GCC unroll 4
      for (std::size_t v = 0; v < 4; ++v) {
        value[v] = load_floats(values + at + v * kLevelLanes);
        level[v] =
            small_level_in_top_byte(scaled_magnitude(value[v], grid), words.vector[first + v]);
      }
      const __m256i levels = join_bytes<3>(level[0], level[1], level[2], level[3]).raw;
      const __m256i negative = _mm256_and_si256(signs_as_bytes(value), sign_bit);
      const __m256i none = _mm256_cmpeq_epi8(levels, _mm256_setzero_si256());
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes + at),
                          _mm256_or_si256(levels, _mm256_andnot_si256(none, negative)));
    }
  }
#else
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) {
    const LevelTag d;
    const LevelWordTag dw;
    const NormGrid& grid = grid_at(i);
    fetch_next(i);
    WordUnit out;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const auto value = load_floats(values + i + v * kLevelLanes);
      const auto level = level_in_top_byte(scaled_magnitude(value, grid), words.vector[v]);
      const auto sign = hn::And(hn::BitCast(dw, value), hn::Set(dw, 0x80000000u));
      const auto sign_bit = hn::ShiftRightSame(sign, 8 - bits);
      const auto is_zero = hn::Eq(hn::ShiftRight<24>(level), hn::Zero(dw));
      out.vector[v] = hn::Or(level, hn::IfThenZeroElse(is_zero, sign_bit));
    }
    store_unit_codes<3>(out, codes + i);
  }
#endif
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) {
    const NormGrid& grid = grid_at(i);
    for (std::size_t j = 0; j < count; ++j) {
      const std::uint32_t code = norm_code(values[i + j], grid, words[j] >> 8, bits);
      codes[i + j] = static_cast<std::uint8_t>(code);
    }
  }
};

struct SignedEncoder {
  const float* values;
  NormGrid grid;
  std::int32_t* levels;

#if HWY_TARGET != HWY_SCALAR
  HWY_INLINE void unit(std::size_t i, const WordUnit& words) const {
    const LevelTag d;
    const LevelIntTag di;
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const std::size_t at = i + v * kLevelLanes;
      const auto value = load_floats(values + at);
      const auto scaled = scaled_magnitude(value, grid);
      const auto level = truncated(hn::Mul(scaled, hn::Set(d, 0x1p-24f)));
      const auto rest = hn::Sub(scaled, hn::Mul(hn::ConvertTo(d, level), hn::Set(d, 0x1p24f)));
      const auto draw = hn::ConvertTo(d, hn::BitCast(di, hn::ShiftRight<8>(words.vector[v])));
      const auto up = hn::VecFromMask(di, hn::RebindMask(di, hn::Lt(draw, rest)));
      const auto sign = hn::ShiftRight<31>(hn::BitCast(di, value));
      hn::StoreU(hn::Sub(hn::Xor(hn::Sub(level, up), sign), sign), di, levels + at);
    }
  }
#endif
  HWY_INLINE void tail(std::size_t i, std::size_t count, const std::uint32_t* words) const {
    for (std::size_t j = 0; j < count; ++j)
      levels[i + j] = signed_norm_level(values[i + j], grid, words[j] >> 8);
  }
};

HWY_ATTR void NormCodes(const float* values, std::size_t n, const NormGrid* grids,
                        std::size_t bucket, int bits, const Draws& draws, std::size_t begin,
                        std::uint8_t* codes) {
  bool together = bucket % kWordUnit == 0;
  for (std::size_t b = 0; b * bucket < n; ++b) together = together && !grids[b].wide;
  const std::size_t part = together ? n : bucket;
  for (std::size_t at = 0; at < n; at += part) {
    const NormGrid* grid = grids + at / bucket;
    encode_drawn(NormEncoder{values + at, grid, bucket, bits, codes + at, n}, grid->wide, draws,
                 begin + at, std::min(part, n - at));
  }
}

HWY_ATTR void SignedNormLevels(const float* values, std::size_t n, const NormGrid& grid,
                               const Draws& draws, std::size_t begin, std::int32_t* levels) {
  encode_drawn(SignedEncoder{values, grid, levels}, grid.wide, draws, begin, n);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace gradwire::compressors::kernels {

HWY_EXPORT(NormCodes);
HWY_EXPORT(SignedNormLevels);

void norm_codes(const float* values, std::size_t n, const NormGrid* grids, std::size_t bucket,
                int bits, const Draws& draws, std::size_t begin, std::uint8_t* codes) {
  HWY_DYNAMIC_DISPATCH(NormCodes)(values, n, grids, bucket, bits, draws, begin, codes);
}
void signed_norm_levels(const float* values, std::size_t n, const NormGrid& grid,
                        const Draws& draws, std::size_t begin, std::int32_t* levels) {
  HWY_DYNAMIC_DISPATCH(SignedNormLevels)(values, n, grid, draws, begin, levels);
}

}  // namespace gradwire::compressors::kernels
#endif
