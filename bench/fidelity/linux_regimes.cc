#include "bench/fidelity/linux_regimes.h"

#include <algorithm>
#include <cmath>

#include "bench/fidelity/case_parts.h"

namespace gradwire::bench {
namespace {

constexpr std::uint32_t kFirstRegime = 32;
constexpr double kLeastRate = 10e6;
constexpr double kMostLossyRate = 100e6;
constexpr int kMostPairs = 16;

/// Sizes that take two seconds at most.
Bytes draw_bytes(Draws& draws, const sim::LinkSpec& link, double least, double most) {
  const double largest = std::min(most, 2 * link.rate.value() / 8);
  return draws.bytes(least, std::max(2 * least, largest));
}

FidelityCase single(Draws& draws, double most_rate, double round_trip, double most_gap) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(kLeastRate, most_rate));
  FidelityCase result = pairs(link, round_trip, draw_bytes(draws, link, 5e4, 5e6), 1);
  result.experiment.gap = Seconds(draws.log_uniform(5e-3, most_gap));
  draw_control(draws, result.experiment);
  return result;
}

FidelityCase lossy(Draws& draws, double most_rate, double least, double most, int transfers) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(draws.log_uniform(kLeastRate, std::min(kMostLossyRate, most_rate)));
  const double round_trip = draws.log_uniform(2e-3, 80e-3);
  const double loss = draws.log_uniform(1e-3, 2e-2);
  link.loss = 1 - std::sqrt(1 - loss);
  const int beside = std::clamp(static_cast<int>(most_rate / link.rate.value()), 1, kMostPairs);
  FidelityCase result = pairs(link, round_trip, draws.bytes(least, most), beside);
  result.experiment.repeats = (transfers + beside - 1) / beside;
  result.experiment.gap = Seconds(draws.log_uniform(5e-3, 0.1));
  draw_control(draws, result.experiment);
  return result;
}

}  // namespace

std::vector<FidelityCase> linux_lan_cases(std::uint64_t seed, int count, double rate) {
  return cases_of(seed, kFirstRegime + 0, count, [rate](Draws& draws, int) {
    const double round_trip = draws.log_uniform(2e-3, 5e-3);
    return single(draws, rate, round_trip, 0.1);
  });
}

std::vector<FidelityCase> linux_wan_cases(std::uint64_t seed, int count, double rate) {
  return cases_of(seed, kFirstRegime + 1, count, [rate](Draws& draws, int) {
    const double round_trip = draws.uniform(20e-3, 80e-3);
    return single(draws, std::max(2 * kLeastRate, rate / 4), round_trip, 0.15);
  });
}

std::vector<FidelityCase> linux_sharing_cases(std::uint64_t seed, int count, double rate) {
  return cases_of(seed, kFirstRegime + 2, count, [rate](Draws& draws, int) {
    sim::LinkSpec link;
    link.rate = BitsPerSecond(draws.log_uniform(kLeastRate, rate / 2));
    const double round_trip = draws.log_uniform(2e-3, 5e-3);
    link.delay = Seconds(round_trip / 4);
    const int senders = draws.integer(2, 8);
    FidelityCase result = incast_of(senders, link, round_trip, draws.bytes(5e4, 1e6));
    result.experiment.gap = Seconds(draws.log_uniform(5e-3, 0.1));
    return result;
  });
}

std::vector<FidelityCase> linux_lossy_cases(std::uint64_t seed, int count, double rate) {
  return cases_of(seed, kFirstRegime + 3, count,
                  [rate](Draws& draws, int) { return lossy(draws, rate, 5e5, 2e6, 112); });
}

std::vector<FidelityCase> linux_short_lossy_cases(std::uint64_t seed, int count, double rate) {
  return cases_of(seed, kFirstRegime + 4, count,
                  [rate](Draws& draws, int) { return lossy(draws, rate, 1e4, 1e5, 256); });
}

}  // namespace gradwire::bench
