#pragma once
#include "cli/context.h"
#include "results/store/store.h"
#include "runner/sweep.h"

namespace gradwire::cli {

/// Runs of the file that have not ended in the store, with progress, from their checkpoints where
/// there are some. What is said of an interruption or of runs that failed is the caller's.
runner::SweepResult run_missing(const scenarios::ScenarioFile& file, int threads, int jobs,
                                results::Store& store, Context& context);

}  // namespace gradwire::cli
