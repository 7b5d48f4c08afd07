#include "results/advice/choice.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "compressors/codec.h"

namespace gradwire::results {
namespace {

using Options = std::span<const Option>;
using Index = std::optional<std::size_t>;

bool may_be_taken(const Option& one) {
  return one.baseline == Baseline::kFp32 || one.accuracy.may_be_recommended();
}

template <typename Counts>
Index fastest(Options all, Counts counts) {
  Index best;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (counts(all[i]) && (!best || all[i].seconds < all[*best].seconds)) best = i;
  return best;
}

Index fastest_of(Options all, Baseline kind) {
  return fastest(all, [&](const auto& one) { return one.baseline == kind && may_be_taken(one); });
}

/// By what is known of its accuracy, by what it leaves out, by time.
bool is_preferred(const Option& a, const Option& b) {
  if (a.accuracy.standing != b.accuracy.standing) return a.accuracy.standing < b.accuracy.standing;
  if (a.message_bytes != b.message_bytes) return a.message_bytes > b.message_bytes;
  return a.seconds < b.seconds;
}

/// Of the compressed ones that are as fast as the fastest.
Index preferred(Options all, Index fastest) {
  if (!fastest) return fastest;
  std::size_t best = *fastest;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].baseline == Baseline::kNone && may_be_taken(all[i]) &&
        as_fast(all[i], all[*fastest]) && is_preferred(all[i], all[best]))
      best = i;
  return best;
}

void take(Options all, Choice& choice) {
  const Index first = fastest(all, may_be_taken);
  if (!first) return;
  const auto wins = [&](Index kind) { return kind && as_fast(all[*kind], all[*first]); };
  choice.verdict = wins(choice.fp32)   ? Verdict::kDoNotCompress
                   : wins(choice.fp16) ? Verdict::kHalves
                                       : Verdict::kCompress;
  choice.chosen = choice.verdict == Verdict::kDoNotCompress ? choice.fp32
                  : choice.verdict == Verdict::kHalves      ? choice.fp16
                                                            : preferred(all, choice.compressed);
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
    case Verdict::kNothing:
      return "nothing within the tolerance";
  }
  return "";
}

Baseline baseline_of(const std::string& method_json) {
  const auto json = nlohmann::json::parse(method_json, nullptr, false);
  if (!json.is_object() || json.contains("rules") || json.contains("clipping"))
    return Baseline::kNone;
  const auto feedback = json.find("error_feedback");
  if (feedback != json.end() && *feedback != false) return Baseline::kNone;
  const auto name = json.find("name");
  if (name == json.end() || !name->is_string()) return Baseline::kNone;
  const auto* codec = compressors::find_codec(name->get<std::string>());
  if (!codec) return Baseline::kNone;
  return codec->float_bits == 32   ? Baseline::kFp32
         : codec->float_bits == 16 ? Baseline::kFp16
                                   : Baseline::kNone;
}

std::string method_of_scenario(const std::string& scenario_json) {
  const auto json = nlohmann::ordered_json::parse(scenario_json, nullptr, false);
  return json.is_object() && json.contains("method") ? json["method"].dump() : "{}";
}

bool as_fast(const Option& a, const Option& b) {
  const double apart = std::abs(a.seconds - b.seconds);
  return apart <= kTie * std::min(a.seconds, b.seconds) || apart < std::hypot(a.doubt_s, b.doubt_s);
}

Choice choose(Options all) {
  GRADWIRE_ASSERT(!all.empty());
  Choice choice;
  choice.fp32 = fastest_of(all, Baseline::kFp32);
  choice.fp16 = fastest_of(all, Baseline::kFp16);
  choice.compressed = fastest_of(all, Baseline::kNone);
  take(all, choice);
  choice.refused = fastest(all, [&](const auto& one) {
    return !may_be_taken(one) && (!choice.chosen || one.seconds < all[*choice.chosen].seconds);
  });
  for (std::size_t i = 0; choice.chosen && i < all.size(); ++i)
    if (i != *choice.chosen && may_be_taken(all[i]) && as_fast(all[i], all[*choice.chosen]))
      choice.ties.push_back(i);
  return choice;
}

Verdict verdict_of(std::optional<double> fp32_s, std::optional<double> fp16_s,
                   std::optional<double> compressed_s) {
  std::vector<Option> all;
  const auto add = [&](Baseline kind, std::optional<double> seconds) {
    if (!seconds) return;
    all.emplace_back();
    all.back().baseline = kind;
    all.back().seconds = *seconds;
  };
  add(Baseline::kFp32, fp32_s);
  add(Baseline::kFp16, fp16_s);
  add(Baseline::kNone, compressed_s);
  return choose(all).verdict;
}

}  // namespace gradwire::results
