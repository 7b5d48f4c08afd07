#pragma once
#include <string>

#include "bridge/recording.h"

namespace gradwire::bridge {

/// Ranks that have told nothing are taken to do what the nearest rank below that has does (or the
/// first above), as ranks of data parallelism do; returns how many. Throws Error(kFailure) naming
/// `source` where nobody can say what they do: messages between two ranks, or groups that not all
/// ranks are in; and where it would be more than 10 million events.
int fill_in_alike(Recording& recording, const std::string& source);

/// The recording of `ranks` ranks, rank r doing what rank r mod (recorded ones) does. What all
/// ranks hold together stays as large: blocks of an all-gather, a gather or a scatter become
/// smaller with more ranks, and the parts of an all-to-all equal ones of the same sum. A root stays
/// the rank that it is, or becomes rank 0 where that is gone. Throws as fill_in_alike().
Recording with_ranks(Recording recording, int ranks, const std::string& source);

}  // namespace gradwire::bridge
