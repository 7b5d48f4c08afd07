#include "scenarios/profiles/profile_json.h"

#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "scenarios/fields/fields.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

/// Six digits are more than any measurement has.
double rounded(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

double rounded(Seconds seconds) {
  return rounded(seconds.value());
}

/// Left out where the source goes without saying that figures are exact.
void add_range(const ProfileOrigin& origin, const char* kind, const PlausibleRange& range,
               ordered_json& json) {
  if (!range.certain() || origin.source == "assumed")
    json["uncertainty"][kind] = {{"low", rounded(range.low)}, {"high", rounded(range.high)}};
}

ordered_json head(const ProfileOrigin& origin, const char* kind) {
  ordered_json json = {{"schema_version", kSchemaVersion},
                       {"kind", kind},
                       {"name", origin.name},
                       {"source", origin.source},
                       {"note", origin.note}};
  add_range(origin, "compute", origin.compute, json);
  return json;
}

ordered_json layer_json(const WorkloadProfile::Layer& layer) {
  ordered_json json = {{"name", layer.name}};
  if (!layer.kind.empty()) json["kind"] = layer.kind;
  json["elements"] = layer.elements;
  for (const WorkloadProfile::Tensor& tensor : layer.tensors)
    json["tensors"][tensor.name] = tensor.shape;
  json["flops_per_sample"] = layer.flops;
  json["inputs_per_sample"] = layer.inputs;
  json["activations_per_sample"] = layer.activations;
  if (layer.has_times) {
    json["forward_s_per_sample"] = rounded(layer.forward_per_sample);
    json["backward_s_per_sample"] = rounded(layer.backward_per_sample);
    json["spread"] = rounded(layer.spread);
  }
  return json;
}

ordered_json cost_json(const DeviceProfile::Cost& cost) {
  return {{"fixed_s", rounded(cost.fixed)}, {"per_element_s", rounded(cost.per_element)}};
}

ordered_json model_json(const DeviceProfile::Model& model) {
  return {{"forward_fixed_s", rounded(model.forward.fixed)},
          {"forward_s_per_sample", rounded(model.forward.per_sample)},
          {"backward_fixed_s", rounded(model.backward.fixed)},
          {"backward_s_per_sample", rounded(model.backward.per_sample)},
          {"update_s", rounded(model.update)}};
}

ordered_json peak_json(const DeviceProfile::Peak& peak) {
  ordered_json json = {{"compute", ordered_json::object()}};
  for (const auto& [precision, compute] : peak.compute)
    json["compute"][precision] = {{"flops_per_s", rounded(compute.flops_per_second)},
                                  {"efficiency", rounded(compute.efficiency)}};
  json["memory_bytes_per_s"] = rounded(peak.memory_bytes_per_second);
  json["launch_s"] = rounded(peak.launch);
  if (peak.memory_bytes > 0) json["memory_bytes"] = rounded(peak.memory_bytes);
  return json;
}

ordered_json kernels_json(const DeviceProfile::Kernels& kernels) {
  ordered_json json = {{"multiprocessors", kernels.multiprocessors},
                       {"shares", ordered_json::object()}};
  for (const auto& [precision, shares] : kernels.shares)
    json["shares"][precision] = {{"matrix", rounded(shares.matrix)},
                                 {"convolution", rounded(shares.convolution)}};
  json["winograd"] = rounded(kernels.winograd);
  json["memory"] = rounded(kernels.memory);
  json["tile"] = rounded(kernels.tile);
  json["traffic"] = rounded(kernels.traffic);
  json["update"] = rounded(kernels.update);
  json["host_s"] = rounded(kernels.host);
  json["step_s"] = rounded(kernels.step);
  json["parallel_s"] = rounded(kernels.parallel);
  return json;
}

}  // namespace

std::string profile_text(const WorkloadProfile& profile) {
  ordered_json json = head(profile.origin, "workload");
  if (profile.update) json["update_s"] = rounded(*profile.update);
  std::string text = json.dump(2);
  text.erase(text.rfind('\n'));  // the closing brace: layers follow, one a line
  text += ",\n  \"layers\": [";
  for (std::size_t i = 0; i < profile.layers.size(); ++i)
    text += (i ? ",\n    " : "\n    ") + layer_json(profile.layers[i]).dump();
  return text + "\n  ]\n}\n";
}

std::string profile_text(const DeviceProfile& profile) {
  ordered_json json = head(profile.origin, "device");
  add_range(profile.origin, "codecs", profile.origin.codecs, json);
  if (profile.peak) json["peak"] = peak_json(*profile.peak);
  if (profile.kernels) json["kernels"] = kernels_json(*profile.kernels);
  if (profile.host)
    json["host"] = {{"link_bytes_per_s", rounded(profile.host->link_bytes_per_second)},
                    {"memory_bytes_per_s", rounded(profile.host->memory_bytes_per_second)}};
  json["models"] = json["codecs"] = ordered_json::object();
  for (const auto& [name, model] : profile.models) json["models"][name] = model_json(model);
  for (const auto& [name, codec] : profile.codecs)
    json["codecs"][name] = {{"encode", cost_json(codec.encode)},
                            {"decode", cost_json(codec.decode)},
                            {"aggregate", cost_json(codec.aggregate)}};
  json["decorators"] = {{"error_feedback", cost_json(profile.error_feedback)},
                        {"momentum_correction", cost_json(profile.momentum_correction)}};
  return json.dump(2) + "\n";
}

}  // namespace gradwire::scenarios
