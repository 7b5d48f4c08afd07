#pragma once
#include "engines/engine.h"

namespace gradwire::engines {

/// Runs the sweep with MPI: `gradwire-mpi` under mpirun, a run or a few at a time to whichever rank
/// is idle. Where a rank is lost, and mpirun ends the others for it, what has come is kept and the
/// rest is given out anew; a run that was under way in three such losses is given up as failed.
/// Installs handlers for SIGINT and SIGTERM meanwhile, as run_sweep does: the ranks stop after a
/// step, and what they have is stored. Throws Error: no mpirun, no gradwire-mpi, ranks that cannot
/// be started, what made a rank give up, an unusable store.
runner::SweepResult run_with_mpi(const scenarios::ScenarioFile& file, const EngineOptions& options,
                                 results::Store& store, runner::RunObserver& observer);

/// gradwire-mpi's path. Throws Error(kCapability), saying what to install, where it or mpirun is
/// missing.
std::string require_mpi();

}  // namespace gradwire::engines
