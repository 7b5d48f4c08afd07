#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/arithmetic/levels.h"
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

// ---- encoding (levels_encode.cc)
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

// ---- decoding (levels_decode.cc)
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
}  // namespace gradwire::compressors::kernels
