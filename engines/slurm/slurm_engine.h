#pragma once
#include "engines/engine.h"

namespace gradwire::engines {

struct SlurmOptions {
  std::string script;  ///< where the batch script is written, and kept
};

/// Runs the sweep as an array job of Slurm, whose tasks hand in what they have done as files in
/// the folder of parts; it is stored as it comes. Runs of tasks that are lost are submitted again.
/// SIGINT and SIGTERM cancel the job: its tasks stop after a step, and what they have is stored.
/// Where this command itself is killed, its job goes on, and a later command takes what it has
/// brought once it has ended. Throws Error: no Slurm, a job that is refused, an earlier command's
/// job still in the queue, an unusable store.
runner::SweepResult run_with_slurm(const scenarios::ScenarioFile& file,
                                   const EngineOptions& options, const SlurmOptions& slurm,
                                   results::Store& store, runner::RunObserver& observer);

}  // namespace gradwire::engines
