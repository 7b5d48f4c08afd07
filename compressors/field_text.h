#pragma once
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

/// Texts of explained fields, for people.
namespace gradwire::compressors {

/// The shortest text that reads back as the same float: "1.2", "1e-09". Every float of an
/// explanation is written by it: fixed digits would show small values as 0.
inline std::string float_text(float value) {
  char text[32];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general).ptr;
  return {text, end};
}

/// "f32[12]".
inline std::string counted(std::string_view type, std::size_t count) {
  return std::string(type).append("[").append(std::to_string(count)).append("]");
}

/// "u9[12]".
inline std::string code_array(int bits, std::size_t n) {
  return counted(std::string("u").append(std::to_string(bits)), n);
}

inline constexpr std::size_t kFew = 8;

/// "1, 4, 8, ...": text(0), text(1), ... of the first kFew of n.
template <class Text>
std::string first_few(std::size_t n, Text&& text) {
  std::string all;
  for (std::size_t i = 0; i < std::min(n, kFew); ++i)
    all.append(i == 0 ? "" : ", ").append(text(i));
  if (n > kFew) all.append(", ...");
  return all;
}

}  // namespace gradwire::compressors
