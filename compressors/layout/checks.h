#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "compressors/arithmetic/bits.h"
#include "compressors/layout/extent.h"

/// What a decoder asks of the numbers in a payload before it trusts them, for the host and the
/// device. A check of a number T that lies at byte `at` is
///   GRADWIRE_HD bool good(T number, const std::byte* at, const Extent& extent) const;
///   std::string reason(T number, const Extent& extent) const;   // after "byte 4 "
/// and one of a packed code
///   GRADWIRE_HD bool good(std::uint32_t code) const;
///   std::string reason(std::uint32_t code) const;               // after "byte 4 "
namespace gradwire::compressors {

/// A text as a template's argument.
template <std::size_t kSize>
struct Text {
  char characters[kSize] = {};
  consteval Text(const char (&text)[kSize]) {  // NOLINT: texts are texts
    for (std::size_t i = 0; i < kSize; ++i) characters[i] = text[i];
  }
  constexpr std::string_view view() const { return {characters, kSize - 1}; }
};

/// The number at any byte, little-endian.
template <class T>
GRADWIRE_HD T number_at(const std::byte* at) {
  T number;
  memcpy(&number, at, sizeof number);
  return number;
}

struct AnyNumber {
  template <class T>
  GRADWIRE_HD bool good(T, const std::byte*, const Extent&) const {
    return true;
  }
  template <class T>
  std::string reason(T, const Extent&) const {
    return {};
  }
};

/// The tensor's number of elements, which is `kNoun` in messages.
template <Text kNoun>
struct CountsElements {
  static constexpr bool kCountsElements = true;
  GRADWIRE_HD bool good(std::uint32_t count, const std::byte*, const Extent& extent) const {
    return count == extent.n;
  }
  std::string reason(std::uint32_t count, const Extent& extent) const {
    return std::string("begins ").append(kNoun.view()) + " of " + std::to_string(count) + " for " +
           std::to_string(extent.n) + " elements";
  }
};

/// At most the tensor's number of elements.
struct CountsEntries {
  GRADWIRE_HD bool good(std::uint32_t count, const std::byte*, const Extent& extent) const {
    return count <= extent.n;
  }
  std::string reason(std::uint32_t count, const Extent& extent) const {
    return CountsElements<"a count">().reason(count, extent);
  }
};

template <Text kNoun>
struct Finite {
  GRADWIRE_HD bool good(float number, const std::byte*, const Extent&) const {
    return is_finite(number);
  }
  std::string reason(float, const Extent&) const {
    return std::string("begins ").append(kNoun.view()) + " that is not finite";
  }
};

/// Finite, and no sign bit set.
template <Text kNoun>
struct FiniteScale {
  GRADWIRE_HD bool good(float number, const std::byte*, const Extent&) const {
    return is_scale(number);
  }
  std::string reason(float, const Extent&) const {
    return std::string("begins ").append(kNoun.view()) + " that is not finite and >= 0";
  }
};

/// As FiniteScale, and so is its product with `multiple`, the largest that is decoded.
template <Text kNoun>
struct FiniteMultiples {
  float multiple = 1.0f;
  GRADWIRE_HD bool good(float number, const std::byte*, const Extent&) const {
    return is_finite(number * multiple) && bits_of(number) >> 31 == 0;
  }
  std::string reason(float, const Extent&) const {
    return std::string("begins ").append(kNoun.view()) + " that is not finite and >= 0";
  }
};

/// Unused, and 0.
struct Reserved {
  template <class T>
  GRADWIRE_HD bool good(T number, const std::byte*, const Extent&) const {
    return number == 0;
  }
  template <class T>
  std::string reason(T, const Extent&) const {
    return "begins a reserved field that is not 0";
  }
};

struct AnyCode {
  GRADWIRE_HD bool good(std::uint32_t) const { return true; }
  std::string reason(std::uint32_t) const { return {}; }
};

struct CodeAtMost {
  std::uint32_t largest = 0;
  GRADWIRE_HD bool good(std::uint32_t code) const { return code <= largest; }
  std::string reason(std::uint32_t) const {
    return "holds a code above " + std::to_string(largest);
  }
};

/// sign << (bits - 1) | level.
struct LevelAtMost {
  std::uint32_t largest = 0;
  int bits = 1;
  GRADWIRE_HD std::uint32_t level(std::uint32_t code) const {
    return code & ((1u << (bits - 1)) - 1);
  }
  GRADWIRE_HD bool good(std::uint32_t code) const { return level(code) <= largest; }
  std::string reason(std::uint32_t) const {
    return "begins a level above " + std::to_string(largest);
  }
};

}  // namespace gradwire::compressors
