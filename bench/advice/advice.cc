#include "bench/advice/advice.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <map>

#include "base/temporary_file.h"
#include "base/thread_team.h"
#include "bench/advice/advice_cases.h"
#include "bench/advice/gather_rule.h"
#include "bench/fidelity/statistics.h"
#include "results/advice/ranking.h"
#include "runner/prediction/advice.h"
#include "scenarios/share.h"

namespace gradwire::bench {
namespace {

using results::Baseline;
using results::Verdict;

struct Judged {
  Verdict predicted{}, simulated{};
  bool verdict_agrees = false;
  bool choice_agrees = false;  ///< the model's choice is within a tie of flow's fastest
  bool naive_agrees = false;   ///< so is the choice of the fewest bytes on the busiest link
  double regret = 0;           ///< flow's time of the model's choice over flow's fastest - 1
  std::vector<double> errors;  ///< predicted / simulated - 1, of every candidate
  std::string line;
};

/// What flow took for a case's candidates, in the order of the model's ranking.
struct Simulated {
  std::vector<double> seconds;
  double fastest = std::numeric_limits<double>::infinity();
  std::map<Baseline, double> best;

  std::optional<double> of(Baseline baseline) const {
    const auto found = best.find(baseline);
    if (found == best.end()) return std::nullopt;
    return found->second;
  }
  /// The best of the kind that a verdict takes.
  double of(Verdict verdict) const {
    return best.at(verdict == Verdict::kDoNotCompress ? Baseline::kFp32
                   : verdict == Verdict::kHalves      ? Baseline::kFp16
                                                      : Baseline::kNone);
  }
};

Simulated simulate(const scenarios::Scenario& scenario, const results::Advice& advice) {
  Simulated simulated;
  for (const results::RankedCandidate& ranked : advice.ranked) {
    const double seconds = runner::flow_seconds(scenario, ranked.candidate);
    simulated.seconds.push_back(seconds);
    simulated.fastest = std::min(simulated.fastest, seconds);
    const auto [at, fresh] = simulated.best.emplace(ranked.candidate.baseline, seconds);
    if (!fresh) at->second = std::min(at->second, seconds);
  }
  return simulated;
}

/// The candidate whose busiest link carries the fewest bytes: no times, no codecs.
std::size_t fewest_bytes(const results::Advice& advice) {
  const auto bytes = [](const results::RankedCandidate& ranked) {
    const results::StepSummary& step = ranked.candidate.step;
    return step.message_bytes() *
           results::messages_carried(step.exchange, step.workers, step.group);
  };
  const auto least =
      std::min_element(advice.ranked.begin(), advice.ranked.end(),
                       [&](const auto& a, const auto& b) { return bytes(a) < bytes(b); });
  return static_cast<std::size_t>(least - advice.ranked.begin());
}

/// The step that the model takes for the fastest of the verdict's kind. (The one that is chosen may
/// be up to a tie slower, for its accuracy.)
std::size_t model_choice(const results::Advice& advice) {
  return advice.verdict() == Verdict::kCompress ? *advice.choice.compressed : *advice.choice.chosen;
}

std::string line_of(const AdviceCase& given, const results::Advice& advice,
                    const Simulated& simulated, const Judged& judged) {
  const auto fastest = std::min_element(simulated.seconds.begin(), simulated.seconds.end()) -
                       simulated.seconds.begin();
  const auto& chosen = advice.ranked[model_choice(advice)];
  const auto& best = advice.ranked[static_cast<std::size_t>(fastest)];
  const auto worst =
      std::max_element(judged.errors.begin(), judged.errors.end(),
                       [](double a, double b) { return std::abs(a) < std::abs(b); }) -
      judged.errors.begin();
  const auto& off = advice.ranked[static_cast<std::size_t>(worst)].candidate;
  char text[500];
  std::snprintf(text, sizeof text,
                "%s: %s, %s by %s, %.4g s (flow %.4g); flow: %s, %s by %s, %.4g s%s; largest error "
                "%+.1f %%, %s by %s",
                given.name.c_str(), std::string(name_of(judged.predicted)).c_str(),
                chosen.candidate.method.c_str(), chosen.candidate.collective.c_str(),
                chosen.seconds(), simulated.seconds[model_choice(advice)],
                std::string(name_of(judged.simulated)).c_str(), best.candidate.method.c_str(),
                best.candidate.collective.c_str(), simulated.fastest,
                judged.verdict_agrees && judged.choice_agrees ? "" : " DISAGREES",
                100 * judged.errors[static_cast<std::size_t>(worst)], off.method.c_str(),
                off.collective.c_str());
  return text;
}

Judged judged(const AdviceCase& given) {
  const TemporaryFile device(given.device, ".json");
  const auto scenario = advice_scenario(given, device.path());
  std::vector<std::string> left_out;
  const auto candidates = runner::advice_candidates(scenario, {}, given.workers, left_out);
  const results::Advice advice = results::advise(candidates, results::usual_fit());
  const Simulated simulated = simulate(scenario, advice);
  Judged result;
  result.predicted = advice.verdict();
  result.simulated = results::verdict_of(
      simulated.of(Baseline::kFp32), simulated.of(Baseline::kFp16), simulated.of(Baseline::kNone));
  const double ours = simulated.of(result.predicted), theirs = simulated.of(result.simulated);
  result.verdict_agrees = result.predicted == result.simulated ||
                          std::max(ours, theirs) <= (1 + results::kTie) * std::min(ours, theirs);
  result.regret = simulated.seconds[model_choice(advice)] / simulated.fastest - 1;
  result.choice_agrees = result.regret <= results::kTie;
  result.naive_agrees =
      simulated.seconds[fewest_bytes(advice)] <= (1 + results::kTie) * simulated.fastest;
  for (std::size_t i = 0; i < advice.ranked.size(); ++i)
    result.errors.push_back(advice.ranked[i].seconds() / simulated.seconds[i] - 1);
  result.line = line_of(given, advice, simulated, result);
  return result;
}

/// Two at a time, results in the cases' order.
std::vector<Judged> judge_all(const std::vector<AdviceCase>& cases) {
  std::vector<Judged> all(cases.size());
  ThreadTeam(2).run(cases.size(), [&](std::size_t i) { all[i] = judged(cases[i]); });
  return all;
}

template <typename Test>
double count(const std::vector<Judged>& all, Test test) {
  return static_cast<double>(std::count_if(all.begin(), all.end(), test));
}

void add_verdict_rows(const std::vector<Judged>& all, std::vector<BenchRow>& rows) {
  const auto add = [&](const char* name, double value, const char* provenance) {
    rows.push_back({.name = std::string("advice.") + name,
                    .value = value,
                    .unit = "cases",
                    .provenance = provenance});
  };
  add("cases", static_cast<double>(all.size()), "given");
  for (const auto& [name, verdict] :
       {std::pair{"flow_says.do_not_compress", Verdict::kDoNotCompress},
        std::pair{"flow_says.fp16", Verdict::kHalves},
        std::pair{"flow_says.compress", Verdict::kCompress}})
    add(name, count(all, [&](const Judged& one) { return one.simulated == verdict; }), "simulated");
  const double agree =
      count(all, [](const Judged& one) { return one.verdict_agrees && one.choice_agrees; });
  rows.push_back({.name = "advice.agree",
                  .value = agree,
                  .unit = "cases",
                  .bar = std::floor(0.9 * static_cast<double>(all.size())),
                  .at_most = false});
  add("same_verdict", count(all, [](const Judged& one) { return one.predicted == one.simulated; }),
      "predicted");
  add("fewest_bytes_agree", count(all, [](const Judged& one) { return one.naive_agrees; }),
      "predicted");
}

void add_error_rows(const std::vector<Judged>& all, std::vector<BenchRow>& rows) {
  std::vector<double> errors;
  double regret = 0;
  for (const Judged& one : all) {
    for (const double error : one.errors) errors.push_back(std::abs(error));
    regret = std::max(regret, one.regret);
  }
  rows.push_back({"advice.worst_regret", regret, "share"});
  rows.push_back({"advice.candidates", static_cast<double>(errors.size()), "steps"});
  rows.push_back({"advice.median_error", median_of(errors), "share"});
  rows.push_back({"advice.p95_error", quantile_of(errors, 0.95), "share"});
  rows.push_back({"advice.worst_error", quantile_of(errors, 1), "share"});
}

}  // namespace

std::vector<BenchRow> bench_advice(const AdviceOptions& options, const Say& say) {
  std::vector<BenchRow> rows;
  if (options.cases > 0) {
    say("simulating every candidate of " + std::to_string(options.cases) + " cases");
    const auto all = judge_all(advice_cases(options.seed, options.cases, options.most_workers));
    if (options.list)
      for (const Judged& one : all) say(one.line);
    add_verdict_rows(all, rows);
    add_error_rows(all, rows);
  }
  if (!options.rule_workers.empty())
    say("looking for the ratio at which an all-gather breaks even");
  for (const int workers : options.rule_workers) add_gather_rule_rows(workers, rows);
  return labelled(std::move(rows), "predicted");
}

}  // namespace gradwire::bench
