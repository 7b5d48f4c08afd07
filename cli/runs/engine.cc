#include "cli/runs/engine.h"

#include "engines/mpi/mpi_engine.h"
#include "engines/parts_folder.h"
#include "engines/slurm/slurm_engine.h"

namespace gradwire::cli {

void add_engine_options(CLI::App& command, RunArguments& arguments, CLI::Option* jobs) {
  command
      .add_option("--engine", arguments.engine,
                  "What the sweep is shared out by: local (threads of this process), mpi (ranks "
                  "under mpirun, on one machine or many) or slurm (tasks of an array job)")
      ->check(CLI::IsMember({"local", "mpi", "slurm"}))
      ->capture_default_str();
  command.parse_complete_callback([&arguments, jobs] { arguments.jobs_given = jobs->count() > 0; });
}

runner::SweepResult run_with_engine(const RunArguments& arguments,
                                    const scenarios::ScenarioFile& file,
                                    const runner::SweepOptions& options, results::Store& store,
                                    ProgressPrinter& progress, const Context& context) {
  const std::string parts_folder = context.database + ".parts";
  if (arguments.engine == "local") {
    engines::store_left_parts(parts_folder, store);
    return runner::run_sweep(file, options, store, progress);
  }
  engines::EngineOptions engine;
  engine.sweep = options;
  engine.processes = arguments.jobs_given ? arguments.jobs : 0;
  engine.parts_folder = parts_folder;
  engine.say = [&](const std::string& message) {
    progress.clear();
    context.say(message);
  };
  if (arguments.engine == "mpi") return engines::run_with_mpi(file, engine, store, progress);
  return engines::run_with_slurm(file, engine, {.script = context.database + ".sbatch"}, store,
                                 progress);
}

}  // namespace gradwire::cli
