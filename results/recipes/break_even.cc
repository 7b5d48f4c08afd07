#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "results/advice/choice.h"
#include "results/advice/crossover.h"
#include "results/prediction/stored_summary.h"
#include "results/recipes/recipe.h"
#include "results/report/choice.h"

namespace gradwire::results {
namespace {

/// A group's step as the closed form sees it, and its known time.
struct KnownStep {
  Candidate candidate;
  StepPoint point;
};

std::vector<KnownStep> known_steps(const RecipeRuns& runs, const Section& section) {
  std::vector<KnownStep> all;
  for (const ReportGroup* group : members(runs.data, section)) {
    const auto step =
        stored_summary(runs.store.metrics(first_run(*group)), header_of(*group).scenario_json);
    const Statistic& time = group->group.step_time_s;
    if (!step || !(time.mean > 0) || !(step->bandwidth > 0)) continue;
    const std::string method = method_of_scenario(header_of(*group).scenario_json);
    Candidate candidate;
    candidate.method = group->name;
    candidate.baseline = baseline_of(method);
    candidate.step = *step;
    all.push_back({candidate, {group->name, *step, time.mean, relative_error_of(time)}});
  }
  return all;
}

bool compares(const std::vector<KnownStep>& all) {
  const auto plain = [](const KnownStep& k) { return k.candidate.baseline != Baseline::kNone; };
  return std::ranges::any_of(all, plain) && !std::ranges::all_of(all, plain);
}

/// How much faster than the fastest plain step of these runs the method's is; 0.03 = 3 %.
double gain_of(const std::vector<KnownStep>& all, const std::string& method) {
  double plain = std::numeric_limits<double>::infinity(), own = std::nan("");
  for (const KnownStep& known : all) {
    if (known.candidate.baseline != Baseline::kNone) plain = std::min(plain, known.point.seconds);
    if (known.candidate.method == method) own = known.point.seconds;
  }
  return plain / own - 1;
}

/// By the model, and by the runs where they say otherwise.
std::string verdict(const Crossover& crossing, double rate_bps, double gain) {
  const bool pays = crossing.rate ? rate_bps < 8 * *crossing.rate : crossing.wins_always;
  std::string words = !crossing.rate ? (pays ? "pays at any rate" : "pays at no rate")
                      : pays         ? "pays here"
                                     : "does not pay here";
  if (pays != (gain > kTie))
    words += pays ? "; these runs do not show it" : "; in these runs it did";
  return words;
}

/// Of one method, over the conditions.
struct Rates {
  std::vector<double> below_bps;
  int always = 0, never = 0;
};

std::string in_words(const std::string& method, const Rates& rates) {
  std::vector<std::pair<std::string, int>> parts;  // and how many conditions
  const Statistic below = statistic(rates.below_bps);
  const auto rate = [](double bps) { return format_value(bps, Quantity::kBitRate); };
  if (below.n > 0)
    parts.emplace_back(
        "below " + rate(below.least) +
            (below.greatest > 1.01 * below.least ? " to " + rate(below.greatest) : ""),
        below.n);
  if (rates.always > 0) parts.emplace_back("at any rate", rates.always);
  if (rates.never > 0) parts.emplace_back("at no rate", rates.never);
  std::string words = method + " pays ";
  for (const auto& [part, n] : parts)
    words += (&part == &parts[0].first ? "" : ", ") + part +
             (parts.size() > 1 ? " (" + std::to_string(n) + " conditions)" : "");
  return words;
}

void add_crossings(const RecipeRuns& runs, const Section& section,
                   const std::vector<KnownStep>& all, const StepFit& fit, RecipeAnswer& answer,
                   std::map<std::string, Rates>& rates) {
  std::vector<Candidate> candidates;
  for (const KnownStep& known : all) candidates.push_back(known.candidate);
  const double here = 8 * all[0].candidate.step.bandwidth;
  for (const Crossover& crossing : crossovers(candidates, fit.constants, {.margin = kTie})) {
    const double gain = gain_of(all, crossing.method);
    const double rate = crossing.rate ? 8 * *crossing.rate : std::nan("");
    answer.table.rows.push_back({runs.workload, section.label, crossing.method,
                                 static_cast<double>(crossing.workers), here, rate, gain,
                                 verdict(crossing, here, gain)});
    Rates& own = rates[crossing.method];
    if (crossing.rate)
      own.below_bps.push_back(rate);
    else
      ++(crossing.wins_always ? own.always : own.never);
  }
}

std::string add_break_even(const RecipeRuns& runs, RecipeAnswer& answer) {
  std::vector<StepPoint> points;
  std::vector<std::pair<const Section*, std::vector<KnownStep>>> sections;
  for (const Section& section : runs.data.sections) {
    if (!steps_compare(members(runs.data, section))) continue;
    std::vector<KnownStep> all = known_steps(runs, section);
    for (const KnownStep& known : all) points.push_back(known.point);
    if (compares(all)) sections.emplace_back(&section, std::move(all));
  }
  if (points.empty()) return "no run has a summary of its step for the closed form";
  if (sections.empty())
    return "it takes runs that compress and runs that send fp32 or fp16 under one condition";
  const StepFit fit = fit_steps(points);
  std::map<std::string, Rates> rates;
  for (const auto& [section, all] : sections)
    add_crossings(runs, *section, all, fit, answer, rates);
  std::string words;
  for (const auto& [method, own] : rates)
    words += (words.empty() ? "" : "; ") + in_words(method, own);
  answer.sentences.push_back(runs.workload + ": " + words + ".");
  return "";
}

}  // namespace

Recipe break_even_recipe() {
  using Kind = DataColumn::Kind;
  return {"break-even",
          "Up to which link rate does compression pay?",
          "The closed form, fitted to the workload's runs, asked at other rates of the workers' "
          "links (10 Mbps to 1 Tbps, all else as it was): below the rate a method's step is 3 % "
          "faster than fp32's and fp16's. Predicted, not run; what these runs themselves gained "
          "over the "
          "faster of the two stands beside it. Accuracy is not part of it.",
          "run the same scenario with and without compression, such as scenarios/alexnet.json",
          {{"workload", "workload", Quantity::kPlain, Kind::kText},
           {"condition", "condition", Quantity::kPlain, Kind::kText},
           {"method", "method", Quantity::kPlain, Kind::kText},
           {"workers", "workers", Quantity::kCount},
           {"rate_bps", "these runs", Quantity::kBitRate},
           {"break_even_bps", "pays below", Quantity::kBitRate},
           {"gain_here", "faster in these runs", Quantity::kShare},
           {"verdict", "verdict", Quantity::kPlain, Kind::kText}},
          add_break_even};
}

}  // namespace gradwire::results
