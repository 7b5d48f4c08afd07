#include "results/prediction/chart_models.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "results/prediction/least_squares.h"

namespace gradwire::results {
namespace {

constexpr double kUsualBatch = 64;     ///< samples, where a chart does not say
constexpr double kUsualBytes = 1e8;    ///< of gradients, where a chart does not say
constexpr double kUsualGoodput = 0.9;  ///< of a nominal rate

/// The unknowns of a model over a chart. All but the congestion exponent are logarithms.
class ChartUnknowns {
 public:
  ChartUnknowns(const Chart& chart, ChartModel model, const ChartOptions& options)
      : chart_(chart), model_(model), options_(options) {
    for (const ChartWorkload& workload : chart.workloads) add_workload(workload);
    within_ = add_log("bandwidth inside a node", "B/s", 16e9, 2.0);
    between_ = add_log("effective bandwidth between nodes", "B/s",
                       kUsualGoodput * options.bandwidth / 8, 0.3);
    if (model != ChartModel::kFitted) latency_ = add_latency("latency a doubling of the nodes");
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
    double time =
        std::exp(x[workload.alone]) +
        gradients / std::exp(x[within_]) * std::log2(std::min(bar.gpus, options_.gpus_per_node));
    if (nodes > 1) {
      const auto ratio = workload.ratios.find(bar.method);
      const double credited = ratio == workload.ratios.end() ? 1 : std::exp(x[ratio->second]);
      time += between(x, workload, nodes, gradients / credited / std::exp(x[between_]));
    }
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
  std::size_t add_latency(std::string name) { return add_log(std::move(name), "s", 5e-3, 1.5); }

  void add_workload(const ChartWorkload& given) {
    Workload workload;
    workload.batch = given.batch_per_gpu > 0 ? given.batch_per_gpu : kUsualBatch;
    workload.alone =
        add_log(given.model + ": a GPU alone", "s", alone_of(given, workload.batch), 1);
    const bool known = given.gradient_bytes > 0;
    workload.gradients = add_log(given.model + ": gradients", "B",
                                 known ? given.gradient_bytes : kUsualBytes, known ? 0.01 : 1.5);
    if (model_ == ChartModel::kFitted)
      workload.latency = add_latency(given.model + ": latency a doubling of the nodes");
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
        return doublings * std::exp(x[latency_]) + std::min(doublings, 2.0) * once;
      case ChartModel::kFitted:
        return doublings * std::exp(x[workload.latency]) +
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

double published_log_time(const ChartBar& bar) {
  return std::log(bar.gpus / bar.images_per_second);
}

void judge(const Chart& chart, const ChartOptions& options, ChartFit& fit) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const double published = chart.bars[i].images_per_second;
    errors.push_back(std::abs(fit.predicted[i] / published - 1));
    if (published < options.coarse_below || errors.back() < fit.worst_error) continue;
    fit.worst_error = errors.back();
    fit.worst_bar = i;
  }
  std::sort(errors.begin(), errors.end());
  const std::size_t n = errors.size();
  fit.median_error = (errors[(n - 1) / 2] + errors[n / 2]) / 2;
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
  const Residuals residuals = [&](std::span<const double> x, std::span<double> out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = unknowns.log_time(x, chart.bars[i]) - published_log_time(chart.bars[i]);
  };
  const LeastSquaresFit least =
      fit_least_squares(unknowns.all(), chart.bars.size(), residuals, {.least_scale = 0.01});
  ChartFit fit;
  fit.model = model;
  fit.scale = least.scale;
  for (std::size_t k = 0; k < unknowns.all().size(); ++k)
    fit.constants.push_back(unknowns.constant(least, k));
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    fit.predicted.push_back(chart.bars[i].images_per_second * std::exp(-least.residuals[i]));
  judge(chart, options, fit);
  return fit;
}

std::vector<std::size_t> coarse_bars(const Chart& chart, const ChartOptions& options) {
  std::vector<std::size_t> coarse;
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    if (chart.bars[i].images_per_second < options.coarse_below) coarse.push_back(i);
  return coarse;
}

}  // namespace gradwire::results
