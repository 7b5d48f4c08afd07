#include "engines/task.h"

#include "base/error.h"
#include "cli/context.h"

namespace gradwire::cli {

void add_task(CLI::App& app, Context&) {
  CLI::App* command = app.add_subcommand(
      "task", "Run a share of a sweep; batch scripts of run --engine slurm start it");
  struct Arguments {
    std::string folder;
    int index = 0;
    int of = 1;
  };
  auto arguments = std::make_shared<Arguments>();
  command->add_option("FOLDER", arguments->folder, "Folder of the sweep's parts, DATABASE.parts")
      ->required()
      ->type_name("");
  command->add_option("--index", arguments->index, "Number of this task, from 0")
      ->required()
      ->check(CLI::Range(0, 99999));
  command->add_option("--of", arguments->of, "Number of tasks")
      ->required()
      ->check(CLI::Range(1, 100000));
  command->footer(
      "What it has done is left in the folder, for the command that has submitted the job.\n"
      "Example:\n  gradwire task gradwire.db.parts --index 0 --of 4");
  command->callback([arguments] {
    if (arguments->index >= arguments->of)
      throw Error(ErrorKind::kUsage, "use --index", std::to_string(arguments->index),
                  "there are " + std::to_string(arguments->of) + " tasks, from 0 on",
                  "give a smaller one");
    engines::run_task(arguments->folder, arguments->index, arguments->of);
  });
}

}  // namespace gradwire::cli
