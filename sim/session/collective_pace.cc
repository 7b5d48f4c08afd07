#include "sim/session/collective_pace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "sim/cluster/path_cost.h"

namespace gradwire::sim {
namespace {

/// The ways of a ring's hops.
struct RingWays {
  std::vector<double> line_rate;                            ///< [ranks] wire bytes/s
  double propagation = 0;                                   ///< mean, s
  double within = std::numeric_limits<double>::infinity();  ///< slowest in a node, wire bytes/s
  double between = within;                                  ///< slowest between nodes
  int nodes = 0;
};

RingWays ways_of(const Cluster& cluster, const NcclSettings& nccl, const CollectiveSpec& spec) {
  RingWays ways;
  const std::size_t ranks = spec.members.size();
  std::set<int> nodes;
  std::vector<ChannelId> route;
  for (std::size_t r = 0; r < ranks; ++r) {
    const int from = spec.members[r], to = spec.members[(r + 1) % ranks];
    route.clear();
    cluster.route(from, to, route);
    const PathCost way(cluster, route);
    const int node = from / nccl.gpus_per_node;
    double& slowest = node == to / nccl.gpus_per_node ? ways.within : ways.between;
    slowest = std::min(slowest, way.line_rate);
    ways.line_rate.push_back(way.line_rate);
    ways.propagation += way.propagation / static_cast<double>(ranks);
    nodes.insert(node);
  }
  ways.nodes = static_cast<int>(nodes.size());
  return ways;
}

double bytes_of(const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  if (spec.is_reduction()) {
    const int width = width_of(spec, static_cast<int>(spec.members.size()));
    return static_cast<double>(packed_bytes(spec.elements, width).count());
  }
  double sum = 0;
  for (const Bytes block : bytes) sum += static_cast<double>(block.count());
  return sum;
}

/// Bus bandwidth of all ranks, bytes/s of payload; `headers`: wire bytes of one of payload.
double bandwidth_of(const NcclSettings& nccl, const RingWays& ways, const NcclCall& call,
                    double headers) {
  double within = ways.within / headers;
  if (nccl.gpu && call.gpus_per_node > 1)
    within = nccl.gpu->bytes_per_second(call.gpus_per_node, call.all_reduce);
  const double between = nccl.adapters * ways.between / headers;
  return nccl.bandwidth * (call.nodes > 1 ? std::min(within, between) : within);
}

}  // namespace

Bytes CollectivePace::occupied(int rank, Bytes payload) const {
  const double bytes =
      static_cast<double>(payload.count()) * stretch[static_cast<std::size_t>(rank)];
  return Bytes(std::max<std::int64_t>(1, std::llround(bytes)));
}

Bytes CollectivePace::wire_of(Bytes payload, const TransportSettings& transport) const {
  const double bytes = static_cast<double>(payload.count()) * sent;
  return wire_bytes(Bytes(std::llround(bytes)), transport);
}

std::optional<CollectivePace> pace_of(const Cluster& cluster, const TransportSettings& transport,
                                      const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  const auto ranks = static_cast<int>(spec.members.size());
  const bool is_ring = spec.kind->cost == CollectiveDescriptor::Cost::kRing;
  if (!transport.library || !is_ring || ranks < 2) return std::nullopt;
  const NcclSettings& nccl = *transport.library;
  const RingWays ways = ways_of(cluster, nccl, spec);
  const double headers = static_cast<double>(transport.wire_segment.count()) /
                         static_cast<double>(transport.segment.count());
  NcclCall call;
  call.all_reduce = spec.kind == CollectiveKind::kRingAllReduce;
  const int hops = (call.all_reduce ? 2 : 1) * (ranks - 1);
  call.share = static_cast<double>(hops) / ranks;
  call.workers = ranks;
  call.nodes = ways.nodes;
  call.gpus_per_node = (ranks + ways.nodes - 1) / ways.nodes;
  call.bytes = bytes_of(spec, bytes);
  const NcclRates rates = {
      bandwidth_of(nccl, ways, call, headers),
      most_of_ll(nccl.gpu)[static_cast<std::size_t>(std::min(ways.nodes, 3) - 1)], nccl.latency,
      nccl.network};
  const NcclPlan plan = nccl_plan(call, rates);
  CollectivePace pace;
  pace.start = nccl.start.value() + plan.base;
  pace.hop = std::max(0.0, plan.steps / hops - ways.propagation);
  pace.sent = plan.sent;
  if (plan.moving > 0) pace.wire_rate = headers * call.share * call.bytes / plan.moving;
  for (const double rate : ways.line_rate)
    pace.stretch.push_back(pace.wire_rate > 0 ? rate / pace.wire_rate : 1);
  return pace;
}

}  // namespace gradwire::sim
