#pragma once
#include <cstddef>

namespace gradwire::trainers {

/// sum of term(e)^2 over e < count, in double: eight partial sums, element e in number e mod 8,
/// then added in pairs. The same on every machine and with any vector width.
template <typename Term>
double sum_of_squares(std::size_t count, Term&& term) {
  constexpr std::size_t kParts = 8;
  double part[kParts] = {};
  std::size_t e = 0;
  for (; e + kParts <= count; e += kParts) {
    for (std::size_t p = 0; p < kParts; ++p) {
      const double value = static_cast<double>(term(e + p));
      part[p] += value * value;
    }
  }
  for (std::size_t p = 0; e < count; ++e, ++p) {
    const double value = static_cast<double>(term(e));
    part[p] += value * value;
  }
  for (std::size_t width = kParts / 2; width > 0; width /= 2)
    for (std::size_t p = 0; p < width; ++p) part[p] += part[p + width];
  return part[0];
}

}  // namespace gradwire::trainers
