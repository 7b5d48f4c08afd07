#pragma once
#include "sim/session/session.h"

namespace gradwire::sim {

/// Alpha-beta time and totals of a collective that is neither a ring nor a server's
/// (sim/model/closed_form.h says how).
CollectiveCosts::Cost schedule_cost(const Cluster& cluster, const TransportSettings& transport,
                                    const CollectiveSpec& spec, std::span<const Bytes> bytes);

}  // namespace gradwire::sim
