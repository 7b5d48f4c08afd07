#pragma once
#include <span>

#include "emulator/emulator.h"

namespace gradwire::emulator {

/// A question about a clock: when it was asked and answered, by one's own, and the answer.
struct ClockSample {
  Seconds asked{0}, answer{0}, answered{0};
};

/// Of the sample with the shortest way there and back (Cristian, 1989): the answer is of somewhere
/// between asking and having it, in the middle most likely, half of the way off at most.
/// Precondition (assertion): there is a sample.
ClockOffset offset_of(std::span<const ClockSample> samples);

}  // namespace gradwire::emulator
