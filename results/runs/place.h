#pragma once
#include <string>

#include "results/store/store.h"

/// Places in a results database, as reports, the desktop program and the command line name them.
namespace gradwire::results {

/// "run:42"
std::string place_of(RunId run);
/// "run:42@1.2s..1.31s": a range of its time, in seconds to the nanosecond.
std::string place_of(RunId run, double start_s, double end_s);

/// Of a timeline: "worker 3", "server 0" for hosts beyond the workers (0: their number is not
/// known), "all workers" below zero.
std::string host_name(std::int32_t host, std::int32_t workers);

}  // namespace gradwire::results
