#include <algorithm>
#include <cmath>

#include "results/prediction/solve.h"
#include "results/scalability/figures.h"
#include "results/scalability/phrases.h"
#include "results/scalability/words.h"

/// What to do.
namespace gradwire::results {
namespace {

std::string fewer_words(const Scalability& all, const std::optional<Peak>& peak) {
  if (!peak) return "";
  return "run " + workers_words(peak->workers) + " rather than " + std::to_string(all.options.at) +
         ": " + peak_words(all, *peak) + ".";
}

/// Where another series is ahead of the best one beyond options.at.
std::string overtaking_words(const Scalability& all) {
  if (!all.comparable) return "";
  for (const int n : shown_workers(all, all.best)) {
    if (n <= all.options.at) continue;
    const double ours = all.answer(all.best, n)->seconds;
    std::size_t ahead = all.best;
    double least = ours / (1 + kTie);
    for (std::size_t i = 0; i < all.data.series.size(); ++i) {
      const auto answer = all.answer(i, n);
      if (!answer || answer->seconds >= least || !all.evidence[i].may_be_recommended()) continue;
      ahead = i;
      least = answer->seconds;
    }
    if (ahead == all.best) continue;
    return "before growing beyond " + workers_words(all.options.at) + ", think again: on " +
           std::to_string(n) + ", " + all.data.series[ahead].name + " is ahead of " +
           all.data.series[all.best].name + " (" + format_value(least, Quantity::kSeconds) +
           " against " + format_value(ours, Quantity::kSeconds) + " a step; " +
           how_known(all, ahead, n) + "). " + capital(all.evidence[ahead].words) + ".";
  }
  return "";
}

std::string lever_words(const Scalability& all) {
  const SensitivityRow* lever = nullptr;
  for (const SensitivityRow& row : all.sensitivity)
    if (row.note.empty() && (!lever || row.reach() > lever->reach())) lever = &row;
  if (!lever || lever->reach() < 0.005)
    return "no input that was tried moves the throughput by 0.5 %: compute decides.";
  const bool more = lever->more >= lever->less;
  return "what moves the throughput most on " + workers_words(all.options.at) + " is the " +
         lever->input + ": 20 % " + (more ? "more" : "less") + " gives " +
         percent(std::max(lever->more, lever->less), true) + " (predicted).";
}

/// The slowest links with which a series has the target's efficiency on options.at workers.
struct RequiredRate {
  std::size_t series = 0;
  StepSummary step;
  Solution rate;
};

std::optional<RequiredRate> required_rate(const Scalability& all) {
  std::optional<RequiredRate> least;
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    if (!all.is_rival(i) || !all.holds(i, all.options.at)) continue;
    RequiredRate one{i, all.predicted(i, all.options.at).step, {}};
    one.rate =
        solve_step(all.model(i)->fit, one.step, SolveFor::kBandwidth,
                   {Target::Kind::kEfficiency, all.options.target}, all.data.series[i].samples);
    const bool slower =
        least && one.rate.value && (!least->rate.value || *one.rate.value < *least->rate.value);
    if (!least || slower) least = std::move(one);
  }
  return least;
}

std::string bandwidth_words(const Scalability& all) {
  const int at = all.options.at;
  const auto answer = all.answer(all.best, at);
  if (!all.computes || !answer || !all.model(all.best) ||
      all.efficiency(all.best, at, answer->seconds) >= all.options.target)
    return "";
  const auto least = required_rate(all);
  if (!least) return "";
  const std::string head = percent(all.options.target) + " on " + workers_words(at) + " ";
  if (!least->rate.value)
    return head + "is unreachable by faster links alone (" + least->rate.limit + ").";
  // A model's step may be a little shorter than the runs', which do not have the target's.
  if (*least->rate.value <= least->step.bandwidth) return "";
  const auto text = [](double rate) { return format_value(8 * rate, Quantity::kBitRate); };
  return head + "takes links of " + text(*least->rate.value) +
         (least->rate.low < least->rate.high
              ? " (90 % band: " + text(least->rate.low) + " to " + text(least->rate.high) + ")"
              : "") +
         " instead of " + text(least->step.bandwidth) +
         (all.data.series.size() > 1 ? ", with " + all.data.series[least->series].name : "") +
         " (predicted).";
}

void add(std::vector<std::string>& list, const std::string& text) {
  if (text.empty()) return;
  list.push_back(capital(text));
}

}  // namespace

std::vector<std::string> recommendations(const Scalability& all) {
  std::vector<std::string> list;
  const auto peak = peak_of(all);
  add(list, fewer_words(all, peak));
  add(list, compress_words(all, peak));
  add(list, overtaking_words(all));
  if (!all.sensitivity.empty()) add(list, lever_words(all));
  add(list, bandwidth_words(all));
  return list;
}

std::vector<std::string> accuracy_notes(const Scalability& all) {
  std::vector<std::string> notes;
  for (std::size_t i = 0; i < all.data.series.size(); ++i)
    if (!all.data.series[i].dense)
      notes.push_back(all.data.series[i].name + ": " + all.evidence[i].words + ".");
  return notes;
}

}  // namespace gradwire::results
