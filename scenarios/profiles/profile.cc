#include "scenarios/profiles/profile.h"

#include <filesystem>

#include "base/file_descriptor.h"
#include "base/joined_texts.h"
#include "compressors/codec.h"
#include "scenarios/document/pointer.h"
#include "scenarios/document/reader.h"
#include "scenarios/methods.h"
#include "scenarios/share.h"

namespace gradwire::scenarios {
namespace {

using nlohmann::ordered_json;

bool is_path(std::string_view name) {
  return name.find('/') != std::string_view::npos || name.ends_with(".json");
}

std::string kind_of_file(const std::string& path) {
  const ordered_json json = ordered_json::parse(read_file(path), nullptr, false);
  return json.is_object() ? json.value("kind", std::string()) : std::string();
}

std::string profile_path(std::string_view name, const std::string& relative_to,
                         std::string_view kind) {
  if (name.ends_with(".pt") || name.ends_with(".pth") || name.ends_with(".ts"))
    throw Error(
        ErrorKind::kScenario, "read " + std::string(kind) + " profile", name,
        "it is named as a TorchScript file, which is no table of layers",
        "make one by `gradwire profile " + std::string(name) + " --input SHAPE -o FILE.json`");
  if (is_path(name)) return relative_to_file(name, relative_to);
  const std::string shipped = share_folder() + "/profiles/" + std::string(name) + ".json";
  std::error_code ignored;
  if (std::filesystem::is_regular_file(shipped, ignored) && kind_of_file(shipped) == kind)
    return shipped;
  const std::vector<std::string> names = shipped_profiles(kind);
  const std::string near = nearest_name(name, names);
  throw Error(ErrorKind::kScenario, "find", std::string(kind) + " profile " + std::string(name),
              "no such profile ships (shipped: " + joined_texts(names, ", ") + ")",
              near.empty() ? "" : "did you mean \"" + near + "\"?");
}

/// `check` finds what a table of fields cannot say: it gets the value and adds to the problems.
template <typename Check>
ordered_json read_profile(const std::string& path, const FieldTable& table, const Check& check) {
  ProblemList problems;
  const Document document = parse_document(read_file(path), path, problems);
  problems.throw_if_any();
  const Places places(document);
  ReadResult result = read_by_table(table, document.root, kAllKinds, places, problems);
  problems.throw_if_any();
  check(result.value,
        [&](const std::string& pointer, std::string message, std::string allowed = "") {
          problems.add(places.problem(pointer, std::move(message), std::move(allowed)));
        });
  problems.throw_if_any();
  return std::move(result.value);
}

/// What the file says of one kind of times, or what goes without saying.
PlausibleRange range_of(const ordered_json& json, const char* kind,
                        const PlausibleRange& if_assumed) {
  if (json.contains("uncertainty") && json["uncertainty"].contains(kind)) {
    const ordered_json& range = json["uncertainty"][kind];
    return {range["low"].get<double>(), range["high"].get<double>()};
  }
  return json["source"] == "assumed" ? if_assumed : PlausibleRange{};
}

ProfileOrigin origin_of(const ordered_json& json, const std::string& path) {
  return {json["name"],
          json["source"],
          json["note"],
          path,
          range_of(json, "compute", kAssumedCompute),
          json["kind"] == "device" ? range_of(json, "codecs", kAssumedCodecs) : PlausibleRange{}};
}

Seconds seconds_at(const ordered_json& object, const char* key) {
  return Seconds(object[key].get<double>());
}

DeviceProfile::Cost cost_of(const ordered_json& json) {
  return {seconds_at(json, "fixed_s"), seconds_at(json, "per_element_s")};
}

DeviceProfile::Model model_of(const ordered_json& json) {
  return {{seconds_at(json, "forward_fixed_s"), seconds_at(json, "forward_s_per_sample")},
          {seconds_at(json, "backward_fixed_s"), seconds_at(json, "backward_s_per_sample")},
          seconds_at(json, "update_s")};
}

DeviceProfile::Peak peak_of(const ordered_json& json) {
  DeviceProfile::Peak peak;
  for (const auto& [precision, compute] : json["compute"].items())
    peak.compute[precision] = {compute["flops_per_s"].get<double>(),
                               compute["efficiency"].get<double>()};
  peak.memory_bytes_per_second = json["memory_bytes_per_s"].get<double>();
  peak.launch = seconds_at(json, "launch_s");
  peak.memory_bytes = json.value("memory_bytes", 0.0);
  return peak;
}

/// A codec of which an assumed device says nothing: two passes over the tensor that find and write
/// 4 B an element, and one that decodes or adds them, at the memory's rate. Few codecs write more.
void assume_unlisted_codecs(DeviceProfile& profile) {
  const DeviceProfile::Peak& peak = *profile.peak;
  const auto cost = [&](int bytes, int kernels) -> DeviceProfile::Cost {
    return {kernels * peak.launch, Seconds(bytes / peak.memory_bytes_per_second)};
  };
  for (const compressors::CodecInfo& codec : compressors::codec_catalogue())
    if (why_no_gradient_codec(codec).empty())
      profile.codecs.try_emplace(codec.name,
                                 DeviceProfile::Codec{cost(12, 2), cost(8, 1), cost(12, 1)});
}

DeviceProfile::Kernels kernels_of(const ordered_json& json) {
  DeviceProfile::Kernels kernels;
  kernels.multiprocessors = json["multiprocessors"].get<int>();
  for (const auto& [precision, shares] : json["shares"].items())
    kernels.shares[precision] = {shares["matrix"].get<double>(),
                                 shares["convolution"].get<double>()};
  kernels.winograd = json["winograd"].get<double>();
  kernels.memory = json["memory"].get<double>();
  kernels.tile = json["tile"].get<double>();
  kernels.traffic = json["traffic"].get<double>();
  kernels.update = json["update"].get<double>();
  kernels.host = seconds_at(json, "host_s");
  kernels.step = seconds_at(json, "step_s");
  kernels.parallel = seconds_at(json, "parallel_s");
  return kernels;
}

/// The number of elements of tensors, as double: what overflows an integer is wrong anyway.
double elements_of(const ordered_json& tensors) {
  double sum = 0;
  for (const ordered_json& shape : tensors) {
    double product = 1;
    for (const ordered_json& extent : shape) product *= extent.get<double>();
    sum += product;
  }
  return sum;
}

template <typename Refuse>
void check_layer(const ordered_json& layer, const std::string& at, const Refuse& refuse) {
  const bool forward = layer.contains("forward_s_per_sample");
  const bool backward = layer.contains("backward_s_per_sample");
  if (forward != backward)
    refuse(at + (forward ? "/backward_s_per_sample" : "/forward_s_per_sample"),
           "is missing beside the other pass's time");
  if (!forward && !backward && !layer.contains("flops_per_sample"))
    refuse(at, "the layer takes no time",
           "forward_s_per_sample and backward_s_per_sample, or flops_per_sample");
  const bool shaped = layer.contains("tensors") && !layer["tensors"].empty();
  if (shaped && elements_of(layer["tensors"]) != layer["elements"].get<double>())
    refuse(at + "/elements",
           "is " + layer["elements"].dump() + ", but the tensors have other " + "shapes than that",
           "their product, summed over tensors");
}

const auto kCheckLayers = [](const ordered_json& json, const auto& refuse) {
  double elements = 0;
  for (std::size_t i = 0; i < json["layers"].size(); ++i) {
    check_layer(json["layers"][i], child_pointer("/layers", i), refuse);
    elements += json["layers"][i]["elements"].template get<double>();
  }
  if (elements == 0) refuse("/layers", "no layer has parameters, so there is nothing to send");
};

const auto kCheckDevice = [](const ordered_json& json, const auto& refuse) {
  if (!json.contains("peak")) {
    if (json.contains("kernels"))
      refuse("/kernels", "it says what kernels reach of peak figures, and there are none", "/peak");
    return;
  }
  if (json["peak"]["compute"].empty()) refuse("/peak/compute", "names no precision", "fp32");
  for (const auto& [precision, compute] : json["peak"]["compute"].items())
    if (precision != "fp32" && precision != "tf32" && precision != "fp16")
      refuse(child_pointer("/peak/compute", precision), "there is no such precision",
             "fp32, tf32, fp16");
  if (!json.contains("kernels")) return;
  const ordered_json &shares = json["kernels"]["shares"], &peaks = json["peak"]["compute"];
  for (const auto& [precision, ignored] : peaks.items())
    if (!shares.contains(precision))
      refuse("/kernels/shares", "there are none for " + precision + ", which has a peak");
  for (const auto& [precision, ignored] : shares.items())
    if (!peaks.contains(precision))
      refuse(child_pointer("/kernels/shares", precision), "there is no peak in " + precision);
};

WorkloadProfile::Layer layer_of(const ordered_json& json) {
  WorkloadProfile::Layer layer;
  layer.name = json["name"];
  layer.kind = json.value("kind", std::string());
  layer.elements = json["elements"];
  const ordered_json tensors = json.value("tensors", ordered_json::object());
  for (const auto& [name, shape] : tensors.items())
    layer.tensors.push_back({name, shape.get<std::vector<std::int64_t>>()});
  layer.has_times = json.contains("forward_s_per_sample");
  if (layer.has_times) {
    layer.forward_per_sample = seconds_at(json, "forward_s_per_sample");
    layer.backward_per_sample = seconds_at(json, "backward_s_per_sample");
  }
  layer.spread = json.value("spread", 0.0);
  layer.flops = json.value("flops_per_sample", std::int64_t{0});
  layer.inputs = json.value("inputs_per_sample", std::int64_t{0});
  layer.activations = json.value("activations_per_sample", std::int64_t{0});
  return layer;
}

}  // namespace

std::int64_t WorkloadProfile::elements() const {
  std::int64_t sum = 0;
  for (const Layer& layer : layers) sum += layer.elements;
  return sum;
}

std::vector<std::string> shipped_profiles(std::string_view kind) {
  const std::string folder = share_folder() + "/profiles";
  std::vector<std::string> names;
  for (const std::string& name : json_names(folder))
    if (kind_of_file(folder + "/" + name + ".json") == kind) names.push_back(name);
  return names;
}

DeviceProfile load_device_profile(std::string_view name_or_path, const std::string& relative_to) {
  const std::string path = profile_path(name_or_path, relative_to, "device");
  const ordered_json json = read_profile(path, device_profile_table(), kCheckDevice);
  DeviceProfile profile;
  profile.origin = origin_of(json, path);
  for (const auto& [name, model] : json["models"].items()) profile.models[name] = model_of(model);
  for (const auto& [name, codec] : json["codecs"].items())
    profile.codecs[name] = {cost_of(codec["encode"]), cost_of(codec["decode"]),
                            cost_of(codec["aggregate"])};
  if (json.contains("decorators")) {
    profile.error_feedback = cost_of(json["decorators"]["error_feedback"]);
    profile.momentum_correction = cost_of(json["decorators"]["momentum_correction"]);
  }
  if (json.contains("peak")) profile.peak = peak_of(json["peak"]);
  if (profile.peak && profile.origin.source == "assumed") assume_unlisted_codecs(profile);
  if (json.contains("kernels")) profile.kernels = kernels_of(json["kernels"]);
  if (json.contains("host"))
    profile.host = {json["host"]["link_bytes_per_s"].get<double>(),
                    json["host"]["memory_bytes_per_s"].get<double>()};
  return profile;
}

WorkloadProfile load_workload_profile(std::string_view name_or_path,
                                      const std::string& relative_to) {
  const std::string path = profile_path(name_or_path, relative_to, "workload");
  const ordered_json json = read_profile(path, workload_profile_table(), kCheckLayers);
  WorkloadProfile profile;
  profile.origin = origin_of(json, path);
  if (json.contains("update_s")) profile.update = seconds_at(json, "update_s");
  for (const ordered_json& layer : json["layers"]) profile.layers.push_back(layer_of(layer));
  return profile;
}

}  // namespace gradwire::scenarios
