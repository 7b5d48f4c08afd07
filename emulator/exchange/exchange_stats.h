#pragma once
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/session/executor.h"

/// For comparing an emulated run with a simulated one.
namespace gradwire::emulator {

/// First rank ready to last rank done of every collective of a timeline, in order of operations.
std::vector<Seconds> exchange_durations(const sim::GraphTemplate& graph,
                                        const sim::Timeline& timeline);

/// Median (mean of the middle two for an even count). Precondition (assertion): not empty.
Seconds median_of(std::span<const Seconds> values);

/// The same star with every link's delay = base_rtt / 4: a path crosses two links, a round trip
/// four. `flow` on this cluster is what an emulation without netem is compared with.
sim::Cluster with_measured_delay(const sim::Cluster& cluster, Seconds base_rtt);

}  // namespace gradwire::emulator
