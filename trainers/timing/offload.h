#pragma once
#include "scenarios/profiles/profile.h"
#include "scenarios/scenario.h"
#include "scenarios/trainer.h"
#include "trainers/layout.h"

/// State of the optimiser in the memory of each worker's host (/exchange/offload; arXiv
/// 2101.06840): how long its traffic and its update take. A worker moves 4 bytes of gradient down
/// and 4 of weight up for each element that it updates:
///
///   to_host(b) = from_host(b) = 4 E_b / link;   update = (bytes an element of the rule) E / memory
namespace gradwire::trainers {

/// Rates of a worker's host: the scenario's, else its device profile's. Throws TrainerError where
/// neither has them.
scenarios::DeviceProfile::Host host_of(const scenarios::Scenario& scenario);

/// `times` as this scenario's steps take them: the update of the largest part, and its traffic.
void take_update_times(const scenarios::Scenario& scenario, const Layout& layout,
                       scenarios::ComputeProfile& times);

/// Bytes over a worker's link in a step, both ways; 0 without offload.
std::int64_t offloaded_bytes(const scenarios::Scenario& scenario, const Layout& layout);

}  // namespace gradwire::trainers
