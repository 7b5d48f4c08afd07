#include "bench/fidelity/random_case.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/fidelity/statistics.h"
#include "bench/rows/timing.h"

namespace gradwire::bench {
namespace {

constexpr double kReferenceError = 0.03;
constexpr double kFlowShare = 1.0 / 3;                   // of the reference's error
constexpr double kOfReference = 0.94 * kReferenceError;  // left beside flow's: sqrt(1 - 1 / 9)
constexpr double kFlowLimit = 30;                        // s
constexpr int kMostRuns = 2000;
constexpr std::size_t kGroups = 10;
constexpr std::size_t kFewGroups = 4;  // enough where ...
constexpr double kFarBelow = 0.5;      // ... the error is this share of the wanted one
/// Where quantiles and timeouts are compared.
constexpr std::size_t kLeastTransfers = 256;
constexpr int kLeastRuns = 4;
/// Where one run is one group of transfers that wait for each other: some hold a timeout, which is
/// tens of times as long as all else.
constexpr std::size_t kLeastGroupsByRun = 24;
constexpr std::uint64_t kReferenceSeeds = 1000;
constexpr std::uint64_t kFlowSeeds = 2'000'000;

/// A collective is one chain.
std::size_t chains_of(const Experiment& experiment) {
  return experiment.collective ? 1 : experiment.chains.size();
}

Sample sample_of_flow(const Experiment& experiment, Grouping grouping, double wanted) {
  Sample flow(chains_of(experiment), grouping);
  const double start = now_s();
  for (int run = 0; run < kMostRuns; ++run) {
    flow.take(
        {run_experiment(experiment, "flow", kFlowSeeds + static_cast<std::uint64_t>(run)), {}});
    if (flow.knows(wanted) || now_s() - start > kFlowLimit) break;
  }
  return flow;
}

/// Share of `values` above `limit`.
double share_above(const std::vector<double>& values, double limit) {
  const auto above =
      std::count_if(values.begin(), values.end(), [limit](double value) { return value > limit; });
  return static_cast<double>(above) / static_cast<double>(values.size());
}

/// Of distributions, and timeouts: of transfers with the same losses.
void compare_pooled(const Sample& pairs, double min_rto, Comparison& c) {
  const auto quantile_error = [&](double p) {
    return std::abs(quantile_of(pairs.controls(), p) / quantile_of(pairs.all(), p) - 1);
  };
  c.quantile_50 = quantile_error(0.5);
  c.quantile_90 = quantile_error(0.9);
  const double timeout = quantile_of(pairs.all(), 0.1) + 0.95 * min_rto;
  c.timeouts = share_above(pairs.all(), timeout);
  c.timeouts_flow = share_above(pairs.controls(), timeout);
}

/// One value a group: of each chain, or one of all.
std::vector<double> group_means(const Times& times, Grouping grouping) {
  std::vector<double> means;
  for (const auto& chain : times) means.push_back(mean_of(chain));
  if (grouping != Grouping::kByRun || means.empty()) return means;
  return {mean_of(means)};  // chains have equally many transfers
}

void append(const Times& times, std::vector<double>& all) {
  for (const auto& chain : times) all.insert(all.end(), chain.begin(), chain.end());
}

}  // namespace

void Sample::take(const Pair& run) {
  ++runs_;
  std::size_t chain = 0;
  for (const double mean : group_means(run.times, grouping_))
    figures_[chain++ % figures_.size()].groups.push_back(mean);
  chain = 0;
  for (const double mean : group_means(run.control, grouping_))
    figures_[chain++ % figures_.size()].controls.push_back(mean);
  append(run.times, all_);
  append(run.control, controls_);
}

bool Sample::knows(double wanted) const {
  if (grouping_ == Grouping::kPooled && (all_.size() < kLeastTransfers || runs_ < kLeastRuns))
    return false;
  const std::size_t groups = figures_[0].groups.size();
  if (groups < (grouping_ == Grouping::kByRun ? kLeastGroupsByRun : kFewGroups)) return false;
  return error() <= (groups < kGroups ? kFarBelow * wanted : wanted);
}

double Sample::error() const {
  return std::ranges::max(errors());
}

std::vector<double> Sample::means() const {
  std::vector<double> means;
  for (const Figure& each : figures_) means.push_back(mean_of(each.groups));
  return means;
}

std::vector<double> Sample::errors() const {
  std::vector<double> errors;
  for (const Figure& each : figures_)
    errors.push_back(controlled(each.groups, each.controls).residual / mean_of(each.groups));
  return errors;
}

double Sample::leverage() const {
  double largest = 1;
  for (const Figure& each : figures_) {
    if (each.controls.empty()) continue;
    const double slope = controlled(each.groups, each.controls).slope;
    largest = std::max(largest, slope * mean_of(each.controls) / mean_of(each.groups));
  }
  return largest;
}

std::vector<Sample::Mean> Sample::means_given(const Sample& of_controls) const {
  const std::vector<double> known = of_controls.means(), errors = of_controls.errors();
  std::vector<Mean> means;
  for (std::size_t i = 0; i < figures_.size(); ++i) {
    const Figure& figure = figures_[i];
    if (figure.controls.empty()) {
      const double error = controlled(figure.groups, {}).residual;
      means.push_back({mean_of(figure.groups), error / mean_of(figure.groups)});
      continue;
    }
    const double apart = known[i] - mean_of(figure.controls);
    const Controlled fitted = controlled(figure.groups, figure.controls);
    const Controlled alike = controlled_by_difference(figure.groups, figure.controls);
    const Controlled& by = fitted.residual_at(apart) < alike.residual ? fitted : alike;
    const double mean = mean_of(figure.groups) + by.slope * apart;
    const double of_flow = (by.slope - 1) * known[i] * errors[i];
    means.push_back({mean, std::hypot(by.residual_at(apart), of_flow) / mean});
  }
  return means;
}

RandomCase::RandomCase(const FidelityCase& c, std::string reference, Grouping grouping)
    : c_(c),
      control_(c.experiment),
      executor_(std::move(reference)),
      grouping_(grouping),
      reference_(chains_of(c.experiment), grouping) {}

Pair RandomCase::run(int number) const {
  const std::uint64_t seed = kReferenceSeeds + static_cast<std::uint64_t>(number);
  return {by_reference([&] { return run_experiment(c_.experiment, executor_, seed); }),
          run_experiment(control_, "flow", seed)};
}

void RandomCase::end(int number, Pair run, double seconds) {
  if (known_) return;
  spent_ += seconds;
  early_.emplace(number, std::move(run));
  for (auto next = early_.find(counted_); next != early_.end() && !known_;
       next = early_.find(counted_)) {
    reference_.take(next->second);
    early_.erase(next);
    ++counted_;
    known_ = reference_.knows(kOfReference) || counted_ == kMostRuns;
  }
}

Comparison RandomCase::compare() const {
  Comparison result;
  result.name = c_.experiment.name;
  result.round_trip = c_.round_trip;
  result.wall_s = spent_;
  result.transfers = static_cast<int>(reference_.all().size());
  const double wanted =
      kFlowShare * std::max(kReferenceError, reference_.error()) / reference_.leverage();
  const Sample flow = sample_of_flow(control_, grouping_, wanted);
  const std::vector<double> of_flow = flow.means();
  const std::vector<Sample::Mean> of_reference = reference_.means_given(flow);
  for (std::size_t i = 0; i < of_flow.size(); ++i) {
    add_difference(result, of_flow[i], of_reference[i].value);
    result.reference_error = std::max(result.reference_error, of_reference[i].error);
  }
  if (grouping_ == Grouping::kPooled)
    compare_pooled(reference_, c_.experiment.options.transport.min_rto.value(), result);
  return result;
}

}  // namespace gradwire::bench
