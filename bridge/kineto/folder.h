#pragma once
#include <string>

#include "bridge/recording.h"

/// A folder of PyTorch profilers' traces, *.json or *.json.gz, one a rank, as a recording.
namespace gradwire::bridge::kineto {

bool is_trace_folder(const std::string& path);

/// Ranks without a trace are taken to be like others (fill_in_alike()); header.clock says how many.
/// Throws Error(kFailure): no trace, two of one rank, ranks of different worlds, or what
/// fill_in_alike() refuses.
Recording read_traces(const std::string& folder);

/// Its header alone, from one trace.
Header read_traces_header(const std::string& folder);

}  // namespace gradwire::bridge::kineto
