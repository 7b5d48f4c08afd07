#pragma once
#include "runner/run_loop.h"

namespace gradwire::runner {

struct SweepOptions : RunOptions {
  bool resume =
      false;  ///< skip finished runs of the same scenario and seed, replace unfinished ones
};

struct SweepResult {
  std::vector<results::RunId> runs;  ///< finished now or found finished, in the sweep's order
  int failed = 0;
  int skipped = 0;
  bool interrupted = false;
};

/// Runs every scenario of a file, one after the other. A run that fails does not stop the others.
/// Installs handlers for SIGINT and SIGTERM meanwhile (see interrupt.h).
SweepResult run_sweep(const scenarios::ScenarioFile& file, const SweepOptions& options,
                      results::Store& store, RunObserver& observer);

}  // namespace gradwire::runner
