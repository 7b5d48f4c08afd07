#include <nlohmann/json.hpp>

#include "cli/run.h"
#include "cli/table.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

std::string needs(const scenarios::Scenario& scenario) {
  std::string text;
  const auto add = [&](const std::string& need) { text += (text.empty() ? "" : ", ") + need; };
  if (scenario.workload.kind == scenarios::WorkloadKind::kTraining) add("training");
  if (scenario.executor == "packet") add("packet");
  if (scenario.executor == "emulator") add("emulator");
  if (scenario.cluster.device == "cuda") add("cuda");
  return text;
}

std::string swept_values(const scenarios::ScenarioFile& file, const scenarios::Scenario& scenario) {
  std::string text;
  for (const std::string& pointer : file.swept) {
    const nlohmann::ordered_json::json_pointer place(pointer);
    if (!scenario.json.contains(place)) continue;
    const nlohmann::ordered_json& value = scenario.json.at(place);
    text += (text.empty() ? "" : " ") + pointer.substr(pointer.rfind('/') + 1) + "=" +
            (value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

/// Lists the runs of a sweep without running any.
void plan(const RunArguments& arguments, Context& context) {
  const scenarios::ScenarioFile file = read_scenario(arguments);
  warn(file, context);
  Table table({{"run"},
               {"method"},
               {"varied"},
               {"workers"},
               {"executor"},
               {"seed"},
               {"steps"},
               {"needs"},
               {"stored"}});
  std::unique_ptr<results::Store> store;
  try {
    store = context.open_reader();
  } catch (const results::StoreError&) {
    // No database yet: nothing is stored.
  }
  std::int64_t number = 0, stored = 0;
  for (const scenarios::Scenario& scenario : file.runs) {
    const bool there = store && store->find_finished(scenario.hash, scenario.seed);
    stored += there;
    table.add(
        {++number, scenarios::method_label(scenario), swept_values(file, scenario),
         static_cast<std::int64_t>(scenario.cluster.workers), scenario.executor,
         static_cast<std::int64_t>(scenario.seed),
         static_cast<std::int64_t>(scenario.workload.kind == scenarios::WorkloadKind::kTraining
                                       ? scenario.workload.steps
                                       : scenario.workload.repetitions),
         needs(scenario), there});
  }
  table.print(context);
  context.say(std::to_string(number) + " runs, " + std::to_string(stored) +
              " of them finished in " + context.database + " (run --resume skips those)");
}

}  // namespace

void add_plan(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("plan", "List the runs of a scenario file without running them");
  auto arguments = std::make_shared<RunArguments>();
  add_scenario_options(*command, *arguments);
  command->add_option("--executor", arguments->executor, "As for run")
      ->check(CLI::IsMember({"model", "flow", "packet", "emulator"}));
  command->footer("Example:\n  gradwire plan scenarios/sweep.json");
  command->callback([arguments, &context] { plan(*arguments, context); });
}

}  // namespace gradwire::cli
