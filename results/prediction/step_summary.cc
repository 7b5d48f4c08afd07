#include "results/prediction/step_summary.h"

#include <algorithm>
#include <cstdio>
#include <utility>

namespace gradwire::results {

std::string in_words(const AssumedFigures& assumed) {
  std::string text;
  for (const auto& [name, range] :
       {std::pair("compute", assumed.compute), std::pair("codecs", assumed.coding)}) {
    if (range.certain()) continue;
    char part[80];
    std::snprintf(part, sizeof part, "%s%s %.3g to %.3g times%s", text.empty() ? "" : ", ", name,
                  range.low, range.high, text.empty() ? " what is assumed" : "");
    text += part;
  }
  return text;
}

const std::vector<std::vector<HopPath>>* StepSummary::paths_of(ExchangeKind kind) const {
  const auto found = std::ranges::find(paths, kind, &ExchangePaths::kind);
  return found == paths.end() ? nullptr : &found->hops;
}

StepSummary with_compute(const StepSummary& step, double factor) {
  StepSummary changed = step;
  changed.forward_s *= factor;
  changed.update_s *= factor;
  for (BucketSummary& bucket : changed.buckets) bucket.backward_s *= factor;
  return changed;
}

StepSummary with_coding(const StepSummary& step, double factor) {
  StepSummary changed = step;
  for (BucketSummary& bucket : changed.buckets)
    for (double BucketSummary::*seconds : {&BucketSummary::encode_s, &BucketSummary::scale_s,
                                           &BucketSummary::decode_s, &BucketSummary::add_s})
      bucket.*seconds *= factor;
  return changed;
}

StepSummary alone(const StepSummary& step) {
  StepSummary lone;  // what is not named here belongs to the exchange, new figures too
  lone.workers = 1;
  lone.forward_s = step.forward_s;
  lone.update_s = step.update_s;
  lone.assumed.compute = step.assumed.compute;
  for (const BucketSummary& bucket : step.buckets)
    lone.buckets.push_back({.backward_s = bucket.backward_s});
  return lone;
}

}  // namespace gradwire::results
