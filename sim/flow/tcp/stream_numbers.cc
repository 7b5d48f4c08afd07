#include "sim/flow/tcp/stream_numbers.h"

namespace gradwire::sim {
namespace {

using Values = std::array<std::uint64_t, 3>;
using Matrix = std::array<Values, 3>;

constexpr std::uint64_t kFirst = 4294967087, kSecond = 4294944443;  // m1, m2
constexpr double kNorm = 2.328306549295727688e-10;                  // 1 / (m1 + 1)
constexpr int kStreamsApart = 127, kSubstreamsApart = 76;           // powers of 2
constexpr std::uint64_t kByNumber = 1ull << 63;                     // the first of those in ns-3

/// One step of each recurrence; numbers below 0 as their complements.
constexpr Matrix kFirstStep = {{{0, 1, 0}, {0, 0, 1}, {kFirst - 810728, 1403580, 0}}};
constexpr Matrix kSecondStep = {{{0, 1, 0}, {0, 0, 1}, {kSecond - 1370589, 0, 527612}}};
constexpr Matrix kStay = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};

Values times(const Matrix& a, const Values& v, std::uint64_t m) {
  Values result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t k = 0; k < 3; ++k) result[i] = (result[i] + a[i][k] * v[k] % m) % m;
  return result;
}

Matrix times(const Matrix& a, const Matrix& b, std::uint64_t m) {
  Matrix result{};
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 3; ++j)
      for (std::size_t k = 0; k < 3; ++k) result[i][j] = (result[i][j] + a[i][k] * b[k][j] % m) % m;
  return result;
}

/// `step` to the power of count * 2^doublings.
Matrix leap(Matrix step, std::uint64_t count, int doublings, std::uint64_t m) {
  for (int i = 0; i < doublings; ++i) step = times(step, step, m);
  Matrix result = kStay;
  for (; count > 0; count >>= 1) {
    if (count & 1) result = times(result, step, m);
    step = times(step, step, m);
  }
  return result;
}

Values start(const Matrix& step, std::uint32_t seed, std::uint64_t stream, std::uint64_t substream,
             std::uint64_t m) {
  const Values own = {seed, seed, seed};
  const Values at = times(leap(step, stream, kStreamsApart, m), own, m);
  return times(leap(step, substream, kSubstreamsApart, m), at, m);
}

}  // namespace

StreamNumbers::StreamNumbers(std::uint32_t seed, std::uint64_t stream, std::uint64_t substream)
    : x_(start(kFirstStep, seed, stream, substream, kFirst)),
      y_(start(kSecondStep, seed, stream, substream, kSecond)) {}

StreamNumbers StreamNumbers::of_bbr(std::uint64_t run) {
  constexpr std::uint64_t kStream = 4;
  return {1, kByNumber + kStream, run};
}

double StreamNumbers::next() {
  x_ = times(kFirstStep, x_, kFirst);
  y_ = times(kSecondStep, y_, kSecond);
  const std::uint64_t x = x_[2], y = y_[2];
  return static_cast<double>(x > y ? x - y : x - y + kFirst) * kNorm;
}

}  // namespace gradwire::sim
