#include "results/scalability/sensitivity.h"

#include <algorithm>
#include <cmath>

#include "results/figures/plot_geometry.h"
#include "results/prediction/solve.h"

namespace gradwire::results {
namespace {

/// What a batch decides: the update does not depend on it.
void scale_passes(StepSummary& step, double factor) {
  step.forward_s *= factor;
  for (BucketSummary& bucket : step.buckets) bucket.backward_s *= factor;
}

void scale_bytes(StepSummary& step, double factor) {
  for (BucketSummary& bucket : step.buckets) {
    bucket.message_bytes *= factor;
    bucket.pull_bytes *= factor;
    bucket.prelude_bytes *= factor;
  }
}

double compute_of(const StepSummary& step) {
  double sum = step.forward_s + step.update_s;
  for (const BucketSummary& bucket : step.buckets) sum += bucket.backward_s;
  return sum;
}

double codec_of(const StepSummary& step) {
  double sum = 0;
  for (const BucketSummary& bucket : step.buckets)
    sum += bucket.encode_s + bucket.decode_s + bucket.add_s;
  return sum;
}

/// An input, what it is, and a step with `factor` of it.
struct Input {
  const char* name;
  Quantity quantity;
  double (*value)(const StepSummary& step);
  void (*change)(StepSummary& step, double factor);
  bool scales_batch = false;
};

const Input kInputs[] = {
    {"link rate", Quantity::kBitRate, [](const StepSummary& s) { return 8 * s.bandwidth; },
     [](StepSummary& s, double f) { s = with(s, SolveFor::kBandwidth, f * s.bandwidth); }},
    {"one-way delay", Quantity::kSeconds, [](const StepSummary& s) { return s.delay_s; },
     [](StepSummary& s, double f) { s.delay_s *= f; }},
    {"packet loss", Quantity::kShare, [](const StepSummary& s) { return s.loss; },
     [](StepSummary& s, double f) { s.loss *= f; }},
    {"compute time", Quantity::kSeconds, compute_of,
     [](StepSummary& s, double f) { s = with_compute(s, f); }},
    {"coding time of a message", Quantity::kSeconds, codec_of,
     [](StepSummary& s, double f) { s = with_coding(s, f); }},
    {"bytes of a message", Quantity::kBytes, [](const StepSummary& s) { return s.message_bytes(); },
     scale_bytes},
    {"batch of a worker", Quantity::kCount, compute_of, scale_passes, true},
};

}  // namespace

double SensitivityRow::reach() const {
  return std::max(std::abs(less), std::abs(more));
}

std::vector<SensitivityRow> sensitivity_of(const StepFit& fit, const StepSummary& step,
                                           double samples) {
  const double today = step_time(step, fit.constants).total_s;
  const auto changed = [&](const Input& input, double factor) {
    StepSummary other = step;
    input.change(other, factor);
    const double gain = today / step_time(other, fit.constants).total_s;
    return (input.scales_batch ? factor : 1) * gain - 1;
  };
  std::vector<SensitivityRow> rows;
  for (const Input& input : kInputs) {
    const double value = input.value(step);
    if (value <= 0 || (input.scales_batch && samples <= 0)) continue;
    rows.push_back({input.name,
                    format_value(input.scales_batch ? samples : value, input.quantity),
                    changed(input, 1 - kSensitivityChange),
                    changed(input, 1 + kSensitivityChange),
                    {}});
  }
  if (step.loss <= 0) {
    StepSummary lossy = step;
    lossy.loss = kSensitivityLoss;
    const double share = today / step_time(lossy, fit.constants).total_s - 1;
    rows.push_back({"packet loss", "none", 0, share,
                    "from none to " + format_value(kSensitivityLoss, Quantity::kShare)});
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &SensitivityRow::reach);
  return rows;
}

}  // namespace gradwire::results
