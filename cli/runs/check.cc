#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "cli/context.h"
#include "cli/runs/checked_runs.h"
#include "cli/runs/run.h"

namespace gradwire::cli {
namespace {

void check(const RunArguments& arguments, Context& context) {
  const scenarios::ScenarioFile file = read_scenario(arguments);
  warn(file, context);
  if (!file.expected.is_object() ||
      file.expected.value("checks", nlohmann::ordered_json::array()).empty())
    throw Error(ErrorKind::kUsage, "check", arguments.file, "it says nothing of what must come out",
                "give it bounds in /expected/checks, or use run");
  const std::unique_ptr<results::Store> store = context.open_writer();
  print_checks(run_and_check({"check", file.name}, file, arguments, *store, context), context);
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "check", "Run a scenario file and hold what comes out against what it expects");
  auto arguments = std::make_shared<RunArguments>();
  add_scenario_options(*command, *arguments);
  command->add_option("--threads", arguments->threads, "Threads that run workers side by side")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->add_option("-j,--jobs", arguments->jobs, "Runs at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->footer(
      "Each bound of /expected/checks is held against the mean over seeds; a negative control must "
      "miss its bound.\nExit code 7 where one does not hold. Runs that have ended in the database "
      "are not run again.\n"
      "Examples:\n  gradwire check scenarios/studies/local-steps.json -j 2\n"
      "  gradwire check studies/local-steps --seed 11 --format json");
  command->callback([arguments, &context] { check(*arguments, context); });
}

}  // namespace gradwire::cli
