#include <cstdio>
#include <nlohmann/json.hpp>

#include "base/plain_text.h"
#include "cli/context.h"
#include "cli/output/json_text.h"
#include "scenarios/scenario.h"
#include "scenarios/share.h"

namespace gradwire::cli {
namespace {

using scenarios::ScenarioError;

nlohmann::ordered_json problem_json(const ScenarioError::Problem& problem) {
  return {{"name", problem.pointer},    {"file", problem.file},
          {"line", problem.line},       {"message", problem.message},
          {"allowed", problem.allowed}, {"suggestion", problem.suggestion}};
}

/// Validates every file before it fails, so that all problems are seen at once.
void validate(const std::vector<std::string>& files, Context& context) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const std::string& file : files) {
    try {
      const scenarios::ScenarioFile scenario =
          scenarios::read_scenario_file(scenarios::find_scenario_file(file));
      for (const std::string& warning : scenario.warnings) context.say("warning: " + warning);
      if (context.format() == Format::kText)
        std::printf("%s: valid, %zu runs\n", printable(file).c_str(), scenario.runs.size());
    } catch (const ScenarioError& error) {
      context.exit_code = 3;
      for (const auto& problem : error.problems()) rows.push_back(problem_json(problem));
      std::fprintf(stderr, "%s\n", printable(error.what()).c_str());
    }
  }
  if (context.format() != Format::kText)
    std::printf("%s\n", json_text({{"schema_version", 1}, {"rows", rows}}, 1).c_str());
}

}  // namespace

void add_validate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand("validate", "Check scenario files without running them");
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("FILE", *files, "Scenario files")->required();
  command->footer("Example:\n  gradwire validate scenarios/quickstart.json mine.json");
  command->callback([files, &context] { validate(*files, context); });
}

}  // namespace gradwire::cli
