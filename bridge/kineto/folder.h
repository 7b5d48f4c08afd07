#pragma once
#include <string>

#include "bridge/recording.h"

/// A folder of PyTorch profilers' traces, *.json, one a rank, as a recording.
namespace gradwire::bridge::kineto {

bool is_trace_folder(const std::string& path);

/// Ranks without a trace are taken to do what the nearest rank below that has one does (or the
/// first above), as ranks of data parallelism do; header.clock says how many. Throws
/// Error(kFailure): no trace, two of one rank, ranks of different worlds; and, where traces are
/// missing, messages between two ranks, or groups that not all ranks are in, since nobody says who
/// is in the others.
Recording read_traces(const std::string& folder);

/// Its header alone, from one trace.
Header read_traces_header(const std::string& folder);

}  // namespace gradwire::bridge::kineto
