#pragma once
#include "results/prediction/step_summary.h"
#include "sim/cluster/cluster.h"

namespace gradwire::runner {

/// Corrections: what exchanges take over the closed form (at its usual constants) where links
/// follow schedules, which no constant describes. In a ring, hop k of worker r begins once it has
/// received hop k - 1 and its own last bytes have left; with a server, all push, and pull once all
/// have pushed:
///
///     ring    T(r, k) = pass(max(T(r - 1, k - 1) + delay, T(r, k - 1)), bytes of a hop)
///     server  pushed = max over workers of (begin + push);   T(w) = pushed + pull(w)
///
/// With a server a worker begins its next step once it has pulled, whoever else has not.
///
/// pass() being when so many bytes have passed the slowest of the path's links at each moment, from
/// their schedules: a fluid, with nothing of TCP but its headers. What one worker's messages take
/// is simulated with TCP (message_times.h) where that applies, since the slowest of many workers is
/// one whose link rests while its timeouts double; elsewhere it is pass() + delay. Messages are
/// those of steps one after the other, from the schedules' beginning: preludes, the smallest and
/// the largest bucket's, then the step's compute. Sets the step's corrections, empty ones where
/// this does not apply: neither ring nor server, or no schedules.
void correct_for_traces(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                        results::StepSummary& step);

}  // namespace gradwire::runner
