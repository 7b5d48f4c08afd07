#include "results/scalability/words.h"

#include <algorithm>
#include <cmath>

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
  return best.dense && all.data.series.size() == 1 ? "without compression"
         : best.dense                              ? "without compression (" + best.name + ")"
                                                   : "with " + best.name;
}

std::string reached_sentence(const Scalability& all) {
  const std::size_t best = all.best;
  const int at = all.options.at;
  const auto answer = all.answer(best, at);
  if (!answer) return "No series has a time at " + workers_words(at) + ".";
  std::string text = workers_words(at) + " " + name_of_best(all) + " process ";
  if (all.data.series[best].samples <= 0)
    text = workers_words(at) + " " + name_of_best(all) + " do ";
  text += rate_words(all, all.throughput(best, at, answer->seconds));
  const double low = all.throughput(best, at, answer->high_s),
               high = all.throughput(best, at, answer->low_s);
  if (all.throughput_text(low) != all.throughput_text(high))
    text += " (90 % interval: " + all.throughput_text(low) + " to " + all.throughput_text(high) + ")";
  text += " at " + format_value(answer->seconds, Quantity::kSeconds) + " a step (" +
          how_known(all, best, at) + ")";
  if (all.computes)
    text += ", " + percent(all.efficiency(best, at, answer->seconds)) + " of what " +
            std::to_string(at) + " workers without an exchange would";
  return text + ".";
}

std::string reach_sentence(const Scalability& all) {
  const auto& reach = all.reach[all.best];
  const std::string target = "an efficiency of " + percent(all.options.target);
  if (!all.model(all.best))
    return "No closed form describes this exchange: nothing is said beyond the runs.";
  if (!all.computes)
    return "Nothing is computed between exchanges, so efficiency has no meaning here.";
  if (!reach || !reach->value) {
    const CurvePoint two = all.predicted(all.best, 2);
    const auto peak = peak_of(all);
    return "The target of " + target + " is unreachable: two workers already have " +
           percent(two.efficiency()) + ", as " + largest_part(two.prediction.time) +
           " (predicted)" + (peak ? "; " + peak_words(all, *peak) : "") + ".";
  }
  const int most = all.data.series[all.best].most_workers(), to = all.options.model.up_to;
  if (*reach->value > to)
    return "At " + target + " it scales to more than " + workers_words(to) +
           (to > most ? " (extrapolated from " + std::to_string(most) + ")" : "") +
           "; no more were asked for.";
  const int n = static_cast<int>(*reach->value);
  std::string text = "At " + target + " it scales to " + workers_words(n);
  const int low = static_cast<int>(reach->low),
            high = static_cast<int>(std::min<double>(reach->high, 1e6));
  if (low < high)
    text += " (90 % band: " + std::to_string(low) + " to " + std::to_string(high) + ")";
  return text + (n > most ? ", which is beyond the runs' " + std::to_string(most) : "") +
         " (predicted).";
}

std::string do_sentence(const Scalability& all) {
  std::string text = compress_words(all, peak_of(all));
  text = text.substr(0, text.find(kToFindOut));  // it stands under "What to do"
  if (text.empty())
    if (const auto list = recommendations(all); !list.empty()) text = list.front();
  if (!all.model(all.best))
    return text.empty() ? "These runs alone support no recommendation." : capital(text);
  const CurvePoint point = all.predicted(all.best, all.options.at);
  const std::string what = "On " + workers_words(all.options.at) + ", " +
                           largest_part(point.prediction.time) + " (predicted)";
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
  const ScaleSeries& first = all.data.series[0];
  list.push_back(
      "Weak scaling: each worker keeps its batch, so the global batch grows with the "
      "workers. Whether training then needs more epochs is not said here.");
  list.push_back("Compute and codec times (" + first.compute_provenance + ", " +
                 first.header.device + ") are one worker's, and the same for all, on any number.");
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
    if (!model) continue;
    for (const std::string& name : model->open)
      if (std::ranges::find(open, name) == open.end()) open.push_back(name);
  }
  if (!open.empty())
    list.push_back("The runs do not show " + in_words(open) +
                   " in every series: there usual values are taken, and the band allows for them.");
  return list;
}

}  // namespace gradwire::results
