#pragma once
#include "scenarios/checks/rules.h"

namespace gradwire::scenarios {

/// The workload's layer table: one that there is, and whose times the device knows.
void check_profile(const Rules& rules);
/// The device's profile: one with times of the model and of the codec.
void check_device(const Rules& rules);
/// State in the host's memory: rates of the link to it and of its memory are known.
void check_offload(const Rules& rules);
/// Stragglers: workers that there are, each once.
void check_stragglers(const Rules& rules);

}  // namespace gradwire::scenarios
