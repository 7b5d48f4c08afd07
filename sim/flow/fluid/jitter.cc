#include "sim/flow/fluid/jitter.h"

#include <algorithm>
#include <cmath>

#include "sim/flow/tcp_path.h"

namespace gradwire::sim {
namespace {

constexpr int kHalvings = 40;
/// Stream of delays (base/philox.h: reserved tensor ids).
constexpr std::uint32_t kJitterStream = kFirstReservedTensor + 0x10000003u;

/// std::lgamma writes a sign that all threads share.
double log_gamma(double x) {
  int sign = 0;
  return ::lgamma_r(x, &sign);
}

/// ln P(D <= y), 0 < y <= jitter. Factors below 1 are those of k < count:
///     product of (y / s + k) s / J  =  Gamma(y / s + count) / Gamma(y / s) (s / J)^count
double log_probability(double jitter, double spacing, double segments, double y) {
  const double reaching = std::ceil((jitter - y) / spacing);
  const double count = std::clamp(reaching, 1.0, segments);
  const double x = y / spacing;
  return log_gamma(x + count) - log_gamma(x) + count * std::log(spacing / jitter);
}

}  // namespace

double jitter_of_last(double jitter, double spacing, double segments, double u) {
  if (jitter <= 0) return 0;
  if (segments <= 1 || spacing >= jitter) return u * jitter;
  const double goal = std::log(std::max(u, 1e-12));
  double low = 0, high = jitter;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (log_probability(jitter, spacing, segments, middle) < goal ? low : high) = middle;
  }
  return (low + high) / 2;
}

double jitter_of(const Cluster& cluster, std::span<const ChannelId> route, std::uint64_t seed,
                 std::uint64_t key, double spacing, double segments, std::uint64_t number) {
  double delay = 0;
  std::uint32_t hop = 0;
  for (const ChannelId id : route) {
    if (id >= cluster.channel_count()) break;  // media come last
    const RandomStream stream = connection_stream(seed, hop++, key, kJitterStream);
    const auto u = static_cast<double>(uniform(stream, number));
    delay += jitter_of_last(cluster.channel(id).jitter.value(), spacing, segments, u);
  }
  return delay;
}

}  // namespace gradwire::sim
