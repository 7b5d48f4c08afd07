#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "compressors/bit_packing.h"
#include "compressors/codec.h"
#include "compressors/codecs/lowbit/arithmetic.h"

/// The bytes of `lowbit`: rows u32, cols u32, table u8, bits u8, tie u8, 0 u8, groups times f32
/// alpha, then the codes, LSB first. A record says all that its decoder must know.
namespace gradwire::compressors {

inline constexpr std::size_t kLowbitScales = 12;  ///< byte at which the scales begin
inline constexpr const char* kLowbitTableNames[] = {"binary", "ternary", "pm012", "pm0124"};

/// What shares a scale.
enum class LowbitTie : std::uint8_t { kModel, kLayer, kNode };
inline constexpr const char* kLowbitTieNames[] = {"model", "layer", "node"};

struct LowbitRecord {
  std::size_t rows = 1, columns = 0;
  int table = 0;  ///< index into kLowbitTables
  LowbitTie tie = LowbitTie::kLayer;

  const LowbitTable& entries() const { return kLowbitTables[table]; }
  int bits() const { return entries().bits; }
  std::size_t groups() const { return tie == LowbitTie::kNode ? rows : 1; }
  std::size_t codes() const { return kLowbitScales + 4 * groups(); }
  std::size_t size() const { return codes() + packed_bytes(rows * columns, bits()); }
};

/// Header, size and scales are checked, the codes are not. Throws CodecError naming the byte.
LowbitRecord load_lowbit_record(std::span<const std::byte> payload, std::size_t n);

/// Same errors as decoding.
std::vector<PayloadField> explain_lowbit(std::span<const std::byte> payload, std::size_t n);

}  // namespace gradwire::compressors
