#include "results/advice/ranking.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/units.h"

namespace gradwire::results {
namespace {

std::vector<Option> options_of(const std::vector<RankedCandidate>& ranked) {
  std::vector<Option> options;
  for (const RankedCandidate& one : ranked)
    options.push_back({one.candidate.baseline, one.seconds(), 0, one.candidate.step.message_bytes(),
                       one.accuracy, way_of(one.candidate), one.candidate.method_json});
  return options;
}

void compare(Advice& advice) {
  const RankedCandidate* chosen = advice.chosen();
  if (!chosen) return;
  const auto over = [&](std::optional<std::size_t> index) -> std::optional<double> {
    if (!index) return std::nullopt;
    return advice.ranked[*index].seconds() / chosen->seconds();
  };
  advice.over_fp32 = over(advice.choice.fp32);
  advice.over_fp16 = over(advice.choice.fp16);
}

}  // namespace

std::string way_of(const Candidate& candidate) {
  return candidate.method + " by " + candidate.collective + " in buckets of " +
         format_bytes(Bytes(static_cast<std::int64_t>(candidate.bucket_bytes)));
}

Advice advise(std::span<const Candidate> candidates, const StepFit& fit,
              const AccuracyQuestion& question) {
  if (candidates.empty())
    throw Error(ErrorKind::kFailure, "advise on", "an exchange", "there is no candidate",
                "name methods and collectives that go together");
  Advice advice;
  for (const Candidate& candidate : candidates) {
    advice.ranked.push_back({candidate, predict_step(fit, candidate.step), {}});
    if (question.knowledge)
      advice.ranked.back().accuracy = evidence_of(
          *question.knowledge, candidate.method,
          candidate.resolved_json.empty() ? candidate.method_json : candidate.resolved_json,
          question.model);
  }
  if (question.knowledge) advice.tolerance = question.knowledge->tolerance;
  std::stable_sort(advice.ranked.begin(), advice.ranked.end(),
                   [](const auto& a, const auto& b) { return a.seconds() < b.seconds(); });
  advice.choice = choose(options_of(advice.ranked));
  compare(advice);
  return advice;
}

std::vector<CodecCostAdvice> advice_by_codec_cost(std::span<const Candidate> candidates,
                                                  const StepFit& fit,
                                                  const AccuracyQuestion& question) {
  const auto assumed = [](const Candidate& one) { return !one.step.assumed.coding.certain(); };
  std::vector<CodecCostAdvice> by_cost;
  if (std::ranges::none_of(candidates, assumed)) return by_cost;
  for (const double factor : kCodecCostFactors) {
    std::vector<Candidate> changed(candidates.begin(), candidates.end());
    for (Candidate& one : changed)
      if (assumed(one)) one.step = with_coding(one.step, factor);
    by_cost.push_back({factor, advise(changed, fit, question)});
  }
  return by_cost;
}

std::string verdict_sentence(const Advice& advice) {
  return recommendation(advice.choice, options_of(advice.ranked), "", advice.tolerance);
}

std::string codec_cost_sentence(std::span<const CodecCostAdvice> by_cost) {
  if (by_cost.empty()) return "";
  const auto winner = [](const Advice& advice) {
    return advice.chosen() ? advice.chosen()->candidate.method : std::string("nothing");
  };
  std::string text = "The codecs' times are assumed.";
  bool same = true;
  for (const CodecCostAdvice& one : by_cost) {
    if (one.factor == 1) continue;
    same = same && winner(one.advice) == winner(by_cost.front().advice);
    char factor[32];
    std::snprintf(factor, sizeof factor, "%.4g", one.factor);
    text += " If they are " + std::string(factor) + " times as long: " + winner(one.advice);
    if (const RankedCandidate* chosen = one.advice.chosen())
      text += ", " + format_duration(Seconds(chosen->seconds())) + " a step";
    text += ".";
  }
  return text + (same ? " The winner does not change." : " The winner changes: measure them.");
}

}  // namespace gradwire::results
