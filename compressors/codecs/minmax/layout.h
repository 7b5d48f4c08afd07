#pragma once
#include "compressors/layout/sections.h"

/// The payload of `minmax`: for each bucket a unit and a minimum, all of them first; then all
/// codes, padded.
namespace gradwire::compressors {

struct MinMaxLayout : Layout<BucketFields<Field<"unit", float, FiniteScale<"a unit">>,
                                          Field<"min", float, Finite<"a minimum">>>,
                             Codes<"levels">, CodePadding> {
  enum Section { kHeaders, kCodes, kPadding };
  enum HeaderField { kUnit, kMin };
  constexpr MinMaxLayout() = default;
  MinMaxLayout(int bits, std::uint64_t bucket)
      : Layout({.count = {bucket}}, Codes<"levels">(bits), CodePadding(bits)) {}
  GRADWIRE_HD constexpr int bits() const { return section<kCodes>().bits; }
  GRADWIRE_HD constexpr std::uint64_t bucket() const { return section<kHeaders>().count.bucket; }
  GRADWIRE_HD constexpr std::uint32_t top() const { return (1u << bits()) - 1; }
};

}  // namespace gradwire::compressors
