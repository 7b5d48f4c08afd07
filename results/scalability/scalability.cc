#include "results/scalability/scalability.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>

#include "base/joined_texts.h"
#include "results/scalability/figures.h"

namespace gradwire::results {
namespace {

void check(const ScalabilityOptions& options) {
  const auto refuse = [](const char* what, const std::string& value, const char* reason) {
    throw Error(ErrorKind::kUsage, what, value, reason);
  };
  if (!(options.target > 0 && options.target <= 1))
    refuse("take the target", std::to_string(options.target),
           "an efficiency lies above 0 and at most at 1");
  if (options.at < 0 || options.at == 1)
    refuse("answer for", std::to_string(options.at), "two workers or more");
  if (options.model.up_to < 0)
    refuse("predict up to", std::to_string(options.model.up_to), "two workers or more");
}

/// Whether series differ in method, exchange and nothing else.
bool only_methods_differ(const ScaleData& data) {
  std::set<std::string> conditions;
  for (const ScaleSeries& series : data.series) {
    std::string condition = engine_of(series.header) + "\n" + series.header.device + "\n";
    const std::string key = series_key(series.header.scenario_json);
    for (std::size_t at = 0; at < key.size();) {
      const std::size_t end = key.find('\n', at);
      const std::string line = key.substr(at, end - at);
      if (!line.starts_with("/method") && !line.starts_with("/exchange") &&
          !line.starts_with("/executor"))
        condition += line + "\n";
      at = end + 1;
    }
    conditions.insert(condition);
  }
  return conditions.size() == 1;
}

/// What a run's summary says of its network is what the version that stored it knew of links.
void take_networks(const ModelOptions& options, ScaleData& data) {
  if (!options.step_at) return;
  for (ScaleSeries& series : data.series)
    for (ScalePoint& point : series.points)
      if (point.step) point.step = options.step_at(series, *point.step, point.workers);
}

int most_workers(const ScaleData& data) {
  int most = 0;
  for (const ScaleSeries& series : data.series) most = std::max(most, series.most_workers());
  return most;
}

/// Those that lose too much accuracy only where there are no others.
std::optional<std::size_t> fastest_at(const Scalability& all, int workers) {
  std::optional<std::size_t> best;
  std::pair<bool, double> most = {false, -1};
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    const auto answer = all.answer(i, workers);
    if (!answer) continue;
    const std::pair own = {all.evidence[i].may_be_recommended(),
                           all.throughput(i, workers, answer->seconds)};
    if (own <= most) continue;
    best = i;
    most = own;
  }
  return best;
}

void find_evidence(const Store& store, Scalability& all) {
  all.options.knowledge.trained = accuracy_comparisons(store.runs());
  for (const ScaleSeries& series : all.data.series)
    all.evidence.push_back(evidence_of(all.options.knowledge, series.header.method,
                                       method_of_scenario(series.header.scenario_json),
                                       series.header.model));
}

/// The intervals of known times count; what is predicted errs for all series alike.
Option option_of(const Scalability& all, std::size_t series, const ScaleAnswer& answer) {
  const ScaleSeries& its = all.data.series[series];
  const std::string method = method_of_scenario(its.header.scenario_json);
  const double doubt_s = answer.known ? (answer.high_s - answer.low_s) / 2 : 0;
  const double bytes =
      all.model(series) ? all.predicted(series, all.options.at).step.message_bytes() : 0;
  return {baseline_of(method),  answer.seconds, doubt_s, bytes,
          all.evidence[series], its.name,       method};
}

void choose_best(Scalability& all) {
  const int at = all.options.at;
  all.best = fastest_at(all, at).value_or(fastest_at(all, most_workers(all.data)).value_or(0));
  if (!all.comparable) return;
  for (std::size_t i = 0; i < all.data.series.size(); ++i)
    if (const auto answer = all.answer(i, at)) {
      all.competing.push_back(option_of(all, i, *answer));
      all.competing_series.push_back(i);
    }
  if (all.competing.empty()) return;
  all.choice = choose(all.competing);
  if (all.choice->chosen) all.best = all.competing_series[*all.choice->chosen];
}

std::string printed_percent(double value, int decimals) {
  char text[40];
  std::snprintf(text, sizeof text, "%.*f %%", decimals, value);
  return text;
}

bool meets_target(const Scalability& all, std::size_t series, int workers) {
  const auto answer = all.answer(series, workers);
  return answer && all.efficiency(series, workers, answer->seconds) >= all.options.target;
}

/// Rows decide. Between the last of the best series that meets the target and the next, the model
/// does where it holds.
std::optional<int> reach_of(const Scalability& all, std::size_t series) {
  std::optional<int> most, next;
  if (!all.computes || !all.model(series)) return most;
  for (const int n : shown_workers(all, series)) {
    if (n == 1) continue;
    if (meets_target(all, series, n)) {
      most = n;
      next.reset();
    } else if (!next) {
      next = n;
    }
  }
  if (series != all.best || !most || !next || !all.holds(series, *next)) return most;
  while (*next - *most > 1) {
    const int middle = (*most + *next) / 2;
    (meets_target(all, series, middle) ? most : next) = middle;
  }
  return most;
}

void add_warnings(Scalability& all) {
  all.warnings = all.data.warnings;
  std::vector<std::string> without;
  for (std::size_t i = 0; i < all.models.size(); ++i) {
    const std::string& name = all.data.series[i].name;
    if (!all.models[i]) {
      without.push_back(name);
      continue;
    }
    for (const std::string& text : all.models[i]->fit.warnings)
      if (!text.starts_with("the points do not show")) all.warnings.push_back(name + ": " + text);
    if (const std::string& limit = all.models[i]->limit; !limit.empty())
      all.warnings.push_back(name + ": " + limit);
    if (all.data.series[i].points.size() > 1) continue;
    all.warnings.push_back(
        name + ": all runs have " + std::to_string(all.data.series[i].points[0].workers) +
        " workers, which cannot show " + in_words(all.models[i]->open) +
        " apart: usual values are taken, and nothing is held against them; run it on two more "
        "numbers of workers");
  }
  if (!without.empty())
    all.warnings.push_back(joined_texts(without, "; ") +
                           ": no model; its runs have no summary of a step (their exchange has no "
                           "closed form, or an earlier version made them)");
}

}  // namespace

double Scalability::throughput(std::size_t series, int workers, double seconds) const {
  const double samples = data.series[series].samples;
  return samples > 0 ? workers * samples / seconds : 1 / seconds;
}

const char* Scalability::throughput_unit() const {
  return data.series[0].samples > 0 ? "samples/s" : "exchanges/s";
}

std::string Scalability::throughput_text(double value) const {
  return format_value(value, data.series[0].samples > 0 ? Quantity::kCount : Quantity::kPlain);
}

double Scalability::efficiency(std::size_t series, int workers, double seconds) const {
  return model(series) && computes ? predicted(series, workers).alone_s / seconds : 0;
}

CurvePoint Scalability::predicted(std::size_t series, int workers) const {
  const SeriesModel& its = *models[series];
  const auto found = std::ranges::find(its.curve, workers, &CurvePoint::workers);
  return found != its.curve.end() ? *found
                                  : curve_point(data.series[series], its, options.model, workers);
}

std::optional<ScaleAnswer> Scalability::answer(std::size_t series, int workers) const {
  for (const ScalePoint& point : data.series[series].points)
    if (point.workers == workers)
      return ScaleAnswer{true, point.seconds, point.low_s, point.high_s, point.provenance};
  if (!holds(series, workers)) return std::nullopt;
  const CurvePoint point = predicted(series, workers);
  return ScaleAnswer{false, point.prediction.time.total_s, point.prediction.low_s,
                     point.prediction.high_s, "predicted"};
}

bool Scalability::any_holds() const {
  return std::ranges::any_of(models, [](const auto& model) { return model && model->holds(); });
}

bool Scalability::within_runs(std::size_t series, int workers) const {
  const auto& points = data.series[series].points;
  return workers >= points.front().workers && workers <= points.back().workers;
}

Scalability scalability_of(const Store& store, std::span<const RunId> runs,
                           ScalabilityOptions options) {
  check(options);
  Scalability all;
  all.data = scale_data(store, runs);
  const int most = most_workers(all.data);
  if (most < 2)
    throw Error(ErrorKind::kFailure, "report on", "the scalability of these runs",
                "each has one worker, which exchanges nothing", "run it on 2, 4 and 8 workers");
  take_networks(options.model, all.data);
  if (options.at == 0) options.at = most;
  if (options.model.up_to == 0) options.model.up_to = kBeyond * most;
  options.model.up_to = std::max(options.model.up_to, options.at);
  all.options = std::move(options);
  all.comparable = only_methods_differ(all.data);
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    all.models.push_back(model_of(all.data.series[i], all.options.model));
    if (all.models[i]) all.computes = all.computes || all.models[i]->known[0].alone_s > 0;
    if (all.data.series[i].dense && !all.dense) all.dense = i;
  }
  find_evidence(store, all);
  choose_best(all);
  std::vector<std::optional<int>> reach;
  for (std::size_t i = 0; i < all.data.series.size(); ++i) reach.push_back(reach_of(all, i));
  all.reach = std::move(reach);
  if (all.holds(all.best, all.options.at))
    all.sensitivity =
        sensitivity_of(all.model(all.best)->fit, all.predicted(all.best, all.options.at).step,
                       all.data.series[all.best].samples);
  add_warnings(all);
  return all;
}

std::string in_words(const std::vector<std::string>& parts) {
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i)
    out += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return out;
}

std::string percent(double share, bool sign) {
  const double hundredth = std::abs(100 * share), whole = std::round(hundredth);
  const bool plain = std::abs(hundredth - whole) < 1e-9;  // "80 %", not "80.0 %"
  const std::string text =
      plain ? printed_percent(whole, 0) : printed_percent(hundredth, hundredth < 10 ? 2 : 1);
  return (share < 0 ? "\u2212" : sign ? "+" : "") + text;
}

std::string range_words(double low, double high, Quantity quantity) {
  return format_value(low, quantity) + " to " + format_value(high, quantity);
}

}  // namespace gradwire::results
