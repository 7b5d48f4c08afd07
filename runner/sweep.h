#pragma once
#include "runner/run_loop.h"

namespace gradwire::runner {

struct SweepOptions : RunOptions {
  int jobs = 1;  ///< runs at a time, each on a thread of its own
  // `memory`: of all jobs together; none = half of what is available when the sweep begins.
  // `resume`: finished runs of the same scenario and seed are skipped, too.
};

struct SweepResult {
  /// Finished or diverged now, or found so, in the sweep's order.
  std::vector<results::RunId> runs;
  int failed = 0;
  std::string why_failed;  ///< of the first run that failed; empty where none did
  int diverged = 0;        ///< of `runs`
  int skipped = 0;
  bool interrupted = false;
};

/// Runs every scenario of a file, `jobs` at a time. A run that fails does not stop the others; an
/// unusable store or a missing capability stops the sweep. Results do not depend on `jobs`: compute
/// times are measured under a machine-wide lock, one run at a time, and replayed frozen.
/// Installs handlers for SIGINT and SIGTERM meanwhile (see interrupt.h).
SweepResult run_sweep(const scenarios::ScenarioFile& file, const SweepOptions& options,
                      results::Store& store, RunObserver& observer);

}  // namespace gradwire::runner
