// Included once for each instruction set, by kernels that foreach_target.h compiles.
#if defined(GRADWIRE_COMPRESSORS_KERNELS_EMIT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRADWIRE_COMPRESSORS_KERNELS_EMIT_INL_H_
#undef GRADWIRE_COMPRESSORS_KERNELS_EMIT_INL_H_
#else
#define GRADWIRE_COMPRESSORS_KERNELS_EMIT_INL_H_
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "compressors/kernels/unit_reader-inl.h"

/// From packed codes to values in memory. A decoder is
///
///   struct Decode {
///     static constexpr CodeForm kForm;   // how value() takes codes
///     static constexpr bool kScaled;     // whether values have the factor of kAdd in them
///     LevelVector value(const LevelWords& codes, std::size_t i) const;  // i and the following
///     float scalar(std::uint32_t code, std::size_t i) const;            // a clean code
///   };
///
/// and may note something of its codes, of which emit() returns the largest:
///
///     LevelWords noted(const LevelWords& codes) const;
///     std::uint32_t noted(std::uint32_t code) const;  // a clean code
HWY_BEFORE_NAMESPACE();
namespace gradwire::compressors::kernels {
namespace HWY_NAMESPACE {
namespace {  // other kernels may use the same names

template <class Decode>
inline constexpr bool kNotes = requires(const Decode& decode) {
  decode.noted(std::uint32_t{});
};

/// The largest that was noted, in each lane.
struct Notes {
  LevelWords largest;

  template <class Decode>
  HWY_INLINE void take(const Decode& decode, const LevelWords& code) {
    if constexpr (kNotes<Decode>) largest = hn::Max(largest, decode.noted(code));
  }
#if HWY_TARGET != HWY_SCALAR
  /// In pairs: a chain through all vectors would set the loop's pace.
  template <class Decode>
  HWY_INLINE void take(const Decode& decode, const WordUnit& unit) {
    if constexpr (kNotes<Decode>) {
      LevelWords best[kWordVectors];
#pragma GCC unroll 16
      for (std::size_t v = 0; v < kWordVectors; ++v) best[v] = decode.noted(unit.vector[v]);
#pragma GCC unroll 4
      for (std::size_t half = kWordVectors / 2; half > 0; half /= 2)
#pragma GCC unroll 8
        for (std::size_t v = 0; v < half; ++v) best[v] = hn::Max(best[v], best[v + half]);
      largest = hn::Max(largest, best[0]);
    }
  }
#endif
  HWY_INLINE std::uint32_t total() const {
    return hn::GetLane(hn::MaxOfLanes(LevelWordTag(), largest));
  }
};

template <class Decode>
HWY_INLINE LevelVector scaled_by(LevelVector value, LevelVector factors) {
  return Decode::kScaled ? value : hn::Mul(factors, value);
}

/// values[0 ..] = value, or += factors value.
template <Output kOutput, class Decode>
HWY_INLINE void put_scaled(LevelVector value, LevelVector factors, float* values) {
  put<kOutput>(kOutput == Output::kAdd ? scaled_by<Decode>(value, factors) : value, values);
}

template <Output kOutput, class Decode>
HWY_INLINE void put_scalar(float value, float factor, float* to) {
  if constexpr (kOutput == Output::kAdd)
    *to += Decode::kScaled ? value : factor * value;
  else
    *to = value;
}

/// Values begin .. end - 1 from codes of `bits` bits, one a byte, codes[0] on.
template <Output kOutput, class Decode>
HWY_INLINE std::uint32_t emit_bytes(const Decode& decode, const std::uint8_t* codes, int bits,
                                    std::size_t begin, std::size_t end, float factor,
                                    float* values) {
  const LevelTag d;
  const std::size_t lanes = hn::Lanes(d);
  const auto factors = hn::Set(d, factor);
  Notes notes{hn::Zero(LevelWordTag())};
  std::size_t i = begin;
  for (; i + lanes <= end; i += lanes, codes += lanes) {
    const auto code = formed<Decode::kForm>(load_codes(codes), bits);
    notes.take(decode, code);
    put_scaled<kOutput, Decode>(decode.value(code, i), factors, values + i);
  }
  std::uint32_t largest = notes.total();
  for (; i < end; ++i, ++codes) {
    if constexpr (kNotes<Decode>)
      largest = std::max(largest, decode.noted(static_cast<std::uint32_t>(*codes)));
    put_scalar<kOutput, Decode>(decode.scalar(*codes, i), factor, values + i);
  }
  return largest;
}

#if HWY_TARGET != HWY_SCALAR
/// The whole units of n elements.
template <Output kOutput, class Decode>
HWY_INLINE std::uint32_t emit_units(const Decode& decode, const PackedCodes& packed, std::size_t n,
                                    float factor, float* values) {
  using Reader = UnitReader<Decode::kForm>;
  const Reader reader(packed.bits, packed.order);
  const auto factors = hn::Set(LevelTag(), factor);
  const std::size_t step = kWordUnit / 8 * static_cast<std::size_t>(packed.bits);
  const std::size_t readable = packed.bytes_of(n) + packed.beyond;
  Notes notes{hn::Zero(LevelWordTag())};
  for (std::size_t i = 0, at = 0; i + kWordUnit <= n; i += kWordUnit, at += step) {
    const std::byte* in = packed.bytes + at;
    __builtin_prefetch(in + 2048);  // harmless beyond the end
    std::byte last[8 * 8 + Reader::kBeyond];
    if (Reader::kBeyond > 0 && at + step + Reader::kBeyond > readable) [[unlikely]] {
      for (std::size_t byte = 0; byte < step; byte += 8) std::memcpy(last + byte, in + byte, 8);
      in = last;
    }
    // Once a line, where put() would ask with each vector.
    if constexpr (kOutput == Output::kAdd)
      for (std::size_t line = 0; line < kWordUnit; line += 16) prefetch_ahead(values + i + line);
    const WordUnit codes = reader.unit(in);
    notes.take(decode, codes);
#pragma GCC unroll 16
    for (std::size_t v = 0; v < kWordVectors; ++v) {
      const std::size_t element = i + v * kLevelLanes;
      const auto value = decode.value(codes.vector[v], element);
      if constexpr (kOutput == Output::kAdd)
        put<Output::kStore>(
            hn::Add(hn::LoadU(LevelTag(), values + element), scaled_by<Decode>(value, factors)),
            values + element);
      else
        put<kOutput>(value, values + element);
    }
  }
  return notes.total();
}
#endif

template <Output kOutput, class Decode>
HWY_INLINE std::uint32_t emit(const Decode& decode, const PackedCodes& packed, std::size_t n,
                              float factor, float* values) {
  if (packed.bits == 8)
    return emit_bytes<kOutput>(decode, reinterpret_cast<const std::uint8_t*>(packed.bytes), 8, 0, n,
                               factor, values);
  constexpr std::size_t kPart = 64;
  std::size_t i = 0;
  std::uint32_t largest = 0;
#if HWY_TARGET != HWY_SCALAR
  static_assert(kPart == kWordUnit);
  largest = emit_units<kOutput>(decode, packed, n, factor, values);
  i = n / kPart * kPart;
#endif
  while (i < n) {
    std::uint8_t codes[kPart];
    const std::size_t count = std::min(n - i, kPart);
    unpack_rest(packed.from(i).bytes, count, packed.bits, packed.order, codes);
    largest = std::max(
        largest, emit_bytes<kOutput>(decode, codes, packed.bits, i, i + count, factor, values));
    i += count;
  }
  return largest;
}

/// Values 0 .. n - 1 of packed codes.
template <class Decode>
HWY_INLINE std::uint32_t emit(const Decode& decode, const PackedCodes& packed, std::size_t n,
                              Output output, float factor, float* values) {
  const bool aligned =
      reinterpret_cast<std::uintptr_t>(values) % (4 * hn::MaxLanes(LevelTag())) == 0;
  if (output == Output::kAdd) return emit<Output::kAdd>(decode, packed, n, factor, values);
  if (output == Output::kStream && aligned)
    return emit<Output::kStream>(decode, packed, n, factor, values);
  return emit<Output::kStore>(decode, packed, n, factor, values);
}

/// The same, element by element: for what vectors do not hold.
template <class Decode>
HWY_INLINE std::uint32_t emit_scalars(const Decode& decode, const PackedCodes& packed,
                                      std::size_t n, Output output, float factor, float* values) {
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < n; i += 8) {
    std::uint8_t codes[8];
    const std::size_t count = std::min<std::size_t>(n - i, 8);
    unpack_rest(packed.from(i).bytes, count, packed.bits, packed.order, codes);
    for (std::size_t j = 0; j < count; ++j) {
      const float value = decode.scalar(codes[j], i + j);
      if constexpr (kNotes<Decode>)
        largest = std::max(largest, decode.noted(std::uint32_t{codes[j]}));
      if (output == Output::kAdd)
        put_scalar<Output::kAdd, Decode>(value, factor, values + i + j);
      else
        values[i + j] = value;
    }
  }
  return largest;
}

#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
/// Sixteen values in registers.
struct SmallTable {
  /// Reads 16 values.
  explicit HWY_INLINE SmallTable(const float* values)
      : low(hn::LoadU(LevelTag(), values)),
        high(hn::LoadU(LevelTag(), values + 16 - kLevelLanes)) {}
  /// Codes are right in their four lowest bits.
  HWY_INLINE LevelVector look(const LevelWords& code) const {
#if HWY_TARGET <= HWY_AVX3
    return LevelVector{_mm512_permutexvar_ps(code.raw, low.raw)};
#else
    const __m256 first = _mm256_permutevar8x32_ps(low.raw, code.raw);
    const __m256 second = _mm256_permutevar8x32_ps(high.raw, code.raw);
    const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(code.raw, 28));
    return LevelVector{_mm256_blendv_ps(first, second, upper)};
#endif
  }
  LevelVector low, high;
};

struct SmallTableDecode {
  static constexpr CodeForm kForm = CodeForm::kLow;
  static constexpr bool kScaled = true;
  HWY_INLINE explicit SmallTableDecode(const float* values) : table(values), all(values) {}
  HWY_INLINE LevelVector value(const LevelWords& code, std::size_t) const {
    return table.look(code);
  }
  HWY_INLINE float scalar(std::uint32_t code, std::size_t) const { return all[code]; }
  SmallTable table;
  const float* all;
};

/// Codes of up to four bits, by a table of 16 values that have the factor in them. Not inlined: one
/// loop serves all decoders.
HWY_NOINLINE HWY_ATTR void emit_small(const float* table, const PackedCodes& packed, std::size_t n,
                                      Output output, float* values) {
  emit(SmallTableDecode(table), packed, n, output, 1.0f, values);
}
#endif

/// As emit(), for decoders whose value depends on the code alone: short codes look it up.
template <class Decode>
HWY_INLINE void emit_by_code(const Decode& decode, const PackedCodes& packed, std::size_t n,
                             Output output, float factor, float* values) {
#if HWY_TARGET <= HWY_AVX2 && HWY_ARCH_X86
  if (packed.bits <= 4) {
    const LevelTag d;
    float table[16];
#pragma GCC unroll 2
    for (std::size_t c = 0; c < 16; c += kLevelLanes) {
      // Shorter codes repeat: what is above them does not matter.
      const auto code = hn::And(hn::Iota(LevelWordTag(), static_cast<std::uint32_t>(c)),
                                hn::Set(LevelWordTag(), (1u << packed.bits) - 1));
      const auto value = decode.value(code, 0);
      hn::StoreU(output == Output::kAdd ? hn::Mul(hn::Set(d, factor), value) : value, d, table + c);
    }
    return emit_small(table, packed, n, output, values);
  }
#endif
  emit(decode, packed, n, output, factor, values);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace gradwire::compressors::kernels
HWY_AFTER_NAMESPACE();

#endif  // GRADWIRE_COMPRESSORS_KERNELS_EMIT_INL_H_
