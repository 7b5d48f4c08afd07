#pragma once
#include <string>

#include "bridge/recording.h"

namespace gradwire::bridge {

/// Ranks that have told nothing are taken to do what the nearest rank below that has does (or the
/// first above), as ranks of data parallelism do; returns how many. Throws Error(kFailure) naming
/// `source` where nobody can say what they do: messages between two ranks, or groups that not all
/// ranks are in.
int fill_in_alike(Recording& recording, const std::string& source);

}  // namespace gradwire::bridge
