#pragma once
#include <string>

#include "compressors/coding/index_walk.h"
#include "compressors/layout/sections.h"

/// Lists of indices (compressors/coding/index_coder.h) as sections of a layout.
namespace gradwire::compressors {

/// The number of a format, of `expected` alone unless that is kAuto.
struct NamesIndexFormat {
  IndexFormat expected = IndexFormat::kAuto;

  bool good(std::uint8_t number, const std::byte*, const Extent& extent) const {
    if (number >= kIndexFormats) return false;
    const auto format = static_cast<IndexFormat>(number);
    return extent.n <= largest_indexed(format) &&
           (expected == IndexFormat::kAuto || format == expected);
  }
  std::string reason(std::uint8_t number, const Extent& extent) const {
    if (number >= kIndexFormats)
      return "is " + std::to_string(number) + ", which names no index format";
    if (extent.n > largest_indexed(static_cast<IndexFormat>(number)))
      return "names an index format that cannot hold so many elements";
    return "names another index format";
  }
  std::string text(std::uint8_t number) const {
    return std::string(name_of(static_cast<IndexFormat>(number)));
  }
};
using IndexFormatField = Field<"index format", std::uint8_t, NamesIndexFormat>;

struct ShownIndices {
  IndexFormat format = IndexFormat::kU32;
  std::size_t k = 0;
  std::string type() const { return counted(name_of(format), k); }
  std::string value() const { return {}; }
};

}  // namespace gradwire::compressors
