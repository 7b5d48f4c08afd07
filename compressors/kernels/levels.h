#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/arithmetic/levels.h"
#include "compressors/arithmetic/norm_levels.h"
#include "compressors/bit_packing.h"
#include "compressors/codec.h"
#include "compressors/kernels/output.h"

/// Inner loops of the codecs with evenly spaced levels. Codes pass through a buffer of bytes, one a
/// code, that stays in the first-level cache; packing is a step of its own. Every instruction set
/// gives the same bits. No alignment is required; buffers do not overlap.
namespace gradwire::compressors::kernels {

/// Codes are handled in chunks of so many elements: bytes that stay in the first-level cache.
inline constexpr std::size_t kLevelChunk = 4096;

// ---- packing (levels_pack.cc)
enum class BitOrder { kLowFirst, kHighFirst };

/// Packs n codes < 2^bits (1 to 8) into exactly ceil(n bits / 8) bytes; unused bits are 0.
void pack_codes(const std::uint8_t* codes, std::size_t n, int bits, BitOrder order,
                std::byte* packed);
/// The reverse; reads exactly ceil(n bits / 8) bytes.
void unpack_codes(const std::byte* packed, std::size_t n, int bits, BitOrder order,
                  std::uint8_t* codes);

// ---- ranges and norms (levels_range.cc)
struct ValueRange {
  float smallest = 0.0f;  ///< +0 where it is a zero
  float largest = 0.0f;
  bool finite = true;  ///< if not, the ends mean nothing
};
/// n >= 1.
ValueRange bucket_range(const float* values, std::size_t n);

/// Ordered sum of squares (compressors/ordered_sum.h) over the bucket; not finite if a value is
/// not.
double sum_of_squares(const float* values, std::size_t n);

/// largest[c] = max(largest[c], magnitude bits of values[c]).
void raise_magnitudes(const float* values, std::size_t n, std::uint32_t* largest);

// ---- encoding (levels_encode.cc, levels_buckets.cc, levels_norm.cc)
/// Where codes go, from a byte on; 8 bits: one a byte. Exactly ceil(n bits / 8) bytes are written.
struct CodeOutput {
  std::byte* bytes;
  int bits = 8;
  BitOrder order = BitOrder::kLowFirst;

  /// From code i on, a multiple of 8 unless codes are bytes.
  CodeOutput from(std::size_t i) const {
    const auto width = static_cast<std::size_t>(bits);
    return {bytes + i * width / 8, bits, order};
  }
};
inline CodeOutput byte_codes(std::uint8_t* codes) {
  return {reinterpret_cast<std::byte*>(codes)};
}

/// codes[i] = level_of(values[i]); for kDrawn, value i takes the draw of element begin + i, and
/// codes are bytes (packing would take the registers that draws need).
void level_codes(const float* values, std::size_t n, const LevelGrid& grid, LevelRounding rounding,
                 const Draws& draws, std::size_t begin, const CodeOutput& codes);

/// What bucketed_codes() met.
struct BucketsSeen {
  bool finite = true;        ///< if not, codes and headers mean nothing
  std::size_t too_wide = 0;  ///< the first value of the first bucket of infinite unit; n if none is
};
/// Ranges, grids and codes of whole buckets (the last may be shorter), multiples of 64 and at most
/// kLevelChunk long, in one pass over memory. headers: unit and origin, f32 each, for each bucket.
/// Rounds half up; `streamed`: codes go past the caches, for calls within for_ranges.
BucketsSeen bucketed_codes(const float* values, std::size_t n, std::size_t bucket,
                           std::uint32_t top, std::byte* headers, const CodeOutput& codes,
                           bool streamed);

/// codes[i] = min(max(rint(values[i] inverses[i]), -half), half - 1) + half.
void scaled_codes(const float* values, const float* inverses, std::size_t n, float half,
                  std::uint8_t* codes);
/// codes[i] = sign << (bits - 1) | level in grids[i / bucket], the sign of level 0 being 0.
/// levels < 2^(bits - 1).
void norm_codes(const float* values, std::size_t n, const NormGrid* grids, std::size_t bucket,
                int bits, const Draws& draws, std::size_t begin, std::uint8_t* codes);
/// levels[i] = signed_norm_level(values[i]).
void signed_norm_levels(const float* values, std::size_t n, const NormGrid& grid,
                        const Draws& draws, std::size_t begin, std::int32_t* levels);

// ---- decoding (levels_decode.cc, levels_norm.cc)
/// Packed codes that begin on a byte; 8 bits: one a byte.
struct PackedCodes {
  const std::byte* bytes;
  int bits;
  BitOrder order = BitOrder::kLowFirst;
  std::size_t beyond = 0;  ///< bytes that may be read behind the codes of a call

  /// From code i on, a multiple of 8.
  PackedCodes from(std::size_t i) const {
    return {bytes + i / 8 * static_cast<std::size_t>(bits), bits, order, beyond};
  }
  std::size_t bytes_of(std::size_t n) const { return packed_bytes(n, bits); }
};

// Where values are added: values[i] += factor * decoded, the product rounded before the sum.
/// Decoded = level_value(codes[i], grid); level top is `end` exactly if it is given (not NaN).
void level_values(const PackedCodes& codes, std::size_t n, const LevelGrid& grid, float end,
                  Output output, float factor, float* values);
/// Decoded = scale (2 codes[i] - top) / top, the quotient as a product with fl(1 / top).
void symmetric_values(const PackedCodes& codes, std::size_t n, float scale, float top,
                      Output output, float factor, float* values);
/// Decoded = (codes[i] - half) / half * scales[i]; half is a power of two.
void scaled_values(const PackedCodes& codes, const float* scales, std::size_t n, float half,
                   Output output, float factor, float* values);
/// Decoded = norm_level_value of sign and level, as norm_codes makes them of `bits`; the codes may
/// be packed wider.
void norm_values(const PackedCodes& codes, std::size_t n, const NormGrid& grid, int bits,
                 Output output, float factor, float* values);

}  // namespace gradwire::compressors::kernels
