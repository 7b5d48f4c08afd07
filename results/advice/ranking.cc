#include "results/advice/ranking.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/units.h"

namespace gradwire::results {
namespace {

std::string percent(double share) {
  char text[32];
  std::snprintf(text, sizeof text, "%.0f %%", 100 * share);
  return text;
}

std::string times(double factor) {
  char text[32];
  std::snprintf(text, sizeof text, factor < 10 ? "%.2f" : "%.0f", factor);
  return text;
}

/// "topk 1% +ef by ring in buckets of 25.0 MB"
std::string way_of(const Candidate& candidate) {
  return candidate.method + " by " + candidate.collective + " in buckets of " +
         format_bytes(Bytes(static_cast<std::int64_t>(candidate.bucket_bytes)));
}

std::optional<std::size_t> fastest(const std::vector<RankedCandidate>& ranked, Baseline baseline) {
  const auto found = std::find_if(ranked.begin(), ranked.end(), [&](const auto& one) {
    return one.candidate.baseline == baseline;
  });
  if (found == ranked.end()) return std::nullopt;
  return static_cast<std::size_t>(found - ranked.begin());
}

std::optional<double> seconds_of(const Advice& advice, std::optional<std::size_t> index) {
  if (!index) return std::nullopt;
  return advice.ranked[*index].seconds();
}

void choose(Advice& advice) {
  const auto fp32 = seconds_of(advice, advice.fp32), fp16 = seconds_of(advice, advice.fp16);
  advice.verdict = verdict_of(fp32, fp16, seconds_of(advice, advice.compressed));
  const auto index = advice.verdict == Verdict::kDoNotCompress ? advice.fp32
                     : advice.verdict == Verdict::kHalves      ? advice.fp16
                                                               : advice.compressed;
  GRADWIRE_ASSERT(index);
  advice.chosen = *index;
  const double seconds = advice.ranked[advice.chosen].seconds();
  if (fp32) advice.over_fp32 = *fp32 / seconds;
  if (fp16) advice.over_fp16 = *fp16 / seconds;
}

/// "at best terngrad by ring in buckets of 25.0 MB would take 2 % less": for those who hoped.
std::string best_of_the_rest(const Advice& advice) {
  if (!advice.compressed) return "";
  const RankedCandidate& best = advice.ranked[*advice.compressed];
  const double seconds = advice.ranked[advice.chosen].seconds();
  const double less = 1 - best.seconds() / seconds;
  return "; the best compressed step, " + way_of(best.candidate) + ", takes " +
         percent(less > 0 ? less : -less) + (less > 0 ? " less" : " more");
}

}  // namespace

std::string_view name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kDoNotCompress:
      return "do not compress";
    case Verdict::kHalves:
      return "fp16, and no more";
    case Verdict::kCompress:
      return "compress";
  }
  return "";
}

Verdict verdict_of(std::optional<double> fp32_s, std::optional<double> fp16_s,
                   std::optional<double> compressed_s) {
  GRADWIRE_ASSERT(fp32_s || fp16_s || compressed_s);
  double fastest = fp32_s.value_or(fp16_s.value_or(compressed_s.value_or(0)));
  for (const auto& seconds : {fp16_s, compressed_s})
    if (seconds) fastest = std::min(fastest, *seconds);
  if (fp32_s && *fp32_s <= fastest * (1 + kTie)) return Verdict::kDoNotCompress;
  if (fp16_s && *fp16_s <= fastest * (1 + kTie)) return Verdict::kHalves;
  return Verdict::kCompress;
}

Advice advise(std::span<const Candidate> candidates, const StepFit& fit) {
  if (candidates.empty())
    throw Error(ErrorKind::kFailure, "advise on", "an exchange", "there is no candidate",
                "name methods and collectives that go together");
  Advice advice;
  for (const Candidate& candidate : candidates)
    advice.ranked.push_back({candidate, predict_step(fit, candidate.step)});
  std::stable_sort(advice.ranked.begin(), advice.ranked.end(),
                   [](const auto& a, const auto& b) { return a.seconds() < b.seconds(); });
  advice.fp32 = fastest(advice.ranked, Baseline::kFp32);
  advice.fp16 = fastest(advice.ranked, Baseline::kFp16);
  advice.compressed = fastest(advice.ranked, Baseline::kNone);
  choose(advice);
  return advice;
}

std::string verdict_sentence(const Advice& advice) {
  const RankedCandidate& chosen = advice.ranked[advice.chosen];
  const std::string step =
      way_of(chosen.candidate) + ": " + format_duration(Seconds(chosen.seconds())) + " a step";
  switch (advice.verdict) {
    case Verdict::kDoNotCompress:
      return "Do not compress: " + step + best_of_the_rest(advice) + ".";
    case Verdict::kHalves:
      return "Send fp16 and compress no further: " + step +
             (advice.over_fp32 ? ", " + times(*advice.over_fp32) + " times as fast as fp32" : "") +
             best_of_the_rest(advice) + ".";
    case Verdict::kCompress:
      return "Compress: " + step +
             (advice.over_fp32 ? ", " + times(*advice.over_fp32) + " times as fast as fp32" : "") +
             (advice.over_fp16 ? ", " + times(*advice.over_fp16) + " times as fast as fp16" : "") +
             ".";
  }
  return "";
}

}  // namespace gradwire::results
