#include "scenarios/profile.h"

#include "base/file_descriptor.h"
#include "scenarios/reader.h"
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
  if (is_path(name)) return relative_to_file(name, relative_to);
  const std::vector<std::string> names = shipped_profiles(kind);
  for (const std::string& each : names)
    if (each == name) return share_folder() + "/profiles/" + each + ".json";
  std::string list;
  for (const std::string& each : names) list += (list.empty() ? "" : ", ") + each;
  const std::string near = nearest_name(name, names);
  throw Error(ErrorKind::kScenario, "find", std::string(kind) + " profile " + std::string(name),
              "no such profile ships (shipped: " + list + ")",
              near.empty() ? "" : "did you mean \"" + near + "\"?");
}

ordered_json read_profile(const std::string& path, const FieldTable& table) {
  ProblemList problems;
  const Document document = parse_document(read_file(path), path, problems);
  problems.throw_if_any();
  const Places places(document);
  ReadResult result = read_by_table(table, document.root, kAllKinds, places, problems);
  problems.throw_if_any();
  return std::move(result.value);
}

ProfileOrigin origin_of(const ordered_json& json, const std::string& path) {
  return {json["name"], json["source"], json["note"], path};
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
  const ordered_json json = read_profile(path, device_profile_table());
  DeviceProfile profile;
  profile.origin = origin_of(json, path);
  for (const auto& [name, model] : json["models"].items()) profile.models[name] = model_of(model);
  for (const auto& [name, codec] : json["codecs"].items())
    profile.codecs[name] = {cost_of(codec["encode"]), cost_of(codec["decode"]),
                            cost_of(codec["aggregate"])};
  return profile;
}

WorkloadProfile load_workload_profile(std::string_view name_or_path,
                                      const std::string& relative_to) {
  const std::string path = profile_path(name_or_path, relative_to, "workload");
  const ordered_json json = read_profile(path, workload_profile_table());
  WorkloadProfile profile;
  profile.origin = origin_of(json, path);
  profile.update = seconds_at(json, "update_s");
  for (const ordered_json& layer : json["layers"])
    profile.layers.push_back({layer["name"], layer["elements"],
                              seconds_at(layer, "forward_s_per_sample"),
                              seconds_at(layer, "backward_s_per_sample")});
  return profile;
}

}  // namespace gradwire::scenarios
