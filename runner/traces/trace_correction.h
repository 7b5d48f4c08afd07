#pragma once
#include "results/prediction/step_summary.h"
#include "sim/cluster/cluster.h"

namespace gradwire::runner {

/// Whether a direction of a link has a rate that changes.
bool follows_schedules(const sim::Cluster& cluster);

/// Corrections: what exchanges take over the closed form (at its usual constants) where links
/// follow schedules, which no constant describes. The messages of steps one after the other are
/// looked at from the schedules' beginning: preludes, the smallest and the largest bucket's, then
/// the step's compute, each worker going on alone. Two looks:
///
/// - as fluids, without anything of TCP but its headers (ring_hops.h, served_exchanges.h): at least
///   5 steps and 300 s of virtual time, fewer where many workers make these long;
/// - by the flow executor (sampled_messages.h), with windows, full queues, acknowledgements behind
///   data and timeouts that double while nothing passes: the first of the same messages, some 2
///   million packets of them.
///
/// An exchange takes what flow found; beyond the messages that flow has carried, what the fluid
/// found, stretched by flow over fluid up to there. So within these messages a prediction on traces
/// is a short simulation, and its error against flow's longer ones says little about other
/// networks.
///
/// Sets the step's corrections, empty ones where this does not apply: neither ring nor server, or
/// no schedules.
void correct_for_traces(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                        results::StepSummary& step);

}  // namespace gradwire::runner
