#pragma once
#include "bench/emulation/draw_case.h"
#include "sim/session/executor.h"

namespace gradwire::bench {

/// The kernel's TCP as the emulator has it, with the calibration of `flow` against it.
sim::TransportSettings emulation_transport();

/// Runs the case's step once: s from the first rank's start to its end.
double run_step(sim::Executor& executor, const EmulationCase& c);

}  // namespace gradwire::bench
