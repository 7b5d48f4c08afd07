#include "cli/scenarios/plain_scenario.h"

#include <filesystem>

namespace gradwire::cli {
namespace {

constexpr const char* kPlain = R"({"schema_version": 1, "name": "plain",
  "workload": {"profile": "resnet50", "batch_per_worker": 32},
  "cluster": {"workers": 16, "device": "v100"},
  "network": {"topology": "star", "link": {"bandwidth": "10Gbps", "delay": "10us"}},
  "executor": "flow", "seeds": [1]})";

}  // namespace

scenarios::ScenarioFile named_or_plain_scenario(const RunArguments& arguments) {
  if (!arguments.file.empty()) return read_scenario(arguments);
  const std::string path = (std::filesystem::current_path() / "plain.json").string();
  return read_scenario_text(kPlain, path, arguments);
}

}  // namespace gradwire::cli
