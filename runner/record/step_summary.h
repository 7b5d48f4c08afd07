#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "results/prediction/step_summary.h"
#include "scenarios/trainer.h"
#include "sim/cluster/cluster.h"

namespace gradwire::runner {

/// A step as closed forms see it: compute and codec times of one worker from `profile`, messages
/// from the plan's collectives, the network's figures from the paths between workers that talk.
/// Empty where no closed form describes the exchange
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

/// Sets the network's figures from the paths that messages of step.workers take, for each hop of
/// the exchange where links differ (network_paths.cc); where they follow schedules, the correction
/// too (runner/traces/trace_correction.h).
void take_paths(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                results::StepSummary& step);

/// take_paths() on the scenario's network with so many workers; false where it cannot have them.
/// `json`: a resolved scenario, `file` where its paths are seen from.
bool take_paths_on(const std::string& json, const std::string& file, int workers,
                   results::StepSummary& step);

}  // namespace gradwire::runner
