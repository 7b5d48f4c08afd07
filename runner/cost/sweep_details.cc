#include "runner/cost/sweep_details.h"

#include <algorithm>

#include "runner/cost/packet_forecast.h"

namespace gradwire::runner {
namespace {

using scenarios::Scenario;

/// Whether its first exchange can be made without running it.
bool is_known(const Scenario& run) {
  return run.workload.kind != scenarios::WorkloadKind::kTraining && run.schedule.kind == "lockstep";
}

}  // namespace

std::vector<std::optional<sim::Detail>> sweep_details(std::span<const Scenario> runs,
                                                      ProfileCache& profiles) {
  std::vector<std::optional<sim::Detail>> details(runs.size());
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (runs[i].executor != "flow") continue;
    details[i] = scenarios::detail_of(runs[i]);
    if (!details[i] && is_known(runs[i])) open.push_back(i);
  }
  // The first one that is too large decides for all: most likely that of the most workers.
  std::ranges::stable_sort(open, std::ranges::greater{},
                           [&](std::size_t i) { return runs[i].cluster.workers; });
  for (const std::size_t i : open) {
    const auto first = first_step(runs[i], profiles);
    if (!first) continue;
    details[i] = scenarios::detail_of(runs[i], *first->plan.graph, first->plan.bytes);
    if (details[i] != sim::Detail::kFluid) continue;
    for (const std::size_t each : open) details[each] = sim::Detail::kFluid;
    break;
  }
  return details;
}

std::optional<results::RunId> find_ended(const results::Store& store, const Scenario& run,
                                         std::optional<sim::Detail> detail) {
  const auto found = store.find_ended(run.hash, run.seed);
  if (!found || !detail || store.run(*found)->header.detail == sim::name_of(*detail)) return found;
  return std::nullopt;
}

}  // namespace gradwire::runner
