#include "results/scalability/words.h"

#include <algorithm>
#include <cmath>

#include "results/advice/ranking.h"
#include "results/scalability/figures.h"
#include "results/scenario_view.h"

namespace gradwire::results {
namespace {

std::string workers_words(int n) {
  return std::to_string(n) + " workers";
}

std::string rate_words(const Scalability& all, double value) {
  return all.throughput_text(value) + " " + all.throughput_unit();
}

/// "simulated", or "predicted, extrapolated".
std::string how_known(const Scalability& all, std::size_t series, int workers) {
  const auto answer = all.answer(series, workers);
  if (answer->known) return answer->provenance;
  return all.within_runs(series, workers) ? "predicted" : "predicted, extrapolated";
}

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
    text += " (90 %: " + all.throughput_text(low) + " to " + all.throughput_text(high) + ")";
  text += " at " + format_value(answer->seconds, Quantity::kSeconds) + " a step (" +
          how_known(all, best, at) + ")";
  if (all.computes)
    text += ", " + percent(all.efficiency(best, at, answer->seconds)) + " of what " +
            std::to_string(at) + " lone workers would";
  return text + ".";
}

/// The part of a step that is largest beside compute.
std::string largest_part(const StepTime& time) {
  const std::pair<double, const char*> parts[] = {
      {time.exposed_s, "communication that nothing hides"},
      {time.encode_s, "encoding"},
      {time.decode_s, "decoding and adding messages"}};
  const auto* most = std::ranges::max_element(parts, {}, &std::pair<double, const char*>::first);
  return most->first > 0 ? percent(most->first / time.total_s) + " of a step is " + most->second
                         : "compute hides all of its communication";
}

/// Where the best series' throughput is highest, on fewer than options.at: more workers lose.
std::string peak_words(const Scalability& all) {
  double most = 0, now = 0;
  int peak = 0;
  for (const int n : shown_workers(all, all.best)) {
    if (n > all.options.at) break;
    const double value = all.throughput(all.best, n, all.answer(all.best, n)->seconds);
    if (n == all.options.at) now = value;
    if (value <= most) continue;
    most = value;
    peak = n;
  }
  if (all.data.series[all.best].samples <= 0 || peak >= all.options.at || now * (1 + kTie) > most)
    return "";
  return "more workers do less: the throughput is highest on " + workers_words(peak) + " (" +
         rate_words(all, most) + "; " + how_known(all, all.best, peak) + ").";
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
    const std::string peak = peak_words(all);
    return "It does not scale at " + target + ": two workers already have " +
           percent(two.efficiency()) + ", as " + largest_part(two.prediction.time) +
           " (predicted)" + (peak.empty() ? "." : "; " + peak);
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
  const auto list = recommendations(all);
  std::string text = list.empty() ? "" : list.front();
  if (!all.model(all.best))
    return text.empty() ? "These runs alone support no recommendation." : text;
  const CurvePoint point = all.predicted(all.best, all.options.at);
  const std::string what = "On " + workers_words(all.options.at) + ", " +
                           largest_part(point.prediction.time) + " (predicted)";
  if (text.empty()) return what + ".";
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  return what + ": " + text;
}

/// Against fp32, at options.at.
std::string compress_words(const Scalability& all) {
  if (!all.comparable || all.data.series.size() < 2) return "";
  if (!all.dense)
    return "take " + all.data.series[all.best].name +
           ", the fastest of those that were run; fp32 "
           "was not among them, so nothing is said about compressing at all.";
  const int at = all.options.at;
  const auto dense = all.answer(*all.dense, at), best = all.answer(all.best, at);
  if (all.best == *all.dense)
    return "do not compress on " + workers_words(at) +
           ": no codec that was run is more than 3 % faster.";
  if (!dense || !best) return "";
  return "compress with " + all.data.series[all.best].name + ": on " + workers_words(at) +
         " a step takes " + format_value(best->seconds, Quantity::kSeconds) + " instead of " +
         format_value(dense->seconds, Quantity::kSeconds) + ", " +
         format_value(dense->seconds / best->seconds, Quantity::kPlain) + " times as fast.";
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
      if (!answer || answer->seconds >= least) continue;
      ahead = i;
      least = answer->seconds;
    }
    if (ahead == all.best) continue;
    return "before growing beyond " + workers_words(all.options.at) + ", think again: from " +
           std::to_string(n) + " on, " + all.data.series[ahead].name + " is ahead of " +
           all.data.series[all.best].name + " (" + format_value(least, Quantity::kSeconds) +
           " against " + format_value(ours, Quantity::kSeconds) + " a step; " +
           how_known(all, ahead, n) + ").";
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
  if (!rate.value) return head + "cannot be had by faster links alone (" + rate.limit + ").";
  std::string text = head + "takes links of " + format_value(8 * *rate.value, Quantity::kBitRate);
  if (rate.low < rate.high)
    text += " (90 % band: " + range_words(8 * rate.low, 8 * rate.high, Quantity::kBitRate) + ")";
  return text + " instead of " + format_value(8 * point.step.bandwidth, Quantity::kBitRate) + ".";
}

void add(std::vector<std::string>& list, const std::string& text) {
  if (text.empty()) return;
  list.push_back(text);
  list.back()[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
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

std::vector<std::string> recommendations(const Scalability& all) {
  std::vector<std::string> list;
  add(list, compress_words(all));
  add(list, peak_words(all));
  add(list, overtaking_words(all));
  if (!all.sensitivity.empty()) add(list, lever_words(all));
  add(list, bandwidth_words(all));
  return list;
}

std::string validation_words(const Scalability& all) {
  std::vector<double> errors;
  int inside = 0;
  for (const auto& model : all.models) {
    if (!model) continue;
    for (const HeldBack& held : model->validation.held) {
      errors.push_back(std::abs(held.error()));
      inside += held.inside();
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
         (n == 1 ? "" : ", at worst " + percent(errors.back())) + "; " + std::to_string(inside) +
         " of " + std::to_string(n) + " lie in its 90 % band.";
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
