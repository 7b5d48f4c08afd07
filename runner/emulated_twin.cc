#include "runner/emulated_twin.h"

#include <cstdio>

#include "scenarios/checks/executor_checks.h"

namespace gradwire::runner {
namespace {

/// Equal times give equal texts, and so equal scenario hashes.
std::string in_microseconds(Seconds time) {
  char text[40];
  std::snprintf(text, sizeof text, "%.9gus", time.value() * 1e6);
  return text;
}

}  // namespace

scenarios::Scenario simulated_twin(const scenarios::Scenario& emulated, const std::string& executor,
                                   const EmulatedLinks& links) {
  nlohmann::ordered_json json = emulated.json;
  json["executor"] = executor;
  for (const auto& [pointer, link] : scenarios::given_links(emulated.network)) {
    const Seconds delay = (links.delays ? link.delay : Seconds(0)) + links.overhead / 4;
    json[nlohmann::ordered_json::json_pointer(pointer + "/delay")] = in_microseconds(delay);
  }
  return scenarios::read_scenario_text(json.dump(), emulated.file).runs.at(0);
}

}  // namespace gradwire::runner
