#pragma once
#include "base/units.h"

/// The machine's monotonic clock: all processes of one machine read the same one, so that times
/// measured by different workers can be compared.
namespace gradwire::emulator {

/// CLOCK_MONOTONIC now, in seconds. A double holds 2^53 ns: 104 days at full resolution.
Seconds monotonic_now();

/// Sleeps until the instant and not less: sleeps to shortly before it, then spins, since a wake-up
/// is late by tens of microseconds. Returns the time measured afterwards.
Seconds sleep_until(Seconds instant);

/// Asks the kernel for timers that are 1 ns late at most instead of 50 us (prctl
/// PR_SET_TIMERSLACK); threads started afterwards by the calling thread inherit it.
void sharpen_timers();

}  // namespace gradwire::emulator
