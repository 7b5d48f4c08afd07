#include "bench/fidelity/random_case.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/fidelity/statistics.h"
#include "bench/timing.h"

namespace gradwire::bench {
namespace {

constexpr double kReferenceError = 0.03;
constexpr double kFlowShare = 1.0 / 3;  // of the reference's error
constexpr double kFlowLimit = 30;       // s
constexpr int kMostRuns = 2000;
constexpr std::size_t kGroups = 10;
constexpr std::size_t kFewGroups = 4;  // enough where ...
constexpr double kFarBelow = 0.5;      // ... the error is this share of the wanted one
/// Where quantiles and timeouts are compared.
constexpr std::size_t kLeastTransfers = 256;
constexpr std::uint64_t kReferenceSeeds = 1000;
constexpr std::uint64_t kFlowSeeds = 2'000'000;

Sample sample_of_flow(const Experiment& experiment, bool by_chain, double wanted) {
  Sample flow(experiment.chains.size(), by_chain);
  const double start = now_s();
  for (int run = 0; run < kMostRuns; ++run) {
    flow.take(run_experiment(experiment, "flow", kFlowSeeds + static_cast<std::uint64_t>(run)));
    if (flow.knows(wanted) || now_s() - start > kFlowLimit) break;
  }
  return flow;
}

/// Of distributions, and timeouts.
void compare_pooled(const Sample& flow, const Sample& reference, double min_rto, Comparison& c) {
  add_difference(c, mean_of(flow.all()), mean_of(reference.all()));
  const auto quantile_error = [&](double p) {
    return std::abs(quantile_of(flow.all(), p) / quantile_of(reference.all(), p) - 1);
  };
  c.quantile_50 = quantile_error(0.5);
  c.quantile_90 = quantile_error(0.9);
  const double timeout = quantile_of(reference.all(), 0.1) + 0.95 * min_rto;
  c.timeouts = reference.share_above(timeout);
  c.timeouts_flow = flow.share_above(timeout);
}

}  // namespace

void Sample::take(const Times& times) {
  for (std::size_t chain = 0; chain < times.size(); ++chain) {
    groups_[chain % groups_.size()].push_back(mean_of(times[chain]));
    all_.insert(all_.end(), times[chain].begin(), times[chain].end());
  }
}

bool Sample::knows(double wanted) const {
  if (!by_chain_ && all_.size() < kLeastTransfers) return false;
  const std::size_t groups = groups_[0].size();
  if (groups < kFewGroups) return false;
  return error() <= (groups < kGroups ? kFarBelow * wanted : wanted);
}

double Sample::error() const {
  double largest = 0;
  for (const auto& groups : groups_) largest = std::max(largest, relative_error_of(groups));
  return largest;
}

std::vector<double> Sample::chain_means() const {
  std::vector<double> means;
  for (const auto& groups : groups_) means.push_back(mean_of(groups));
  return means;
}

double Sample::share_above(double time) const {
  const auto above =
      std::count_if(all_.begin(), all_.end(), [time](double value) { return value > time; });
  return static_cast<double>(above) / static_cast<double>(all_.size());
}

RandomCase::RandomCase(const FidelityCase& c, std::string reference, bool by_chain)
    : c_(c),
      executor_(std::move(reference)),
      by_chain_(by_chain),
      reference_(c.experiment.chains.size(), by_chain) {}

Times RandomCase::run(int number) const {
  return run_experiment(c_.experiment, executor_,
                        kReferenceSeeds + static_cast<std::uint64_t>(number));
}

void RandomCase::end(int number, Times times, double seconds) {
  if (known_) return;
  spent_ += seconds;
  early_.emplace(number, std::move(times));
  for (auto next = early_.find(counted_); next != early_.end() && !known_;
       next = early_.find(counted_)) {
    reference_.take(next->second);
    early_.erase(next);
    ++counted_;
    known_ = reference_.knows(kReferenceError) || counted_ == kMostRuns;
  }
}

Comparison RandomCase::compare() const {
  Comparison result;
  result.name = c_.experiment.name;
  result.round_trip = c_.round_trip;
  result.wall_s = spent_;
  result.reference_error = reference_.error();
  result.transfers = static_cast<int>(reference_.all().size());
  const double wanted = kFlowShare * std::max(kReferenceError, reference_.error());
  const Sample flow = sample_of_flow(c_.experiment, by_chain_, wanted);
  if (by_chain_) {
    const auto a = flow.chain_means(), b = reference_.chain_means();
    for (std::size_t i = 0; i < a.size(); ++i) add_difference(result, a[i], b[i]);
  } else {
    compare_pooled(flow, reference_, c_.experiment.options.transport.min_rto.value(), result);
  }
  return result;
}

}  // namespace gradwire::bench
