#include "emulator/exchange/exchange_stats.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::emulator {

std::vector<Seconds> exchange_durations(const sim::GraphTemplate& graph,
                                        const sim::Timeline& timeline) {
  std::vector<Seconds> durations;
  for (sim::OpIndex op = 0; op < graph.size(); ++op) {
    if (graph.kind[op] != sim::OpKind::kCollective) continue;
    const sim::OpRecord& record = timeline.ops[op];
    GRADWIRE_ASSERT(record.start >= Seconds(0) && record.end >= record.start);
    durations.push_back(record.end - record.start);
  }
  return durations;
}

Seconds median_of(std::span<const Seconds> values) {
  GRADWIRE_ASSERT(!values.empty());
  std::vector<Seconds> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  const std::size_t half = sorted.size() / 2;
  return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

sim::Cluster with_measured_delay(const sim::Cluster& cluster, Seconds base_rtt) {
  sim::Cluster copy;
  for (std::size_t node = 0; node < cluster.node_names().size(); ++node) {
    if (cluster.is_host(static_cast<sim::NodeId>(node)))
      copy.add_host(cluster.node_names()[node]);
    else
      copy.add_switch(cluster.node_names()[node]);
  }
  for (const sim::Link& link : cluster.links()) {
    sim::LinkSpec spec = link.spec;
    spec.delay = base_rtt / 4;
    copy.add_link(link.a, link.b, spec);
  }
  copy.finish(cluster.servers());
  return copy;
}

}  // namespace gradwire::emulator
