#pragma once
#include "compressors/layout/three_values.h"

/// The payloads of `ternary`: a level, then codes of its multiples.
namespace gradwire::compressors {

using TernaryLevel = Field<"level", float, FiniteMultiples<"a level">>;
using TernaryCount = Field<"n", std::uint32_t, CountsElements<"a count">>;
// Named here, since nvcc 13 loses a text that is an argument within a base class's list.
using TernaryCodes = ThreeValues<"codes">;
using DeadZoneCodes = Codes<"codes", CodeAtMost>;
enum TernarySection { kTernaryCount, kTernaryLevel, kTernaryCodes };

/// 0, level and -level.
struct ThresholdLayout : Layout<TernaryCount, TernaryLevel, TernaryCodes> {
  constexpr ThresholdLayout() = default;
  explicit ThresholdLayout(bool base3) : Layout({}, {}, TernaryCodes(base3)) {}
  GRADWIRE_HD constexpr bool base3() const { return section<kTernaryCodes>().base3; }
};

/// 2^(b - 1) - 1 multiples of the level on either side of zero.
struct DeadZoneLayout : Layout<TernaryCount, TernaryLevel, DeadZoneCodes> {
  constexpr DeadZoneLayout() = default;
  explicit DeadZoneLayout(int bits)
      : Layout({}, {{static_cast<float>(top_of(bits))}},
               DeadZoneCodes(bits, {2 * static_cast<std::uint32_t>(top_of(bits))})) {}
  GRADWIRE_HD constexpr int bits() const { return section<kTernaryCodes>().bits; }
  GRADWIRE_HD constexpr int top() const { return top_of(bits()); }

 private:
  GRADWIRE_HD static constexpr int top_of(int bits) { return (1 << (bits - 1)) - 1; }
};

}  // namespace gradwire::compressors
