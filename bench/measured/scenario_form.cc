#include "bench/measured/scenario_form.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "bench/measured/device_fit.h"
#include "bench/measured/forms.h"
#include "bench/measured/profiles.h"
#include "results/prediction/constant.h"
#include "results/prediction/device_kin.h"
#include "results/prediction/step_fit.h"
#include "runner/prediction/prediction.h"
#include "scenarios/kernels/model_family.h"
#include "scenarios/networks/named_networks.h"
#include "scenarios/profiles/profile_json.h"
#include "scenarios/scenario.h"
#include "scenarios/share.h"

namespace gradwire::bench {
namespace {

using nlohmann::ordered_json;
constexpr double kWidestAdapter = 400e9;  // bits/s

/// GPT's own table, of which blocks are left out where a row has fewer.
constexpr const char* kGptTable = "gpt2-medium";

bool is_gpt_of_table(const MeasuredStep& step) {
  return step.workload == "gpt" && step.layers >= 1 && step.layers <= 24 && step.hidden == 1024 &&
         step.heads == 16 && step.sequence == 1024;
}

/// Nullptr where no named network is that of the device's nodes.
const scenarios::NamedNetwork* node_network(const MeasuredStep& step) {
  const std::string name = "nvlink-" + results::chip_of(step.device);
  for (const scenarios::NamedNetwork& network : scenarios::named_networks())
    if (network.name == name) return &network;
  return nullptr;
}

std::string rate_text(double bits_per_second) {
  return std::to_string(std::llround(bits_per_second)) + "bps";
}

ordered_json network_of(const MeasuredStep& step) {
  const scenarios::NamedNetwork& node = *node_network(step);
  const ordered_json inside = {{"bandwidth", node.bandwidth}, {"delay", node.delay}};
  const ordered_json transport = {{"protocol", node.protocol}};
  if (step.gpus() <= step.gpus_per_node)
    return {{"topology", "star"}, {"link", inside}, {"transport", transport}};
  const double whole = step.between_nodes.value();
  const auto adapters = std::max<long long>(1, std::llround(whole / kWidestAdapter));
  return {
      {"topology", "gpu-nodes"},
      {"gpus_per_node", step.gpus_per_node},
      {"adapters", adapters},
      {"intra_link", inside},
      {"link", {{"bandwidth", rate_text(whole / static_cast<double>(adapters))}, {"delay", "1us"}}},
      {"transport", transport}};
}

/// The row's table as a file, where it has fewer blocks than the one that ships; else its name.
std::string table_path(const MeasuredStep& step, const TemporaryFolder& folder) {
  const std::string name = table_of(step);
  if (!is_gpt_of_table(step)) return name;
  scenarios::WorkloadProfile table = *shipped_layer_table(name);
  std::erase_if(table.layers, [&](const auto& layer) {
    int block = -1;
    if (layer.name.starts_with("block"))
      std::from_chars(layer.name.data() + 5, layer.name.data() + layer.name.size(), block);
    return block >= step.layers;
  });
  const std::string path = folder.file("table.json");
  write_file(path, scenarios::profile_text(table));
  return path;
}

ordered_json scenario_of(const MeasuredStep& step, const std::string& table,
                         const std::string& device) {
  ordered_json json = {{"schema_version", 1},
                       {"name", "row"},
                       {"workload",
                        {{"profile", table},
                         {"precision", scenario_precision(step)},
                         {"batch_per_worker", step.batch * step.accumulated},
                         {"micro_batches", step.accumulated},
                         {"steps", 2}}},
                       {"cluster", {{"workers", step.workers}, {"device", device}}}};
  if (step.workers > 1) {
    json["network"] = network_of(step);
    json["exchange"] = {{"collective", "ring"}};
  }
  return json;
}

}  // namespace

std::string why_no_scenario(const MeasuredStep& step) {
  if (!step.refused.empty()) return step.refused;
  if (step.tensor_parallel > 1 || step.pipeline_parallel > 1)
    return "the closed forms have data parallelism alone";
  if (!step.method.empty()) return "method " + step.method + " is not in the closed forms";
  if (step.checkpointing == "full") return "its passes are computed again, layer by layer";
  if (step.batch == 0) return "its batch is not stated";
  if (table_of(step).empty()) return "there is no layer table of its workload";
  const auto* device = shipped_device(step.device);
  if (!device || !device->kernels) return "there is no device profile " + step.device;
  if (!device->peak->compute.contains(scenario_precision(step)))
    return "its device profile has no peak in " + step.precision;
  if (step.workers > 1 && !node_network(step)) return "the network of its nodes has no name";
  if (step.gpus() > step.gpus_per_node && step.between_nodes.value() == 0)
    return "the bandwidth between its nodes is not stated";
  return "";
}

std::string table_of(const MeasuredStep& step) {
  if (step.workload == "bert-large" && step.sequence == 512)
    return step.pre_training ? "bert-large-pretraining" : "bert-large";
  if (step.workload == "llama-8b" && step.sequence == 8192) return "llama3-8b";
  if (is_gpt_of_table(step)) return kGptTable;
  const auto* table = shipped_layer_table(step.workload);
  return table && scenarios::family_of(*table) != "attention" ? step.workload : "";
}

std::string scenario_precision(const MeasuredStep& step) {
  const bool half = step.precision == "amp" || step.precision == "bf16";
  return half ? "fp16" : step.precision;
}

std::string profile_without(const std::string& device, const std::string& source,
                            const std::string& workload) {
  std::vector<FormRow> rows = shipped_steps();
  const std::string own = short_source(source) + "." + workload + ".";
  const auto left_out =
      std::erase_if(rows, [&](const FormRow& row) { return row.group.starts_with(own); });
  const std::string text = read_file(scenarios::share_folder() + "/profiles/" + device + ".json");
  if (left_out == 0) return text;
  const DeviceFit fit = fit_devices({device}, rows).at(device);
  ordered_json json = ordered_json::parse(text), kernels = kernels_json(device, fit);
  kernels.erase("spread");
  kernels.erase("deviation");
  kernels["multiprocessors"] = json["kernels"]["multiprocessors"];
  for (const char* precision : {"fp32", "tf32", "fp16"})
    if (!json["peak"]["compute"].contains(precision)) kernels["shares"].erase(precision);
  json["kernels"] = kernels;
  const double half = results::kNormal90 * fit.deviation;
  json["uncertainty"]["compute"] = {{"low", std::exp(-half)}, {"high", std::exp(half)}};
  return json.dump(1);
}

JudgedRow predicted_as_scenario(const MeasuredStep& step, const std::string& device) {
  const TemporaryFolder folder;
  const std::string path = folder.file(step.device + ".json");
  write_file(path, device);
  const ordered_json json = scenario_of(step, table_path(step, folder), path);
  const auto file = scenarios::read_scenario_text(json.dump(), folder.file("row.json"));
  const auto summary = runner::summary_of(file.runs.at(0), nullptr, {});
  const auto said = results::predict_step(results::usual_fit(), summary);
  return {group_of(step),    std::to_string(step.workers) + " x " + step.precision,
          step.time.value(), said.time.total_s,
          said.low_s,        said.high_s};
}

}  // namespace gradwire::bench
