#pragma once
#include <catch2/catch.hpp>
#include <charconv>
#include <string>

#include "base/units.h"

/// Quantities in the messages of failed tests: "0.25 s", with all the digits that tell two apart.
/// All sources of a program that compare quantities need it, not just some of them.
namespace gradwire::quantities {

template <class Number>
std::string with_unit(Number value, const char* unit) {
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr) + " " + unit;
}

}  // namespace gradwire::quantities

namespace Catch {

template <>
struct StringMaker<gradwire::Seconds> {
  static std::string convert(gradwire::Seconds value) {
    return gradwire::quantities::with_unit(value.value(), "s");
  }
};

template <>
struct StringMaker<gradwire::Bytes> {
  static std::string convert(gradwire::Bytes value) {
    return gradwire::quantities::with_unit(value.count(), "B");
  }
};

template <>
struct StringMaker<gradwire::BitsPerSecond> {
  static std::string convert(gradwire::BitsPerSecond value) {
    return gradwire::quantities::with_unit(value.value(), "bps");
  }
};

}  // namespace Catch
