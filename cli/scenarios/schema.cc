#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/context.h"
#include "scenarios/scenario.h"

namespace gradwire::cli {

void add_schema(CLI::App& app, Context&) {
  CLI::App* command =
      app.add_subcommand("schema", "Print the JSON Schema of scenario files, for editors");
  command->callback([] { std::printf("%s\n", scenarios::scenario_schema().dump(2).c_str()); });
}

}  // namespace gradwire::cli
