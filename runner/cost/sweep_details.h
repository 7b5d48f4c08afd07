#pragma once
#include <optional>
#include <span>
#include <vector>

#include "results/store/store.h"
#include "runner/training/profile_cache.h"
#include "scenarios/scenario.h"

namespace gradwire::runner {

/// How finely `flow` simulates each of these runs, in order; empty: that is another executor's, or
/// what the run sends first decides, which would have to be trained (a workload that trains), or
/// comes from workers that go their own ways. Runs of one sweep are simulated alike, so that no
/// engine changes along an axis: where the first exchange of any is too large to go packet by
/// packet, all are fluids of which the first exchange is known and decides.
std::vector<std::optional<sim::Detail>> sweep_details(std::span<const scenarios::Scenario> runs,
                                                      ProfileCache& profiles);

/// The stored run of the scenario and its seed that has ended, if it was simulated in that detail,
/// as far as that is known.
std::optional<results::RunId> find_ended(const results::Store& store,
                                         const scenarios::Scenario& run,
                                         std::optional<sim::Detail> detail);

}  // namespace gradwire::runner
