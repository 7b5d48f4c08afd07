#pragma once
#include "cli/context.h"
#include "cli/output/progress.h"
#include "cli/runs/run.h"
#include "runner/sweep.h"

namespace gradwire::cli {

/// --engine and what belongs to it; `jobs` is the option --jobs.
void add_engine_options(CLI::App& command, RunArguments& arguments, CLI::Option* jobs);

/// Runs the sweep with the engine that the arguments name: in this process, or shared out.
runner::SweepResult run_with_engine(const RunArguments& arguments,
                                    const scenarios::ScenarioFile& file,
                                    const runner::SweepOptions& options, results::Store& store,
                                    ProgressPrinter& progress, const Context& context);

}  // namespace gradwire::cli
