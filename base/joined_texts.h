#pragma once
#include <string>
#include <string_view>

namespace gradwire {

/// The texts of a range, one after the other, with `separator` between each two.
template <typename Texts>
std::string joined_texts(const Texts& texts, std::string_view separator) {
  std::string all;
  bool first = true;
  for (const auto& text : texts) {
    if (!first) all += separator;
    all += text;
    first = false;
  }
  return all;
}

}  // namespace gradwire
