#include "bench/fidelity/comparison.h"

#include <algorithm>
#include <cmath>

#include "bench/fidelity/statistics.h"
#include "bench/rows/timing.h"

namespace gradwire::bench {
namespace {

constexpr std::uint64_t kReferenceSeed = 1000;
constexpr std::uint64_t kFlowSeed = 2'000'000;
constexpr double kWorthShifting = 0.03;  // of an error: below all bars of worst cases

/// Of each figure its values over the shifts.
using Shifted = std::vector<std::vector<double>>;

void add_figures(const std::vector<double>& figures, Shifted& values) {
  values.resize(figures.size());
  for (std::size_t i = 0; i < figures.size(); ++i) values[i].push_back(figures[i]);
}

double range_of(const std::vector<double>& values) {
  const auto [least, most] = std::ranges::minmax(values);
  return most - least;
}

bool loses(const sim::Cluster& cluster) {
  return std::ranges::any_of(cluster.links(),
                             [](const sim::Link& link) { return link.spec.mean_loss() > 0; });
}

/// Judges figures that chaos moves by their means over shifted starts.
void judge_chaos(Experiment experiment, const std::string& reference, Comparison& result) {
  const double start = now_s();
  Shifted expected, flow;
  for (experiment.shift = 1; experiment.shift <= kShifts; ++experiment.shift) {
    add_figures(by_reference([&] { return clean_figures(experiment, reference, kReferenceSeed); }),
                expected);
    add_figures(clean_figures(experiment, "flow", kFlowSeed), flow);
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double mean = mean_of(expected[i]), range = range_of(expected[i]);
    if (range <= kChaos * mean) continue;
    const double difference = std::abs(mean_of(flow[i]) - mean);
    result.chaotic += 1;
    result.spread = std::max(result.spread, range / mean);
    result.differences[i] = difference <= range ? 0 : difference;
    result.errors[i] = result.differences[i] / mean;
  }
  result.wall_s += now_s() - start;
}

}  // namespace

void add_difference(Comparison& result, double flow, double reference) {
  result.differences.push_back(std::abs(flow - reference));
  result.errors.push_back(std::abs(flow / reference - 1));
}

Comparison compare_clean(const FidelityCase& c, const std::string& reference) {
  Comparison result;
  result.name = c.experiment.name;
  result.round_trip = c.round_trip;
  result.is_lossy = loses(c.experiment.cluster);
  const double start = now_s();
  const std::vector<double> expected = by_reference([&] {
    if (!c.by_own_packets) return clean_figures(c.experiment, reference, kReferenceSeed);
    Experiment by_packets = c.experiment;
    by_packets.options.detail = sim::Detail::kPerPacket;
    return clean_figures(by_packets, "flow", kReferenceSeed);
  });
  result.wall_s = now_s() - start;
  // What both draw alike has the reference's seed.
  const std::vector<double> flow = clean_figures(c.experiment, "flow", kReferenceSeed);
  for (std::size_t i = 0; i < expected.size(); ++i) add_difference(result, flow[i], expected[i]);
  const bool off =
      std::ranges::any_of(result.errors, [](double error) { return !(error <= kWorthShifting); });
  if (off && !c.experiment.deadline && !c.by_own_packets)
    judge_chaos(c.experiment, reference, result);
  return result;
}

}  // namespace gradwire::bench
