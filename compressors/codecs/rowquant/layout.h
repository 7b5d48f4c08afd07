#pragma once
#include "compressors/layout/sections.h"

/// The payload of `rowquant`: all codes, high bits first; then a scale for each row, or column.
namespace gradwire::compressors {

struct FiniteHalf {
  GRADWIRE_HD bool good(Binary16 scale, const std::byte*, const Extent&) const {
    return scale.bits < 0x7C00u;
  }
  std::string reason(Binary16, const Extent&) const {
    return "begins a scale that is not finite and >= 0";
  }
};

struct EachRowOrColumn {
  bool columns = false;
  GRADWIRE_HD constexpr std::uint64_t operator()(const Extent& extent) const {
    return columns ? extent.columns : extent.rows();
  }
};

struct RowQuantLayout : Layout<Codes<"codes", AnyCode, true>,
                               Numbers<"scales", Binary16, EachRowOrColumn, FiniteHalf>> {
  enum Section { kCodes, kScales };
  constexpr RowQuantLayout() = default;
  RowQuantLayout(int bits, bool columns)
      : Layout(Codes<"codes", AnyCode, true>(bits), {.count = {columns}}) {}
  GRADWIRE_HD constexpr int bits() const { return section<kCodes>().bits; }
  GRADWIRE_HD constexpr std::uint32_t top() const { return (1u << bits()) - 1; }
  GRADWIRE_HD constexpr std::uint64_t scales_at(std::uint64_t n) const {
    return at<kScales>(Extent{n, n, 1});
  }
};

}  // namespace gradwire::compressors
