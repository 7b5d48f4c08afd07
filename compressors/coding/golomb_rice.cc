#include "compressors/coding/golomb_rice.h"

namespace gradwire::compressors {

int golomb_parameter(std::size_t n, std::size_t k) {
  if (k == 0) return 0;
  constexpr double kPhiMinusOne = 0.6180339887498949;  // (sqrt 5 - 1) / 2, to the nearest double
  // No gap at k = n; a quotient of double is the nearest one on every machine.
  double keep_none = 1.0 - static_cast<double>(k) / static_cast<double>(n);
  int b = 0;
  for (; keep_none >= kPhiMinusOne && b < kLargestGolombParameter; ++b) keep_none *= keep_none;
  return b;
}

std::uint64_t golomb_max_bits(std::size_t n, std::size_t k, GolombRule rule) {
  return std::uint64_t{k} * static_cast<std::uint64_t>(rule.fixed_bits()) +
         (std::uint64_t{n - k} >> rule.b);
}

}  // namespace gradwire::compressors
