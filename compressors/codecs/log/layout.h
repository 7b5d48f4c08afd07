#pragma once
#include "compressors/layout/sections.h"

/// The payload of `log`.
namespace gradwire::compressors {

struct LogLayout : Layout<Field<"n", std::uint32_t, CountsElements<"a count">>,
                          Field<"emax", std::int8_t>, Codes<"codes">> {
  enum Section { kCount, kExponent, kCodes };
  static constexpr int kBits = 6;
  LogLayout() : Layout({}, {}, Codes<"codes">(kBits)) {}
};

}  // namespace gradwire::compressors
