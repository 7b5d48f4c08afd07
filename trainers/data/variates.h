#pragma once
#include <cstdint>

#include "base/philox.h"

/// Variates from Philox words for generated data sets, in double precision with + - * / and sqrt
/// alone: the standard library's log, exp and normal_distribution differ in their last bits, or
/// wholly, from one library to the next. What is left as a condition: IEEE 754 binary64, rounding
/// to nearest, and no contraction into fused multiply-adds (the build says -ffp-contract=off).
namespace gradwire::trainers {

/// ln x of a positive normal number, within 2 units in the last place away from x = 1.
double portable_log(double x);
/// e^x for |x| < 700.
double portable_exp(double x);

/// The quantile of the standard normal distribution at p in (1e-11, 1 - 1e-11): Wichura, "Algorithm
/// AS 241: the percentage points of the normal distribution", Applied Statistics 37 (1988),
/// relative error about 1e-16.
double normal_quantile(double p);

/// In (0, 1): the middle of one of 2^32 equal intervals.
inline double open_uniform(std::uint32_t word) {
  return (static_cast<double>(word) + 0.5) * (1.0 / 4294967296.0);
}
inline double open_uniform(const RandomStream& stream, std::uint64_t element) {
  return open_uniform(philox_word(stream, element));
}
/// One word each: |z| < 6.4.
inline double normal(const RandomStream& stream, std::uint64_t element) {
  return normal_quantile(open_uniform(stream, element));
}
/// 0 .. n-1; the bias is below n / 2^32.
inline std::uint32_t below(std::uint32_t n, std::uint32_t word) {
  return static_cast<std::uint32_t>(static_cast<std::uint64_t>(word) * n >> 32);
}

/// The words of a stream in turn, where how many are taken depends on what they are.
class WordSequence {
 public:
  explicit WordSequence(const RandomStream& stream) : stream_(stream) {}
  std::uint32_t word() { return philox_word(stream_, next_++); }
  double uniform() { return open_uniform(word()); }
  double normal() { return normal_quantile(uniform()); }
  /// Marsaglia and Tsang, "A simple method for generating gamma variables", ACM TOMS 26 (2000);
  /// shape > 0, scale 1.
  double gamma(double shape);

 private:
  RandomStream stream_;
  std::uint64_t next_ = 0;
};

}  // namespace gradwire::trainers
