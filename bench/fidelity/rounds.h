#pragma once
#include "bench/fidelity/experiment.h"

namespace gradwire::bench {

/// run_experiment() of rounds with a deadline: each is a graph of its own, of which what has not
/// ended by the deadline is cut off.
Times run_rounds(const Experiment& experiment, std::string_view executor, std::uint64_t seed);

}  // namespace gradwire::bench
