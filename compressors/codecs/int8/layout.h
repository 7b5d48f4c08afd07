#pragma once
#include "compressors/layout/sections.h"

/// The payload of `int8`: value = min + code unit with unit = (max - min) / 255, and code 255 = max
/// exactly.
namespace gradwire::compressors {

/// Finite, and not below the f32 in front of it.
struct NotBelowMinimum {
  GRADWIRE_HD bool good(float largest, const std::byte* at, const Extent&) const {
    return is_finite(largest) && !(largest < number_at<float>(at - 4));
  }
  std::string reason(float, const Extent&) const {
    return "begins a maximum that is not finite or below the minimum";
  }
};

struct Int8Layout : Layout<Field<"n", std::uint32_t, CountsElements<"a count">>,
                           Field<"min", float, Finite<"a minimum">>,
                           Field<"max", float, NotBelowMinimum>, Codes<"codes">> {
  enum Section { kCount, kMin, kMax, kCodes };
  static constexpr std::uint32_t kTop = 255;  ///< the largest code
};

}  // namespace gradwire::compressors
