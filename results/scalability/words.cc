#include "results/scalability/words.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/joined_texts.h"
#include "results/prediction/fit_ground.h"
#include "results/runs/scenario_view.h"
#include "results/scalability/figures.h"
#include "results/scalability/phrases.h"

namespace gradwire::results {
namespace {

/// "1Gbps" -> "1 Gbps".
std::string spaced(std::string quantity) {
  const auto unit = std::ranges::find_if(
      quantity, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; });
  if (unit != quantity.end() && unit != quantity.begin()) quantity.insert(unit, ' ');
  return quantity;
}

std::string name_of_best(const Scalability& all) {
  const ScaleSeries& best = all.data.series[all.best];
  if (best.dense)
    return "without compression" + (all.data.series.size() == 1 ? "" : " (" + best.name + ")");
  const Standing standing = all.evidence[all.best].standing;
  return "with " + best.name +
         (standing == Standing::kKeeps   ? ""
          : standing == Standing::kLoses ? " (which loses accuracy, as all series here do)"
                                         : " (accuracy " + std::string(name_of(standing)) + ")");
}

std::string reached_sentence(const Scalability& all) {
  const std::size_t best = all.best;
  const int at = all.options.at;
  const auto answer = all.answer(best, at);
  if (!answer)
    return "Nothing is said about " + workers_words(at) +
           ": no run has so many, and no model holds there.";
  std::string text = workers_words(at) + " " + name_of_best(all) +
                     (all.data.series[best].samples > 0 ? " process " : " do ");
  text += rate_words(all, all.throughput(best, at, answer->seconds));
  const double low = all.throughput(best, at, answer->high_s),
               high = all.throughput(best, at, answer->low_s);
  if (all.throughput_text(low) != all.throughput_text(high))
    text +=
        " (90 % interval: " + all.throughput_text(low) + " to " + all.throughput_text(high) + ")";
  text += " at " + format_value(answer->seconds, Quantity::kSeconds) + " a step (" +
          how_known(all, best, at) + ")";
  if (all.computes)
    text += ", " + percent(all.efficiency(best, at, answer->seconds)) + " of what " +
            std::to_string(at) + " workers without an exchange would";
  if (!all.comparable)
    text +=
        "; the fastest of the series that may be recommended, which differ in more than the method";
  return text + ".";
}

/// "80.4 % (predicted; 90 % range: 78.1 % to 82.7 %)"
std::string efficiency_words(const Scalability& all, std::size_t series, int workers) {
  const ScaleAnswer answer = *all.answer(series, workers);
  const CurvePoint point = all.predicted(series, workers);
  const std::string low =
      percent(answer.known ? point.alone_s / answer.high_s : point.efficiency_low);
  const std::string high =
      percent(answer.known ? point.alone_s / answer.low_s : point.efficiency_high);
  return percent(point.alone_s / answer.seconds) + " (" + how_known(all, series, workers) +
         (low == high ? "" : "; 90 % range: " + low + " to " + high) + ")";
}

double row_efficiency(const Scalability& all, int workers) {
  return all.efficiency(all.best, workers, all.answer(all.best, workers)->seconds);
}

/// No row of the best series has the target's efficiency.
std::string unmet_words(const Scalability& all, const std::vector<int>& rows) {
  const int best =
      *std::ranges::max_element(rows, {}, [&](int n) { return row_efficiency(all, n); });
  const std::string target =
      " the target of an efficiency of " + percent(all.options.target) +
      (all.data.series.size() > 1 ? " with " + all.data.series[all.best].name : "");
  if (best == 2)
    return "Not even 2 workers have" + target + ": theirs is " +
           efficiency_words(all, all.best, 2) + ", as " + largest_part(all, 2);
  return "None of the numbers of workers below has" + target + ": the most is " +
         efficiency_words(all, all.best, best) + ", on " + workers_words(best);
}

/// The last row that has the target's efficiency, what comes after it, and fewer workers without.
std::string reach_words(const Scalability& all, const std::vector<int>& rows) {
  const auto at = std::ranges::find(rows, *all.reach[all.best]);
  std::string text = "At an efficiency of " + percent(all.options.target) + " it scales to " +
                     workers_words(*at) + (at + 1 == rows.end() ? " at least" : "") + ", with " +
                     efficiency_words(all, all.best, *at);
  if (at + 1 != rows.end())
    text += "; " + workers_words(at[1]) + " have " + efficiency_words(all, all.best, at[1]);
  const auto fewer = std::find_if(
      rows.begin(), at, [&](int n) { return row_efficiency(all, n) < all.options.target; });
  if (fewer != at)
    text += "; " + workers_words(*fewer) +
            ", too, have less: " + efficiency_words(all, all.best, *fewer);
  return text;
}

/// A rival that has the target's efficiency on more workers than the best series.
std::string farther_words(const Scalability& all) {
  std::size_t farthest = all.best;
  for (std::size_t i = 0; i < all.reach.size(); ++i)
    if (all.is_rival(i) && all.reach[i].value_or(0) > all.reach[farthest].value_or(0)) farthest = i;
  if (farthest == all.best) return "";
  const int n = *all.reach[farthest];
  return "; with " + all.data.series[farthest].name + " " + workers_words(n) + " have " +
         efficiency_words(all, farthest, n);
}

std::string reach_sentence(const Scalability& all) {
  if (!all.model(all.best))
    return "No closed form describes this exchange: nothing is said beyond the runs.";
  if (!all.computes)
    return "Nothing is computed between exchanges, so efficiency has no meaning here.";
  std::vector<int> rows = shown_workers(all, all.best);
  std::erase(rows, 1);
  const auto peak = peak_of(all);
  return (rows.empty()          ? "Nothing is said about two and more workers"
          : all.reach[all.best] ? reach_words(all, rows)
                                : unmet_words(all, rows)) +
         farther_words(all) + (peak ? "; " + peak_words(all, *peak) : "") + ".";
}

/// "measured, v100": of all series.
std::string compute_words(const Scalability& all) {
  std::set<std::string> seen;
  for (const ScaleSeries& series : all.data.series)
    seen.insert(series.compute_provenance + ", " + series.header.device);
  return joined_texts(seen, "; ");
}

/// How far figures under the runs may be from the truth, at most.
std::string assumed_words(const Scalability& all) {
  AssumedFigures widest;
  const auto widen = [](PlausibleRange& range, const PlausibleRange& by) {
    range.low = std::min(range.low, by.low);
    range.high = std::max(range.high, by.high);
  };
  for (const ScaleSeries& series : all.data.series)
    for (const ScalePoint& point : series.points) {
      if (!point.step) continue;
      widen(widest.compute, point.step->assumed.compute);
      widen(widest.coding, point.step->assumed.coding);
    }
  return in_words(widest);
}

std::string do_sentence(const Scalability& all) {
  std::string text = compress_words(all, peak_of(all));
  text = text.substr(0, text.find(kToFindOut));  // it stands under "What to do"
  if (text.empty())
    if (const auto list = recommendations(all); !list.empty()) text = list.front();
  const std::string part = largest_part(all, all.options.at);
  if (part.empty())
    return text.empty() ? "These runs alone support no recommendation." : capital(text);
  const std::string what = "On " + workers_words(all.options.at) + ", " + part;
  if (text.empty()) return what + ".";
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return what + ": " + text;
}

}  // namespace

std::string question_of(const Scalability& all) {
  const RunHeader& header = all.data.series[0].header;
  const std::string bandwidth = scenario_value(header.scenario_json, "/network/link/bandwidth");
  const bool one = all.comparable && !bandwidth.empty();
  return "How far does " + (header.model.empty() ? header.scenario_name : header.model) +
         (one ? " scale over links of " + spaced(bandwidth) : " scale") +
         ", and what should be changed?";
}

std::vector<std::string> short_answer(const Scalability& all) {
  return {reached_sentence(all), reach_sentence(all), do_sentence(all)};
}

std::string error_words(const Scalability& all) {
  FitGround ground;
  for (const auto& model : all.models)
    if (model)
      for (const auto& [provenance, count] : model->fit.ground.points)
        ground.points[provenance] += count;
  return error_words(ground);
}

std::string validation_words(const Scalability& all) {
  std::vector<double> errors;
  int inside = 0;
  double beyond = 1;
  for (const auto& model : all.models) {
    if (!model) continue;
    for (const HeldBack& held : model->validation.held) {
      errors.push_back(std::abs(held.error()));
      inside += held.inside();
      beyond = std::max(beyond, 1.0 * held.workers / model->validation.fitted.back());
    }
  }
  if (errors.empty())
    return "Nothing could be held back: no series has runs on two numbers of workers. Run it on "
           "more before trusting anything beyond the runs.";
  std::ranges::sort(errors);
  const std::size_t n = errors.size();
  const double median = n % 2 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
  return "Fitted on the fewer workers and asked about the larger ones, the model misses " +
         std::to_string(n) + (n == 1 ? " run by " : " runs by a median of ") + percent(median) +
         (n == 1 ? "" : ", at worst " + percent(errors.back())) + "; " + error_words(all) +
         ". In its 90 % band lie " + std::to_string(inside) + " of " + std::to_string(n) +
         ", up to " + format_value(beyond, Quantity::kPlain) +
         " times the workers that it was fitted on.";
}

std::vector<std::string> assumptions_of(const Scalability& all) {
  std::vector<std::string> list;
  if (all.data.series[0].samples > 0)
    list.push_back(
        "Weak scaling: each worker keeps its batch, so the global batch grows with the workers. "
        "Whether training then needs more epochs is not said here.");
  list.push_back("Compute and codec times (" + compute_words(all) +
                 ") are one worker's, and the same for all, on any number.");
  if (const std::string assumed = assumed_words(all); !assumed.empty())
    list.push_back("These times may be others (" + assumed +
                   "): ranges of runs do not allow for that" +
                   (all.any_holds() ? ", those of predictions do." : "."));
  if (all.any_holds())
    list.push_back(
        "Beyond the runs the network is the scenario's at that size: every further worker gets the "
        "same link, and nobody else uses it.");
  if (!all.sensitivity.empty())
    list.push_back("What moves the answer is asked of the model one input at a time.");
  if (!all.comparable)
    list.push_back(
        "The series differ in more than the method: which of them to take is not only a "
        "matter of compression.");
  std::vector<std::string> open;
  for (const auto& model : all.models) {
    if (!model || !model->holds()) continue;
    for (const std::string& name : model->open)
      if (std::ranges::find(open, name) == open.end()) open.push_back(name);
  }
  if (!open.empty())
    list.push_back("The runs do not show " + in_words(open) +
                   " in every series: there usual values are taken, and the band allows for them.");
  return list;
}

}  // namespace gradwire::results
