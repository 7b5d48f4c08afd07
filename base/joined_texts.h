#pragma once
#include <functional>
#include <string>
#include <string_view>

namespace gradwire {

/// The texts of a range, one after the other, with `separator` between each two; of elements that
/// are no texts, what `text_of` makes of each (a member, a function).
template <typename Range, typename TextOf = std::identity>
std::string joined_texts(const Range& range, std::string_view separator, TextOf text_of = {}) {
  std::string all;
  bool first = true;
  for (const auto& element : range) {
    if (!first) all += separator;
    all += std::invoke(text_of, element);
    first = false;
  }
  return all;
}

}  // namespace gradwire
