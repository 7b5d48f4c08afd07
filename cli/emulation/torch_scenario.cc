#include "cli/emulation/torch_scenario.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/options.h"
#include "scenarios/networks/named_networks.h"
#include "scenarios/share.h"

namespace gradwire::cli {
namespace {

using nlohmann::ordered_json;

ordered_json parse_network(const std::string& path) {
  ordered_json json;
  try {
    json = ordered_json::parse(read_file(path));
  } catch (const ordered_json::exception& error) {
    throw Error(ErrorKind::kScenario, "read network", path, error.what());
  }
  if (!json.is_object())
    throw Error(ErrorKind::kScenario, "read network", path, "it is no JSON object",
                "write a scenario's network, or a scenario");
  return json;
}

bool is_name_of_network(const std::string& name) {
  return name == scenarios::kNvlinkNode ||
         std::ranges::count(scenarios::named_networks(), name, &scenarios::NamedNetwork::name) > 0;
}

/// Throws for a name that is nearly one of a network as other commands do.
std::string file_of(const std::string& name) {
  try {
    return scenarios::find_scenario_file(name);
  } catch (const Error&) {
    std::vector<std::string> networks;
    for (const scenarios::NamedNetwork& each : scenarios::named_networks())
      networks.emplace_back(each.name);
    if (!nearest_name(name, networks).empty()) scenarios::overrides_of_network(name);
    throw;
  }
}

}  // namespace

TorchNetwork::TorchNetwork(std::string file_or_name)
    : named_(!std::filesystem::exists(file_or_name) && is_name_of_network(file_or_name)) {
  if (named_) {
    path_ = "--network " + file_or_name;
    parts_["network"] = ordered_json::object();
    return;
  }
  path_ = file_of(file_or_name);
  const ordered_json json = parse_network(path_);
  if (!json.contains("network")) {
    parts_["network"] = json;
    return;
  }
  for (const auto& [key, value] : json.items()) {
    if (key == "network" || key == "cluster" || key == "executor")
      parts_[key] = value;
    else if (key != "$schema" && key != "schema_version" && key != "name" && key != "description")
      unused_ += (unused_.empty() ? "" : ", ") + key;
  }
  if (parts_.contains("cluster") && parts_["cluster"].is_object() &&
      parts_["cluster"].erase("device") > 0)
    unused_ += (unused_.empty() ? "" : ", ") + std::string("cluster/device");
}

scenarios::Scenario TorchNetwork::read(const ordered_json& workload, int ranks,
                                       const std::string& name,
                                       const scenarios::Overrides& overrides) const {
  ordered_json scenario = {{"schema_version", scenarios::kSchemaVersion}, {"name", name}};
  scenario["workload"] = workload;
  scenario.update(parts_);
  const bool closed = !scenario.contains("cluster") || scenario["cluster"].is_object();
  if (ranks > 0 && closed) scenario["cluster"]["workers"] = ranks;
  return scenarios::read_scenario_text(scenario.dump(), path_, overrides).runs.front();
}

void TorchNetwork::check(int ranks, const scenarios::Overrides& overrides) const {
  read({{"collective", "ring-all-reduce"}}, ranks, "torch", overrides);
}

scenarios::Scenario TorchNetwork::scenario(const ordered_json& workload, int ranks,
                                           const std::string& name,
                                           const scenarios::Overrides& overrides) const {
  return read(workload, ranks, name, overrides);
}

}  // namespace gradwire::cli
