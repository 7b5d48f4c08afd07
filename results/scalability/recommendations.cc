#include <algorithm>
#include <cmath>

#include "results/scalability/figures.h"
#include "results/scalability/phrases.h"
#include "results/scalability/words.h"

/// What to do.
namespace gradwire::results {
namespace {

std::string fewer_words(const Scalability& all, const std::optional<Peak>& peak) {
  if (!peak) return "";
  return "run " + workers_words(peak->workers) + " rather than " +
         std::to_string(all.options.at) + ": " + peak_words(all, *peak) + ".";
}

/// Where another series gets ahead of the best one beyond options.at.
std::string overtaking_words(const Scalability& all) {
  if (!all.comparable || !all.model(all.best)) return "";
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
    return "before growing beyond " + workers_words(all.options.at) + ", think again: from " +
           std::to_string(n) + " on, " + all.data.series[ahead].name + " is ahead of " +
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
  return "of what can be changed, " + lever->input + " counts most on " +
         workers_words(all.options.at) + ": 20 % " + (more ? "more" : "less") + " gives " +
         percent(std::max(lever->more, lever->less), true) + " of throughput (predicted).";
}

std::string bandwidth_words(const Scalability& all) {
  const SeriesModel* model = all.model(all.best);
  if (!model || !all.computes) return "";
  const CurvePoint point = all.predicted(all.best, all.options.at);
  if (point.efficiency() >= all.options.target) return "";
  const Solution rate = solve_step(model->fit, point.step, SolveFor::kBandwidth,
                                   {Target::Kind::kEfficiency, all.options.target},
                                   all.data.series[all.best].samples);
  const std::string head =
      percent(all.options.target) + " on " + workers_words(all.options.at) + " ";
  if (!rate.value) return head + "is unreachable by faster links alone (" + rate.limit + ").";
  std::string text = head + "takes links of " + format_value(8 * *rate.value, Quantity::kBitRate);
  if (rate.low < rate.high)
    text += " (90 % band: " + range_words(8 * rate.low, 8 * rate.high, Quantity::kBitRate) + ")";
  return text + " instead of " + format_value(8 * point.step.bandwidth, Quantity::kBitRate) + ".";
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
