#pragma once
#include <string>

#include "scenarios/profiles/profile.h"

namespace gradwire::scenarios {

/// What most of a network's time goes into, by the kinds of its layers: "attention" (products of
/// activations), "convolutional", "recurrent", else "dense".
std::string family_of(const WorkloadProfile& profile);

/// Whether Adam trains a layer table: a network with attention. Others: SGD with momentum.
bool trained_by_adam(const WorkloadProfile& profile);

}  // namespace gradwire::scenarios
