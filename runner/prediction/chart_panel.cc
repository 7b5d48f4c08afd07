#include "runner/prediction/chart_panel.h"

#include <map>
#include <nlohmann/json.hpp>

#include "runner/prediction/step_times.h"
#include "runner/training/trainer_module.h"
#include "scenarios/share.h"

namespace gradwire::runner {
namespace {

using nlohmann::ordered_json;

const std::map<std::string, std::string> kTables = {
    {"AlexNet", "alexnet-grouped"}, {"GoogLeNet", "googlenet"}, {"VGG-A", "vgg-a"}};
const std::map<std::string, std::string> kMethods = {{"FP32", "none"}, {"TernGrad", "terngrad"}};

std::string bits_per_second(double rate) {
  return std::to_string(rate) + "bps";
}

/// Seconds of a step's compute on the profile's device.
double compute_seconds(const scenarios::Scenario& scenario) {
  const auto trainer = make_trainer(scenario, {});
  const scenarios::ComputeProfile& profile = trainer->prepare();
  Seconds sum = profile.forward + profile.update;
  for (const auto& bucket : profile.buckets) sum += bucket.backward;
  return sum.value();
}

ordered_json equal_stragglers(int workers, double factor) {
  ordered_json list = ordered_json::array();
  for (int worker = 0; worker < workers; ++worker)
    list.push_back({{"worker", worker}, {"factor", factor}});
  return list;
}

/// `factor`: compute times over the profile's.
std::string scenario_of(const results::ChartBar& bar, const results::Chart& chart,
                        const results::ChartOptions& options, double factor) {
  return ordered_json{
      {"schema_version", 1},
      {"name", "panel"},
      {"workload",
       {{"profile", kTables.at(bar.model)},
        {"batch_per_worker", static_cast<int>(chart.workload(bar.model).batch_per_gpu)},
        {"steps", 2}}},
      {"method", {{"name", kMethods.at(bar.method)}}},
      {"cluster",
       {{"workers", bar.gpus},
        {"device", "gtx-1080"},
        {"stragglers", equal_stragglers(bar.gpus, factor)}}},
      {"network",
       {{"topology", "gpu-nodes"},
        {"gpus_per_node", options.gpus_per_node},
        {"intra_link", {{"bandwidth", "128Gbps"}, {"delay", "1us"}}},
        {"link", {{"bandwidth", bits_per_second(options.bandwidth)}, {"delay", "50us"}}}}},
      {"exchange", {{"collective", "two-level"}, {"overlap", true}}},
      {"executor", "flow"},
      {"seeds", {1}}}
      .dump();
}

/// How much slower the chart's lone GPU was than the device profile; 1 where it shows none.
double compute_factor(const results::ChartBar& bar, const results::Chart& chart,
                      const results::ChartOptions& options, const std::string& file) {
  const double alone = chart.rate(bar.model, chart.baseline(bar.model), 1);
  if (alone <= 0) return 1;
  const auto scenario = scenarios::read_scenario_text(scenario_of(bar, chart, options, 1), file);
  return chart.workload(bar.model).batch_per_gpu / alone / compute_seconds(scenario.runs.at(0));
}

}  // namespace

std::vector<results::ChartBar> simulate_panel(const results::Chart& chart,
                                              const results::ChartOptions& options,
                                              const std::function<void(const std::string&)>& say) {
  std::vector<results::ChartBar> panel;
  const std::string file = scenarios::share_folder() + "/panel.json";
  std::string model;
  double factor = 1;
  for (const results::ChartBar& bar : chart.bars) {
    if (!kTables.count(bar.model) || !kMethods.count(bar.method)) continue;
    if (bar.gpus < 2 || chart.workload(bar.model).batch_per_gpu < 1) continue;
    if (bar.model != model) {
      say("simulating " + (model = bar.model));
      factor = compute_factor(bar, chart, options, file);
    }
    const auto scenario =
        scenarios::read_scenario_text(scenario_of(bar, chart, options, factor), file);
    const double step = time_steps(scenario.runs.at(0)).warm().at(0);
    panel.push_back({bar.model, bar.method, bar.gpus,
                     bar.gpus * chart.workload(bar.model).batch_per_gpu / step});
  }
  return panel;
}

}  // namespace gradwire::runner
