#pragma once
#include "compressors/layout/sections.h"

/// The payload of `toy`: how many elements, the largest magnitude, and for each element 127 more
/// than a number of 127ths of it.
namespace gradwire::compressors {

struct ToyLayout
    : Layout<Field<"n", std::uint32_t, CountsElements<"a count">>,
             Field<"largest", float, FiniteScale<"a magnitude">>, Codes<"codes", CodeAtMost>> {
  enum Section { kCount, kLargest, kCodes };
  static constexpr int kTop = 127;
  ToyLayout() : Layout({}, {}, Codes<"codes", CodeAtMost>(8, {2 * kTop})) {}
};

}  // namespace gradwire::compressors
