// Links that change with time, media that channels share, and jitter.
#include <algorithm>

#include "sim/flow/fluid/fluid_network.h"
#include "sim/flow/fluid/jitter.h"
#include "sim/flow/shares/contention.h"

namespace gradwire::sim {
namespace {

/// Stream of delays (base/philox.h: reserved tensor ids).
constexpr std::uint32_t kJitterStream = kFirstReservedTensor + 0x10000003u;
/// The least weight: a station whose turns are empty for now still takes part.
constexpr double kLeastWeight = 1e-6;

bool is_air(const Link& link) {
  return link.cell >= 0;
}

/// What a station's turn is to the largest that its cell can have.
double weight_of(const Cell& cell, double bytes_per_second, bool up) {
  const double largest = turn_bytes(cell.kind, alone_rate(cell, 1, up));
  return std::clamp(turn_bytes(cell.kind, 8 * bytes_per_second) / largest, kLeastWeight, 1.0);
}

}  // namespace

/// Capacities, followers and media. A medium has two numbers, so that LTE's ways are opposites.
void FluidNetwork::prepare_channels() {
  bool any = false;
  for (ChannelId id = 0; id < cluster_.channel_count(); ++id) {
    const Link& link = cluster_.link_of(id);
    capacities_.push_back(cluster_.nominal_rate(id).value() / 8);
    any = any || RateFollower::is_needed(link, id) || is_air(link) || link.spec.half_duplex;
  }
  if (!any) return;
  const std::size_t channels = capacities_.size();
  follower_of_.assign(channels, -1);
  medium_of_.assign(channels, -1);
  capacities_.resize(channels + 2 * cluster_.cells().size(), 1);  // seconds a second
  for (ChannelId id = 0; id < cluster_.channel_count(); ++id) {
    const auto at = static_cast<std::size_t>(id);
    const Link& link = cluster_.link_of(id);
    if (RateFollower::is_needed(link, id)) {
      follower_of_[at] = static_cast<std::int32_t>(followers_.size());
      followers_.emplace_back(link, id, segment_);
      followed_.push_back(id);
      change_nodes_.emplace_back();
    }
    medium_of_[at] = find_medium(id);
  }
}

/// The medium of a channel, or -1; called for the channels in order.
ChannelId FluidNetwork::find_medium(ChannelId id) {
  const Link& link = cluster_.link_of(id);
  if (is_air(link)) {
    const ChannelId first = cluster_.channel_count() + 2 * link.cell;
    const Cell::Kind kind = cluster_.cells()[static_cast<std::size_t>(link.cell)].kind;
    if (airs_.empty() || airs_.back().medium != first) airs_.push_back({kind, first, {}});
    if (id % 2 == 0) airs_.back().up.push_back(id);
    return kind == Cell::Kind::kLte ? first + id % 2 : first;
  }
  if (!link.spec.half_duplex) return -1;
  if (id % 2 == 0) {
    // Acknowledgements take their part of it, whichever way the data goes.
    const double data = capacities_[static_cast<std::size_t>(id)] / (1 + acks_);
    capacities_.insert(capacities_.end(), {data, data});
  }
  return static_cast<ChannelId>(capacities_.size()) - 2;
}

/// Each cell's air carries what contention leaves.
void FluidNetwork::contend() {
  for (const AirMedium& air : airs_) {
    int up = 0, down = 0;
    for (const ChannelId id : air.up) {
      up += sharing_.active_on(id) > 0;
      down += sharing_.active_on(id + 1) > 0;
    }
    if (air.kind == Cell::Kind::kWifi) {
      sharing_.set_capacity(air.medium, 1 / wifi_contention(up, down));
    } else {
      const LteContention longer = lte_contention(up, down);
      sharing_.set_capacity(air.medium, 1 / longer.up);
      sharing_.set_capacity(air.medium + 1, 1 / longer.down);
    }
  }
}

void FluidNetwork::append_media(std::vector<ChannelId>& route) const {
  if (medium_of_.empty()) return;
  const std::size_t wires = route.size();
  for (std::size_t i = 0; i < wires; ++i) {
    const ChannelId medium = medium_of_[static_cast<std::size_t>(route[i])];
    if (medium < 0) continue;
    if (std::find(route.begin() + static_cast<std::ptrdiff_t>(wires), route.end(), medium) ==
        route.end()) {
      route.push_back(medium);
    }
  }
}

/// The connection is about to send: the channels on its way are as they are now.
void FluidNetwork::follow(std::int32_t c) {
  bool air = false;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;  // media come last
    air = air || is_air(cluster_.link_of(id));
    const std::int32_t f = follower_of_[static_cast<std::size_t>(id)];
    if (f < 0 || change_nodes_[static_cast<std::size_t>(f)].place != IndexedHeap::kAbsent) continue;
    followers_[static_cast<std::size_t>(f)].seek(now_);
    apply_change(id);
  }
  if (air) update_medium_costs(c);
  if (connection_at(c).state == State::kStream) hold_acks(c);
}

void FluidNetwork::on_change(std::int32_t f) {
  const ChannelId id = followed_[static_cast<std::size_t>(f)];
  if (sharing_.active_on(id) == 0) return;  // follow() takes it up again
  RateFollower& follower = followers_[static_cast<std::size_t>(f)];
  const bool was_out = follower.in_outage();
  follower.advance(now_);
  apply_change(id);
  if (streams_ > 0 && follower.in_outage() != was_out) hold_acks_on(id);
  if (!is_air(cluster_.link_of(id))) return;
  air_senders_.clear();
  sharing_.append_active(id, air_senders_);
  for (const std::int32_t c : air_senders_) update_medium_costs(c);
}

void FluidNetwork::hold_acks_on(ChannelId id) {
  pooled_.clear();
  sharing_.append_active(id, pooled_);
  for (const std::int32_t c : pooled_) {
    if (connection_at(c).state != State::kStream) continue;
    hold_acks(c);
    set_stream_due(c);
  }
}

void FluidNetwork::apply_change(ChannelId id) {
  const std::int32_t f = follower_of_[static_cast<std::size_t>(id)];
  const RateFollower& follower = followers_[static_cast<std::size_t>(f)];
  sharing_.set_capacity(id, follower.rate());
  if (follower.next() < kForever.value()) changes_.set(f, follower.next());
}

/// What the connection's bytes cost of each air, as its stations stand now.
void FluidNetwork::update_medium_costs(std::int32_t c) {
  const std::span<const ChannelId> route = sharing_.route(c);
  double weight = 1;
  const auto cost_of = [&](ChannelId medium) {
    double cost = 0;
    for (const ChannelId id : route) {
      if (id >= cluster_.channel_count()) break;
      if (medium_of_[static_cast<std::size_t>(id)] != medium) continue;
      const auto f = static_cast<std::size_t>(follower_of_[static_cast<std::size_t>(id)]);
      const double rate = followers_[f].rate();
      const auto cell = static_cast<std::size_t>(cluster_.link_of(id).cell);
      weight = std::min(weight, weight_of(cluster_.cells()[cell], rate, id % 2 == 0));
      if (rate > 0) cost += 1 / rate;
    }
    return cost;
  };
  const ChannelId first = cluster_.channel_count();
  const ChannelId end = first + 2 * static_cast<ChannelId>(cluster_.cells().size());
  for (const bool last : {false, true}) {  // the weight is known after the first round
    for (std::size_t hop = 0; hop < route.size(); ++hop) {
      if (route[hop] < first || route[hop] >= end) continue;
      const double cost = cost_of(route[hop]);
      if (last) sharing_.set_medium(c, hop, cost, std::max(kLeastWeight, weight));
    }
  }
}

/// How much later than without jitter the connection's last segment arrives.
double FluidNetwork::jitter_of(std::int32_t c, const Transfer& t) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  const double rate = rate_of(connection);
  const double spacing = rate > 0 ? segment_ / rate : connection.path->segment_time;
  double delay = 0;
  std::uint32_t hop = 0;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;
    const double jitter = cluster_.channel(id).jitter.value();
    const RandomStream stream = connection_stream(seed_, hop++, connection.key, kJitterStream);
    const auto number = static_cast<std::uint64_t>(connection.segments_sent + t.segments);
    const auto u = static_cast<double>(uniform(stream, number));
    delay += jitter_of_last(jitter, spacing, t.segments, u);
  }
  return delay;
}

}  // namespace gradwire::sim
