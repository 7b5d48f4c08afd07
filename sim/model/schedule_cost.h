#pragma once
#include "sim/session/session.h"

namespace gradwire::sim {

/// True for kinds that sim/graph/collectives/scheduled.h makes.
bool is_scheduled(const CollectiveSpec& spec);

/// Alpha-beta time and totals of a scheduled collective (sim/model/closed_form.h says how).
CollectiveCosts::Cost schedule_cost(const Cluster& cluster, const TransportSettings& transport,
                                    const CollectiveSpec& spec, std::span<const Bytes> bytes);

}  // namespace gradwire::sim
