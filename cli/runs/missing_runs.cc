#include "cli/runs/missing_runs.h"

#include "cli/output/progress.h"

namespace gradwire::cli {

runner::SweepResult run_missing(const scenarios::ScenarioFile& file, int threads, int jobs,
                                results::Store& store, Context& context) {
  runner::SweepOptions options;
  options.threads = threads;
  options.jobs = jobs;
  options.resume = true;
  options.checkpoint_folder = context.checkpoint_folder();
  options.states_folder = context.states_folder();
  ProgressPrinter progress(context);
  const runner::SweepResult result = runner::run_sweep(file, options, store, progress);
  progress.clear();
  return result;
}

}  // namespace gradwire::cli
