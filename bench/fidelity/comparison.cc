#include "bench/fidelity/comparison.h"

#include <algorithm>
#include <cmath>

#include "bench/fidelity/statistics.h"
#include "bench/timing.h"

namespace gradwire::bench {
namespace {

constexpr double kReferenceError = 0.03;
constexpr double kFlowError = 0.01;
constexpr int kMostBatches = 2000;
/// Fewer say too little of their own spread: one would stop where it looks small by chance.
constexpr std::size_t kLeastGroups = 10;
/// Fewer may hold no timeout by chance, and then look sure.
constexpr std::size_t kLeastTransfers = 256;
constexpr std::uint64_t kReferenceSeeds = 1000;
constexpr std::uint64_t kFlowSeeds = 2'000'000;

void add(Comparison& result, double flow, double reference) {
  result.differences.push_back(std::abs(flow - reference));
  result.errors.push_back(std::abs(flow / reference - 1));
}

/// Transfers of many runs. A group is one chain of one run: repeats of it depend on each other.
class Sample {
 public:
  /// `by_chain`: each chain's mean is a figure of its own; else all are drawn from one
  /// distribution.
  Sample(const Experiment& experiment, bool by_chain)
      : experiment_(experiment), groups_(by_chain ? experiment.chains.size() : 1) {}

  /// Runs until the mean (every chain's) is known to `wanted`, or time is up.
  void collect(const std::string& executor, std::uint64_t seed, double wanted, double limit_s) {
    const double start = now_s();
    for (int batch = 0; batch < kMostBatches; ++batch) {
      take(run_experiment(experiment_, executor, seed + static_cast<std::uint64_t>(batch)));
      const bool enough = groups_[0].size() >= kLeastGroups && all_.size() >= kLeastTransfers;
      if (enough && error() <= wanted) break;
      if (now_s() - start > limit_s) break;
    }
  }

  const std::vector<double>& all() const { return all_; }
  std::vector<double> chain_means() const {
    std::vector<double> means;
    for (const auto& groups : groups_) means.push_back(mean_of(groups));
    return means;
  }
  /// Standard error of the mean as a share of it; of the chain whose is largest.
  double error() const {
    double largest = 0;
    for (const auto& groups : groups_) largest = std::max(largest, relative_error_of(groups));
    return largest;
  }
  /// Share of transfers longer than `time`.
  double share_above(double time) const {
    const auto above =
        std::count_if(all_.begin(), all_.end(), [time](double value) { return value > time; });
    return static_cast<double>(above) / static_cast<double>(all_.size());
  }

 private:
  void take(const Times& times) {
    for (std::size_t chain = 0; chain < times.size(); ++chain) {
      groups_[chain % groups_.size()].push_back(mean_of(times[chain]));
      all_.insert(all_.end(), times[chain].begin(), times[chain].end());
    }
  }

  const Experiment& experiment_;
  std::vector<double> all_;
  std::vector<std::vector<double>> groups_;  ///< means, by figure
};

}  // namespace

Comparison compare_clean(const FidelityCase& c, const std::string& reference) {
  Comparison result;
  result.name = c.experiment.name;
  result.round_trip = c.round_trip;
  const double start = now_s();
  const std::vector<double> expected = makespans(c.experiment, reference, kReferenceSeeds);
  result.wall_s = now_s() - start;
  const std::vector<double> flow = makespans(c.experiment, "flow", kFlowSeeds);
  for (std::size_t i = 0; i < expected.size(); ++i) add(result, flow[i], expected[i]);
  return result;
}

Comparison compare_random(const FidelityCase& c, const std::string& reference, double limit_s,
                          bool by_chain) {
  Comparison result;
  result.name = c.experiment.name;
  result.round_trip = c.round_trip;
  Sample expected(c.experiment, by_chain), flow(c.experiment, by_chain);
  const double start = now_s();
  expected.collect(reference, kReferenceSeeds, kReferenceError, limit_s);
  result.wall_s = now_s() - start;
  flow.collect("flow", kFlowSeeds, kFlowError, limit_s);
  result.reference_error = expected.error();
  result.transfers = static_cast<int>(expected.all().size());
  if (by_chain) {
    const auto a = flow.chain_means(), b = expected.chain_means();
    for (std::size_t i = 0; i < a.size(); ++i) add(result, a[i], b[i]);
    return result;
  }
  add(result, mean_of(flow.all()), mean_of(expected.all()));
  const auto quantile_error = [&](double p) {
    return std::abs(quantile_of(flow.all(), p) / quantile_of(expected.all(), p) - 1);
  };
  result.quantile_50 = quantile_error(0.5);
  result.quantile_90 = quantile_error(0.9);
  const double timeout =
      quantile_of(expected.all(), 0.1) + 0.95 * c.experiment.options.transport.min_rto.value();
  result.timeouts = expected.share_above(timeout);
  result.timeouts_flow = flow.share_above(timeout);
  return result;
}

}  // namespace gradwire::bench
