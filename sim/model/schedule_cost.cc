#include "sim/model/schedule_cost.h"

#include <algorithm>
#include <queue>

#include "sim/cluster/path_cost.h"
#include "sim/graph/collectives/in_network.h"

namespace gradwire::sim {
namespace {

class ScheduleCost {
 public:
  ScheduleCost(const Cluster& cluster, const TransportSettings& transport,
               const CollectiveSpec& spec)
      : cluster_(cluster), transport_(transport), spec_(spec) {}

  /// Every hop in order of time.
  CollectiveCosts::Cost in_order(std::span<const Bytes> bytes) {
    const auto generator = make_generator(spec_, bytes);
    const std::size_t ranks = spec_.members.size();
    out_free_.assign(ranks, 0);
    in_free_.assign(ranks, 0);
    std::vector<HopTransfer> start;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      generator->on_ready(static_cast<int>(rank), start);
    }
    double now = 0;
    for (;;) {
      for (const HopTransfer& hop : start) send(hop, now);
      start.clear();
      if (arrivals_.empty()) break;
      const Arrival arrival = arrivals_.top();
      arrivals_.pop();
      now = arrival.time;
      generator->on_delivered(arrival.hop, start);
      if (generator->wants_sent()) generator->on_sent(arrival.hop, start);
    }
    cost_.duration = Seconds(now);
    return cost_;
  }

  /// Chunks that follow one another up and down a tree of aggregators, which serve all of their
  /// children at once: the longest way of one chunk, then the slowest hop for each of the others.
  CollectiveCosts::Cost through_tree() {
    const std::size_t ranks = spec_.members.size();
    const auto chunks = static_cast<double>(in_network_chunks(spec_));
    const auto generator = make_generator(spec_, {});
    cost_.payload = total_payload(spec_, {});
    cost_.transfers = generator->transfers_total();
    std::vector<double> up(ranks, 0), down(ranks, 0);  // a chunk's time from the leaves, or to them
    std::vector<std::int32_t> workers(ranks, 0);
    double slowest = 0, longest_down = 0;
    const auto hop_seconds = [&](std::size_t from, std::size_t to, std::int32_t contributors) {
      HopTransfer hop;
      hop.source_rank = static_cast<std::int32_t>(from);
      hop.destination_rank = static_cast<std::int32_t>(to);
      const PathCost path(cluster_, route_of(hop));
      const double wire = wire_of_vector(contributors) / chunks;
      slowest = std::max(slowest, wire / path.line_rate);
      return wire > 0 ? path.seconds(wire, segment()) : 0;
    };
    for (std::size_t r = 0; r + 1 < ranks; ++r) {
      const auto parent = static_cast<std::size_t>(spec_.parent[r]);
      workers[r] = std::max(workers[r], 1);
      workers[parent] += workers[r];
      up[parent] = std::max(up[parent], up[r] + hop_seconds(r, parent, workers[r]));
    }
    for (std::size_t r = ranks - 1; r-- > 0;) {
      const auto parent = static_cast<std::size_t>(spec_.parent[r]);
      down[r] = down[parent] + hop_seconds(parent, r, workers.back());
      longest_down = std::max(longest_down, down[r]);
    }
    cost_.duration = Seconds(up.back() + longest_down + (chunks - 1) * slowest);
    return cost_;
  }

  /// Messages that all may go at once.
  CollectiveCosts::Cost at_once(std::span<const Bytes> bytes) {
    const auto generator = make_generator(spec_, bytes);
    const std::size_t ranks = spec_.members.size();
    std::vector<double> out(ranks, 0), in(ranks, 0);
    double slowest = 0, least_alpha = 0;
    std::vector<HopTransfer> start;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      start.clear();
      generator->on_ready(static_cast<int>(rank), start);  // without a window: all that it sends
      for (const HopTransfer& hop : start) {
        if (hop.bytes.count() == 0) {
          ++cost_.transfers;
          continue;
        }
        const std::vector<ChannelId> route = route_of(hop);
        const PathCost path(cluster_, route);
        const double wire = count(hop);
        slowest = std::max(slowest, path.seconds(wire, segment()));
        least_alpha = least_alpha == 0 ? path.propagation : std::min(least_alpha, path.propagation);
        out[rank] += wire * 8 / cluster_.nominal_rate(route.front()).value();
        in[static_cast<std::size_t>(hop.destination_rank)] +=
            wire * 8 / cluster_.nominal_rate(route.back()).value();
      }
    }
    double busiest = 0;
    for (std::size_t r = 0; r < ranks; ++r) busiest = std::max({busiest, out[r], in[r]});
    cost_.duration = Seconds(std::max(slowest, busiest > 0 ? least_alpha + busiest : 0));
    return cost_;
  }

 private:
  struct Arrival {
    double time = 0;
    std::uint64_t order = 0;
    HopTransfer hop;
    bool operator<(const Arrival& other) const {  // the earliest on top
      return time != other.time ? time > other.time : order > other.order;
    }
  };

  double segment() const { return static_cast<double>(transport_.wire_segment.count()); }
  std::vector<ChannelId> route_of(const HopTransfer& hop) const {
    std::vector<ChannelId> route;
    cluster_.route(spec_.members[static_cast<std::size_t>(hop.source_rank)],
                   spec_.members[static_cast<std::size_t>(hop.destination_rank)], route);
    return route;
  }
  /// Wire bytes of all of the chunks of a sum; adds them to the total.
  double wire_of_vector(std::int32_t contributors) {
    const std::int32_t chunks = in_network_chunks(spec_);
    Bytes wire{0};
    for (std::int32_t chunk = 0; chunk < chunks; ++chunk) {
      const std::int64_t count = chunk_range(spec_.elements, chunks, chunk).count;
      wire += wire_bytes(packed_bytes(count, width_of(spec_, contributors)), transport_);
    }
    cost_.wire += wire;
    return static_cast<double>(wire.count());
  }
  /// Adds a hop to the totals; returns its wire bytes.
  double count(const HopTransfer& hop) {
    const Bytes wire = wire_bytes(hop.bytes, transport_);
    cost_.payload += hop.bytes;
    cost_.wire += wire;
    ++cost_.transfers;
    return static_cast<double>(wire.count());
  }

  void send(const HopTransfer& hop, double now) {
    const double wire = count(hop);
    double time = now;
    if (wire > 0) {
      const PathCost path(cluster_, route_of(hop));
      double& out = out_free_[static_cast<std::size_t>(hop.source_rank)];
      double& in = in_free_[static_cast<std::size_t>(hop.destination_rank)];
      const double begin = std::max(now, out);
      out = begin + wire / path.line_rate;
      time = std::max(begin + path.seconds(wire, segment()), in + wire / path.line_rate);
      in = time;
    }
    if (hop.reduce) {
      const auto elements = static_cast<double>(hop_range(spec_, hop).count);
      time += spec_.hop_fixed.value() + elements * spec_.hop_per_element.value();
    }
    arrivals_.push({time, order_++, hop});
  }

  const Cluster& cluster_;
  const TransportSettings& transport_;
  const CollectiveSpec& spec_;
  CollectiveCosts::Cost cost_;
  std::priority_queue<Arrival> arrivals_;
  std::uint64_t order_ = 0;
  std::vector<double> out_free_;  // s, by rank
  std::vector<double> in_free_;
};

}  // namespace

CollectiveCosts::Cost schedule_cost(const Cluster& cluster, const TransportSettings& transport,
                                    const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  ScheduleCost cost(cluster, transport, spec);
  if (spec.kind->cost == CollectiveDescriptor::Cost::kThroughTree) return cost.through_tree();
  const bool at_once = spec.kind->cost == CollectiveDescriptor::Cost::kAtOnce && spec.window == 0;
  return at_once ? cost.at_once(bytes) : cost.in_order(bytes);
}

}  // namespace gradwire::sim
