#pragma once
#include "compressors/layout/sections.h"

/// The payload of `natural`: codes of sign and exponent (arithmetic.h) in 9 bits or in 8.
namespace gradwire::compressors {

struct NaturalCode {
  int bits = 9;
  GRADWIRE_HD bool good(std::uint32_t code) const { return bits == 8 || (code & 255u) != 255u; }
  std::string reason(std::uint32_t) const {
    return "begins a code with exponent field 255, which is not finite";
  }
};

struct NaturalLayout : Layout<Codes<"codes", NaturalCode>> {
  enum Section { kCodes };
  explicit NaturalLayout(int bits) : Layout(Codes<"codes", NaturalCode>(bits, NaturalCode{bits})) {}
};

}  // namespace gradwire::compressors
