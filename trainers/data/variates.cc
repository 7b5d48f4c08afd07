#include "trainers/data/variates.h"

#include <cmath>
#include <span>

namespace gradwire::trainers {
namespace {

constexpr double kLn2High =
    0x1.62e42fefa38p-1;  // 11 low bits are 0: products with exponents are exact
constexpr double kLn2Low = 0x1.ef35793c7673p-45;

/// c[0] + c[1] x + ...
double polynomial(std::span<const double> c, double x) {
  double value = 0;
  for (std::size_t i = c.size(); i-- > 0;) value = value * x + c[i];
  return value;
}

constexpr double kA[] = {3.3871328727963666080e0, 1.3314166789178437745e2, 1.9715909503065514427e3,
                         1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                         3.3430575583588128105e4, 2.5090809287301226727e3};
constexpr double kB[] = {1.0,
                         4.2313330701600911252e1,
                         6.8718700749205790830e2,
                         5.3941960214247511077e3,
                         2.1213794301586595867e4,
                         3.9307895800092710610e4,
                         2.8729085735721942674e4,
                         5.2264952788528545610e3};
constexpr double kC[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                         5.76949722146069140550e0,  3.64784832476320460504e0,
                         1.27045825245236838258e0,  2.41780725177450611770e-1,
                         2.27238449892691845833e-2, 7.74545014278341407640e-4};
constexpr double kD[] = {1.0,
                         2.05319162663775882187e0,
                         1.67638483018380384940e0,
                         6.89767334985100004550e-1,
                         1.48103976427480074590e-1,
                         1.51986665636164571966e-2,
                         5.47593808499534494600e-4,
                         1.05075007164441684324e-9};

}  // namespace

double portable_log(double x) {
  int exponent = 0;
  double mantissa = std::frexp(x, &exponent);  // exact
  if (mantissa < 0.70710678118654752) {
    mantissa *= 2;
    --exponent;
  }
  // ln m = 2 artanh s, s = (m - 1) / (m + 1), |s| < 0.172: s^23 / 23 is below 2e-19.
  const double s = (mantissa - 1) / (mantissa + 1), square = s * s;
  double sum = 0;
  for (int k = 21; k >= 3; k -= 2) sum = (sum + 1.0 / k) * square;
  return exponent * kLn2High + (2 * (s + s * sum) + exponent * kLn2Low);
}

double portable_exp(double x) {
  const double n = std::floor(x * 1.4426950408889634 + 0.5);
  const double rest = (x - n * kLn2High) - n * kLn2Low;  // |rest| < 0.347
  double sum = 1;
  for (int k = 14; k >= 1; --k) sum = 1 + sum * rest / k;
  return std::ldexp(sum, static_cast<int>(n));
}

double normal_quantile(double p) {
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  // The branch of 1e-11 < tail; sqrt is correctly rounded.
  const double r = std::sqrt(-portable_log(q < 0 ? p : 1 - p)) - 1.6;
  const double value = polynomial(kC, r) / polynomial(kD, r);
  return q < 0 ? -value : value;
}

double WordSequence::gamma(double shape) {
  if (shape < 1) {  // gamma(a) = gamma(a + 1) u^(1/a)
    const double whole = gamma(shape + 1);
    return whole * portable_exp(portable_log(uniform()) / shape);
  }
  const double d = shape - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (;;) {
    const double x = normal(), root = 1 + c * x;
    if (root <= 0) continue;
    const double cube = root * root * root;
    if (portable_log(uniform()) < 0.5 * x * x + d - d * cube + d * portable_log(cube)) {
      return d * cube;
    }
  }
}

}  // namespace gradwire::trainers
