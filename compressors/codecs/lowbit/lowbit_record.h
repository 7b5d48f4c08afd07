#pragma once
#include <cstdint>

#include "compressors/codecs/lowbit/arithmetic.h"
#include "compressors/layout/sections.h"

/// The bytes of `lowbit`: a head, a scale for each tie group, then the codes. A record says all
/// that its decoder must know.
namespace gradwire::compressors {

inline constexpr const char* kLowbitTableNames[] = {"binary", "ternary", "pm012", "pm0124"};

/// What shares a scale.
enum class LowbitTie : std::uint8_t { kModel, kLayer, kNode };
inline constexpr const char* kLowbitTieNames[] = {"model", "layer", "node"};

/// Times the u32 behind it, the columns: the number of elements.
struct LowbitRows {
  bool good(std::uint32_t rows, const std::byte* at, const Extent& extent) const {
    return std::uint64_t{rows} * number_at<std::uint32_t>(at + 4) == extent.n;
  }
  std::string reason(std::uint32_t, const Extent&) const {
    return "begins rows and columns of another number of elements";
  }
};
struct LowbitTableNumber {
  bool good(std::uint8_t table, const std::byte*, const Extent&) const {
    return table < kLowbitTableCount;
  }
  std::string reason(std::uint8_t, const Extent&) const { return "names no table"; }
  std::string text(std::uint8_t table) const { return kLowbitTableNames[table]; }
};
/// Behind the number of a table that exists.
struct LowbitWidth {
  bool good(std::uint8_t bits, const std::byte* at, const Extent&) const {
    const auto table = number_at<std::uint8_t>(at - 1);
    return table < kLowbitTableCount && bits == kLowbitTables[table].bits;
  }
  std::string reason(std::uint8_t, const Extent&) const {
    return "is not the width of the table's codes";
  }
};
struct LowbitTieNumber {
  bool good(std::uint8_t tie, const std::byte*, const Extent&) const {
    return tie <= static_cast<std::uint8_t>(LowbitTie::kNode);
  }
  std::string reason(std::uint8_t, const Extent&) const { return "names no tie level"; }
  std::string text(std::uint8_t tie) const { return kLowbitTieNames[tie]; }
};

struct LowbitHead
    : Layout<Field<"rows", std::uint32_t, LowbitRows>, Field<"cols", std::uint32_t>,
             Field<"table", std::uint8_t, LowbitTableNumber>,
             Field<"bits", std::uint8_t, LowbitWidth>, Field<"tie", std::uint8_t, LowbitTieNumber>,
             Field<"reserved", std::uint8_t, Reserved>> {
  enum Section { kRows, kColumns, kTable, kBits, kTie, kReserved };
};

struct EachGroup {
  std::uint64_t groups = 1;
  std::uint64_t operator()(const Extent&) const { return groups; }
};
/// What follows the head.
struct LowbitBody : Layout<Numbers<"alpha", float, EachGroup, FiniteMultiples<"a scale">>,
                           Codes<"codes", CodeAtMost>> {
  enum Section { kScales, kCodes };
  LowbitBody(const LowbitTable& table, std::uint64_t groups)
      : Layout(
            {.count = {groups}, .check = {table.top}},
            Codes<"codes", CodeAtMost>(table.bits, {static_cast<std::uint32_t>(table.count - 1)})) {
  }
};

struct LowbitRecord {
  std::size_t rows = 1, columns = 0;
  int table = 0;  ///< index into kLowbitTables
  LowbitTie tie = LowbitTie::kLayer;

  const LowbitTable& entries() const { return kLowbitTables[table]; }
  int bits() const { return entries().bits; }
  std::size_t groups() const { return tie == LowbitTie::kNode ? rows : 1; }
  LowbitBody body() const { return {entries(), groups()}; }
  static std::size_t scales() { return static_cast<std::size_t>(LowbitHead().size({})); }
  std::size_t codes() const {
    return scales() + static_cast<std::size_t>(body().at<LowbitBody::kCodes>({}));
  }
  std::size_t size() const {
    return scales() + static_cast<std::size_t>(body().size({.n = rows * columns}));
  }
};

/// Head, size and scales are checked, the codes are not. Throws CodecError naming the byte.
LowbitRecord load_lowbit_record(std::span<const std::byte> payload, std::size_t n);

}  // namespace gradwire::compressors
