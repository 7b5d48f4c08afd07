#pragma once
#include <optional>
#include <string_view>

#include "results/prediction/step_summary.h"
#include "scenarios/trainer.h"
#include "sim/cluster/cluster.h"

namespace gradwire::runner {

/// A step as closed forms see it: compute and codec times of one worker from `profile`, messages
/// from the plan's collectives, bandwidth, delay and loss from the paths between workers that talk
/// (their means; the bandwidth's harmonic). Empty where no closed form describes the exchange
/// (gossip, pipelines, explicit transfers, all-to-all), or the network (without_closed_form()).
std::optional<results::StepSummary> summarize(const scenarios::Scenario& scenario,
                                              const sim::Cluster& cluster,
                                              const scenarios::ComputeProfile& profile,
                                              const scenarios::StepPlan& plan);

/// Why no closed form describes steps over the scenario's network; empty: one does.
std::string_view without_closed_form(const scenarios::Scenario& scenario,
                                     const sim::Cluster& cluster);

/// Why windows and queues decide what the step's messages take, which closed forms leave out;
/// empty: they do not.
std::string_view without_room(const results::StepSummary& step, const sim::Cluster& cluster,
                              const sim::TransportSettings& transport);

/// Sets the network's figures from the paths that messages of step.workers take; where these follow
/// schedules, the correction too (runner/traces/trace_correction.h).
void take_paths(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                results::StepSummary& step);

}  // namespace gradwire::runner
