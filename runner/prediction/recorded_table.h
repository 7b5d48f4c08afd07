#pragma once
#include <string>

#include "bridge/recording.h"
#include "scenarios/profiles/profile.h"

namespace gradwire::runner {

/// A layer table of what ranks of data parallelism did in their usual step: a layer for each
/// all-reduce among all of them, of its elements, in reverse order; a sample is a rank's whole
/// batch. The usual step is the one most ranks' steps have the all-reduces of; times are means over
/// those. What is computed before an all-reduce is its layer's backward pass, what is computed
/// after the last one the update. Nothing tells the forward pass from the backward pass before the
/// first all-reduce: it is taken to be a third of both, as a backward pass takes twice as long.
///
/// Throws Error: no step, or none whose calls among ranks are all-reduces (and broadcasts and
/// barriers) alone.
scenarios::WorkloadProfile recorded_table(const bridge::Recording& recording,
                                          const std::string& path);

}  // namespace gradwire::runner
