#include "sim/model/closed_form.h"

#include <algorithm>
#include <cmath>

#include "sim/graph/graph_index.h"
#include "sim/model/schedule_cost.h"

namespace gradwire::sim {
namespace {

/// Payload and contributors of hop h of a reduction whose chunk has `count` elements.
struct ReductionHop {
  Bytes payload{0};
  bool adds = false;
};

ReductionHop reduction_hop(const CollectiveSpec& spec, int hop, std::int64_t count) {
  const auto ranks = static_cast<int>(spec.members.size());
  const bool adds = hop < ranks - 1;
  return {packed_bytes(count, width_of(spec, adds ? hop + 1 : ranks)), adds};
}

int hop_count(const CollectiveSpec& spec) {
  const auto ranks = static_cast<int>(spec.members.size());
  return spec.kind == CollectiveKind::kRingAllReduce ? 2 * (ranks - 1) : ranks - 1;
}

}  // namespace

PathCost ClosedForm::path(int source, int destination) const {
  std::vector<ChannelId> route;
  cluster_.route(source, destination, route);
  return PathCost(cluster_, route);
}

ClosedForm::Block ClosedForm::block(Bytes payload, double adding) const {
  const auto wire = static_cast<double>(wire_bytes(payload, transport_).count());
  return {wire, std::min(wire, static_cast<double>(transport_.wire_segment.count())), adding};
}

CollectiveCosts::Cost ClosedForm::cost(const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  using Form = CollectiveDescriptor::Cost;
  const Form form = spec.kind->cost;
  const auto pace = pace_of(cluster_, transport_, spec, bytes);
  if (form != Form::kRing && form != Form::kServer)
    return schedule_cost(cluster_, transport_, spec, bytes);
  Cost cost;
  add_totals(spec, bytes, pace ? &*pace : nullptr, cost);
  cost.duration =
      Seconds(form == Form::kServer ? server_seconds(spec, bytes)
                                    : ring_seconds(spec, bytes, pace ? &*pace : nullptr));
  return cost;
}

void ClosedForm::add_totals(const CollectiveSpec& spec, std::span<const Bytes> bytes,
                            const CollectivePace* pace, Cost& cost) const {
  const auto ranks = static_cast<std::int64_t>(spec.members.size());
  const auto count_block = [&](Bytes payload, std::int64_t times) {
    cost.payload += payload * times;
    cost.wire +=
        (pace ? pace->wire_of(payload, transport_) : wire_bytes(payload, transport_)) * times;
    cost.transfers += times;
  };
  if (spec.byte_slots() > 0) {
    const std::int64_t times = has_server(spec) ? 1 : ranks - 1;
    for (const Bytes message : bytes) count_block(message, times);
    return;
  }
  // Chunks have only two sizes: E mod N of them hold one element more.
  const std::int64_t small = spec.elements / ranks;
  const std::int64_t larger = spec.elements % ranks;
  for (int hop = 0; hop < hop_count(spec); ++hop) {
    count_block(reduction_hop(spec, hop, small).payload, ranks - larger);
    if (larger > 0) count_block(reduction_hop(spec, hop, small + 1).payload, larger);
  }
}

std::vector<ClosedForm::Block> ClosedForm::hops_of_largest(const CollectiveSpec& spec,
                                                           std::span<const Bytes> bytes) const {
  const auto ranks = static_cast<std::int64_t>(spec.members.size());
  std::vector<Block> hops;
  if (spec.byte_slots() > 0) {
    const Bytes largest = *std::max_element(bytes.begin(), bytes.end());
    hops.assign(static_cast<std::size_t>(hop_count(spec)), block(largest, 0));
    return hops;
  }
  const std::int64_t count = (spec.elements + ranks - 1) / ranks;
  const double adding =
      spec.hop_fixed.value() + static_cast<double>(count) * spec.hop_per_element.value();
  for (int h = 0; h < hop_count(spec); ++h) {
    const ReductionHop hop = reduction_hop(spec, h, count);
    hops.push_back(block(hop.payload, hop.adds ? adding : 0));
  }
  return hops;
}

double ClosedForm::ring_seconds(const CollectiveSpec& spec, std::span<const Bytes> bytes,
                                const CollectivePace* pace) const {
  const std::size_t ranks = spec.members.size();
  if (ranks < 2) return 0;
  double propagation = 0, per_byte = 0, forwarding = 0;  // means over the ring's hops
  double slowest = 0;                                    // s a byte
  for (std::size_t r = 0; r < ranks; ++r) {
    PathCost hop = path(spec.members[r], spec.members[(r + 1) % ranks]);
    if (pace && pace->wire_rate > 0) hop.line_rate = pace->wire_rate;
    if (pace) hop.propagation += pace->hop;
    propagation += hop.propagation / static_cast<double>(ranks);
    per_byte += 1 / hop.line_rate / static_cast<double>(ranks);
    forwarding += hop.forwarding / static_cast<double>(ranks);
    slowest = std::max(slowest, 1 / hop.line_rate);
  }
  double way = 0, through_slowest = 0;
  for (const Block& hop : hops_of_largest(spec, bytes)) {
    if (hop.wire > 0) way += propagation + forwarding * hop.first + per_byte * hop.wire;
    way += hop.adding;
    through_slowest += slowest * hop.wire;
  }
  if (spec.byte_slots() > 0) {  // a gather: all blocks but one
    double all = 0, largest = 0;
    for (const Bytes b : bytes) {
      all += block(b, 0).wire;
      largest = std::max(largest, block(b, 0).wire);
    }
    through_slowest = slowest * (all - largest);
  }
  return (pace ? pace->start : 0) + std::max(way, propagation + through_slowest);
}

double ClosedForm::server_seconds(const CollectiveSpec& spec, std::span<const Bytes> bytes) const {
  const bool push = spec.kind == CollectiveKind::kPush;
  double slowest_message = 0, all = 0, least_alpha = 0, server_rate = 0;
  for (std::size_t r = 0; r < spec.members.size(); ++r) {
    const int worker = spec.members[r];
    std::vector<ChannelId> route;
    cluster_.route(push ? worker : spec.server, push ? spec.server : worker, route);
    const PathCost cost(cluster_, route);
    const Block message = block(bytes[r], 0);
    if (message.wire <= 0) continue;
    slowest_message = std::max(slowest_message, cost.propagation + cost.forwarding * message.first +
                                                    message.wire / cost.line_rate);
    const ChannelId own = push ? route.back() : route.front();
    server_rate = std::max(server_rate, cluster_.nominal_rate(own).value() / 8);
    all += message.wire;
    least_alpha = least_alpha == 0 ? cost.propagation : std::min(least_alpha, cost.propagation);
  }
  return all > 0 ? std::max(slowest_message, least_alpha + all / server_rate) : 0;
}

}  // namespace gradwire::sim
