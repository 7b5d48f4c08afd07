#include "results/prediction/step_model.h"

#include <algorithm>
#include <cmath>

#include "results/prediction/exchange_form.h"
#include "results/prediction/step_timeline.h"

namespace gradwire::results {
namespace {

double at(const StepConstants& constants, StepConstant which) {
  return constants[static_cast<std::size_t>(which)];
}

double backward_time(const StepSummary& step) {
  double sum = 0;
  for (const BucketSummary& bucket : step.buckets) sum += bucket.backward_s;
  return sum;
}

/// Compute with stragglers, coding outside of it, latency a doubling, and `times` messages at e B.
double terngrad_time(const StepSummary& step, const StepConstants& constants, double doublings,
                     double times) {
  double coding = 0;
  for (const BucketSummary& bucket : step.buckets) coding += bucket.encode_s + bucket.decode_s;
  const double slow = slowest_of(step.workers, step.compute_spread);
  return step.slowest * (slow * (step.forward_s + backward_time(step)) + coding + step.update_s) +
         doublings * at(constants, StepConstant::kLatency) * step.delay_s +
         times * step.message_bytes() / (at(constants, StepConstant::kEfficiency) * step.bandwidth);
}

}  // namespace

const std::array<StepConstantInfo, kStepConstants> kStepConstantTable = {{
    {StepConstant::kEfficiency, "bandwidth efficiency", 0.94, 0.05, true},
    {StepConstant::kLatency, "latency of a hop in one-way delays", 1, 0.3, true},
    {StepConstant::kCongestion, "congestion exponent", 0, 0.0001, false},
    {StepConstant::kWindows, "windows under loss", 0.9, 0.3, true},
    {StepConstant::kStraggle, "waiting for losses", 1, 0.5, true},
    {StepConstant::kTimeouts, "timeouts", 1.2, 0.15, true},
    {StepConstant::kSpread, "waiting for slow workers", 1, 0.3, true},
    {StepConstant::kRates, "waiting for slow links", 0.3, 0.7, true},
}};

double slowest_of(int workers, double deviation) {
  return 1 + deviation * std::sqrt(2 * std::log(std::max(workers, 1)));
}

StepConstants usual_constants() {
  StepConstants constants{};
  for (const StepConstantInfo& info : kStepConstantTable)
    constants[static_cast<std::size_t>(info.constant)] = info.usual;
  return constants;
}

double exchange_time(const StepSummary& step, double message_bytes,
                     const StepConstants& constants) {
  return step.correction.at(message_bytes) *
         ExchangeForm(step, step.exchange, constants).time(message_bytes);
}

StepTime step_time(const StepSummary& step, const StepConstants& constants) {
  const double slow = step.slowest * slowest_of(step.workers, at(constants, StepConstant::kSpread) *
                                                                  step.compute_spread);
  return step_timeline(step, constants, slow);
}

double terngrad_tree_time(const StepSummary& step, const StepConstants& constants) {
  const double doublings = std::log2(step.workers);
  return terngrad_time(step, constants, doublings, doublings);
}

double terngrad_plateau_time(const StepSummary& step, const StepConstants& constants) {
  const double doublings = std::log2(step.workers);
  return terngrad_time(step, constants, doublings, std::min(doublings, 2.0));
}

}  // namespace gradwire::results
