#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

/// Texts of explained fields, for people.
namespace gradwire::compressors {

/// As short as tells floats apart.
inline std::string float_text(float value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.9g", static_cast<double>(value));
  return text;
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
