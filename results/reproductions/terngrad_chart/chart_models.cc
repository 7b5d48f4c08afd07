#include "results/reproductions/terngrad_chart/chart_models.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <random>

#include "base/error.h"
#include "results/prediction/least_squares.h"
#include "results/statistics/median.h"

namespace gradwire::results {
namespace {

constexpr double kUsualBatch = 64;     ///< samples, where a chart does not say
constexpr double kUsualBytes = 1e8;    ///< of gradients, where a chart does not say
constexpr double kUsualGoodput = 0.9;  ///< of a nominal rate
constexpr double kLeastScale = 0.01;   ///< deviation of log time of bars that are read exactly

/// The unknowns of a model over a chart. All but the congestion exponent are logarithms.
class ChartUnknowns {
 public:
  ChartUnknowns(const Chart& chart, ChartModel model, const ChartOptions& options)
      : chart_(chart), model_(model), options_(options) {
    for (const ChartWorkload& workload : chart.workloads) add_workload(workload);
    within_ = add_log("bandwidth inside a node", "B/s", 16e9, 0.5);
    between_ = add_log("effective bandwidth between nodes", "B/s",
                       kUsualGoodput * options.bandwidth / 8, 0.3);
    if (model == ChartModel::kTernGradTree)
      latency_ = add_log("latency a doubling of the nodes", "s", 5e-3, 1.5);
    if (model != ChartModel::kTernGradTree) latency_ = add_log("latency of a hop", "s", 5e-4, 1.5);
    if (model != ChartModel::kFitted) return;
    plateau_ = add_log("plateau", "", 2, 0.3);
    congestion_ = add({"congestion exponent", 0, 0, 0.03}, "", false);
  }

  const std::vector<Unknown>& all() const { return unknowns_; }

  /// Natural logarithm of a bar's seconds a sample of a GPU.
  double log_time(std::span<const double> x, const ChartBar& bar) const {
    const Workload& workload = workloads_.at(bar.model);
    const int nodes = (bar.gpus + options_.gpus_per_node - 1) / options_.gpus_per_node;
    const double gradients = std::exp(x[workload.gradients]);
    const auto ratio = workload.ratios.find(bar.method);
    const double sent =
        gradients / (ratio == workload.ratios.end() ? 1 : std::exp(x[ratio->second]));
    const int inside = std::min(bar.gpus, options_.gpus_per_node);
    double time = std::exp(x[workload.alone]);
    time += model_ == ChartModel::kTernGradTree
                ? gradients / std::exp(x[within_]) * std::log2(inside)
                : sent / std::exp(x[within_]) * 2 * (inside - 1) / inside;
    if (nodes > 1) time += between(x, workload, nodes, sent / std::exp(x[between_]));
    return std::log(time / workload.batch);
  }

  Constant constant(const LeastSquaresFit& fit, std::size_t k) const {
    const double value = fit.values[k], deviation = kNormal90 * fit.deviation(k);
    const auto shown = [&](double at) { return logarithmic_[k] ? std::exp(at) : at; };
    return {unknowns_[k].name,        units_[k],        shown(value), shown(value - deviation),
            shown(value + deviation), fit.identified(k)};
  }

 private:
  struct Workload {
    std::size_t alone = 0, gradients = 0, latency = 0;
    std::map<std::string, std::size_t> ratios;  ///< by method, but the baseline
    double batch = 1;
  };

  std::size_t add(Unknown unknown, const std::string& unit, bool logarithmic) {
    unknowns_.push_back(std::move(unknown));
    units_.push_back(unit);
    logarithmic_.push_back(logarithmic);
    return unknowns_.size() - 1;
  }

  /// About `usual`, within a factor of e^spread.
  std::size_t add_log(std::string name, const std::string& unit, double usual, double spread) {
    return add({std::move(name), std::log(usual), std::log(usual), spread}, unit, true);
  }

  void add_workload(const ChartWorkload& given) {
    Workload workload;
    workload.batch = given.batch_per_gpu > 0 ? given.batch_per_gpu : kUsualBatch;
    workload.alone =
        add_log(given.model + ": a GPU alone", "s", alone_of(given, workload.batch), 1);
    const bool known = given.gradient_bytes > 0;
    workload.gradients = add_log(given.model + ": gradients", "B",
                                 known ? given.gradient_bytes : kUsualBytes, known ? 0.01 : 1.5);
    if (model_ == ChartModel::kFitted)
      workload.latency = add_log(given.model + ": latency of a hop over the usual", "", 1, 0.5);
    const std::string& baseline = chart_.baseline(given.model);
    for (const ChartBar& bar : chart_.bars)
      if (bar.model == given.model && bar.method != baseline && !workload.ratios.count(bar.method))
        workload.ratios[bar.method] =
            add_log(bar.model + ": ratio credited to " + bar.method, "", 8, 1);
    workloads_.emplace(given.model, std::move(workload));
  }

  /// Seconds a step, from the bars with the fewest GPUs.
  double alone_of(const ChartWorkload& workload, double batch) const {
    int fewest = 0;
    double time = 0;
    for (const ChartBar& bar : chart_.bars)
      if (bar.model == workload.model && (fewest == 0 || bar.gpus < fewest)) {
        fewest = bar.gpus;
        time = bar.gpus * batch / bar.images_per_second;
      }
    return time;
  }

  double between(std::span<const double> x, const Workload& workload, int nodes,
                 double once) const {
    const double doublings = std::log2(nodes);
    switch (model_) {
      case ChartModel::kTernGradTree:
        return doublings * (std::exp(x[latency_]) + once);
      case ChartModel::kTernGradPlateau:
        return (nodes - 1) * std::exp(x[latency_]) + std::min(doublings, 2.0) * once;
      case ChartModel::kFitted:
        return (nodes - 1) * std::exp(x[latency_] + x[workload.latency]) +
               std::min(doublings, std::exp(x[plateau_])) * once *
                   std::pow(nodes / 2.0, x[congestion_]);
    }
    return 0;
  }

  const Chart& chart_;
  ChartModel model_;
  ChartOptions options_;
  std::vector<Unknown> unknowns_;
  std::vector<std::string> units_;
  std::vector<bool> logarithmic_;
  std::map<std::string, Workload> workloads_;
  std::size_t within_ = 0, between_ = 0, latency_ = 0, plateau_ = 0, congestion_ = 0;
};

/// What a bar's residual counts for: less where it was read in coarse steps, which leave a uniform
/// error of half a step either way.
double weight_of(const ChartBar& bar) {
  const double reading = bar.read_step / std::sqrt(12.0) / bar.images_per_second;
  return kLeastScale / std::hypot(kLeastScale, reading);
}

double published_log_time(const ChartBar& bar) {
  return std::log(bar.gpus / bar.images_per_second);
}

/// The constants that the chosen bars give.
LeastSquaresFit fit_to(const Chart& chart, const ChartUnknowns& unknowns,
                       std::span<const std::size_t> bars) {
  const Residuals residuals = [&](std::span<const double> x, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const ChartBar& bar = chart.bars[bars[i]];
      out[i] = weight_of(bar) * (unknowns.log_time(x, bar) - published_log_time(bar));
    }
  };
  return fit_least_squares(unknowns.all(), bars.size(), residuals, {.least_scale = kLeastScale});
}

/// Half of each series' bars.
std::vector<bool> half_of(const Chart& chart, int draw) {
  std::map<std::pair<std::string, std::string>, std::vector<std::size_t>> series;
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    series[{chart.bars[i].model, chart.bars[i].method}].push_back(i);
  std::vector<bool> taken(chart.bars.size());
  std::mt19937_64 random(static_cast<std::uint64_t>(draw));
  for (auto& [name, bars] : series)
    for (std::size_t left = (bars.size() + 1) / 2; left > 0; --left) {
      const std::size_t at = random() % bars.size();
      taken[bars[at]] = true;
      bars.erase(bars.begin() + static_cast<std::ptrdiff_t>(at));
    }
  return taken;
}

double predicted_rate(const ChartUnknowns& unknowns, const LeastSquaresFit& least,
                      const ChartBar& bar) {
  return bar.gpus / std::exp(unknowns.log_time(least.values, bar));
}

/// Adds a bar's error, which may be a fit's or halves' worst one unless the bar is too coarse.
template <class Judged>
void judge(const Chart& chart, std::size_t bar, double predicted, const ChartOptions& options,
           std::vector<double>& errors, Judged& judged) {
  const double published = chart.bars[bar].images_per_second;
  errors.push_back(std::abs(predicted / published - 1));
  if (published < options.coarse_below || errors.back() < judged.worst_error) return;
  judged.worst_error = errors.back();
  judged.worst_bar = bar;
}

}  // namespace

std::string_view name_of(ChartModel model) {
  switch (model) {
    case ChartModel::kTernGradTree:
      return "terngrad-tree";
    case ChartModel::kTernGradPlateau:
      return "terngrad-plateau";
    case ChartModel::kFitted:
      return "fitted";
  }
  return "";
}

ChartFit fit_chart(const Chart& chart, ChartModel model, const ChartOptions& options) {
  const ChartUnknowns unknowns(chart, model, options);
  std::vector<std::size_t> all(chart.bars.size());
  std::iota(all.begin(), all.end(), 0);
  const LeastSquaresFit least = fit_to(chart, unknowns, all);
  ChartFit fit;
  fit.model = model;
  fit.scale = least.scale;
  for (std::size_t k = 0; k < unknowns.all().size(); ++k)
    fit.constants.push_back(unknowns.constant(least, k));
  std::vector<double> errors;
  for (const std::size_t i : all) {
    fit.predicted.push_back(predicted_rate(unknowns, least, chart.bars[i]));
    judge(chart, i, fit.predicted.back(), options, errors, fit);
  }
  fit.median_error = middle_of(std::move(errors));
  return fit;
}

ChartHalves judge_halves_of_chart(const Chart& chart, ChartModel model, const ChartOptions& options,
                                  int draws) {
  const ChartUnknowns unknowns(chart, model, options);
  ChartHalves halves;
  halves.draws = draws;
  std::vector<double> errors;
  for (int draw = 1; draw <= draws; ++draw) {
    const std::vector<bool> taken = half_of(chart, draw);
    std::vector<std::size_t> bars;
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (taken[i]) bars.push_back(i);
    const LeastSquaresFit least = fit_to(chart, unknowns, bars);
    for (std::size_t i = 0; i < taken.size(); ++i)
      if (!taken[i])
        judge(chart, i, predicted_rate(unknowns, least, chart.bars[i]), options, errors, halves);
  }
  halves.median_error = middle_of(std::move(errors));
  return halves;
}

std::vector<std::size_t> coarse_bars(const Chart& chart, const ChartOptions& options) {
  std::vector<std::size_t> coarse;
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    if (chart.bars[i].images_per_second < options.coarse_below) coarse.push_back(i);
  return coarse;
}

}  // namespace gradwire::results
