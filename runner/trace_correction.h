#pragma once
#include "results/prediction/step_summary.h"
#include "sim/cluster/cluster.h"

namespace gradwire::runner {

/// What exchanges take over the closed form (at its usual constants) where links follow schedules,
/// which no constant describes. In a ring, hop k of worker r begins once it has received hop k - 1
/// and its own last bytes have left; with a server, all push, and pull once all have pushed:
///
///     ring    T(r, k) = pass(max(T(r - 1, k - 1) + delay, T(r, k - 1)), bytes of a hop)
///     server  T = max over workers of pass(0, a message) + delay, twice
///
/// pass() being when so many bytes have passed the slowest of the path's links at each moment, from
/// their schedules. A fluid: nothing of TCP but its headers. The mean of exchanges one after the
/// other, from the schedules' beginning. Empty where it does not apply: neither ring nor server, or
/// no schedules.
results::Correction trace_correction(const sim::Cluster& cluster, const results::StepSummary& step);

}  // namespace gradwire::runner
