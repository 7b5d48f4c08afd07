#pragma once
#include "compressors/layout/three_values.h"

/// The payload of `terngrad`: a scale s, then codes t + 1 of terms t.
namespace gradwire::compressors {

struct TernGradLayout
    : Layout<Field<"scale", float, FiniteScale<"a scale">>, ThreeValues<"codes t + 1">> {
  enum Section { kScale, kCodes };
  constexpr TernGradLayout() = default;
  explicit TernGradLayout(bool base3) : Layout({}, ThreeValues<"codes t + 1">(base3)) {}
  GRADWIRE_HD constexpr bool base3() const { return section<kCodes>().base3; }
};

}  // namespace gradwire::compressors
