#include "sim/flow/fluid/fluid_channels.h"

#include <algorithm>

#include "sim/flow/shares/contention.h"
#include "sim/session/network.h"

namespace gradwire::sim {
namespace {

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

/// A medium has two numbers, so that LTE's ways are opposites.
FluidChannels::FluidChannels(const Cluster& cluster, double acks, double segment)
    : cluster_(cluster) {
  bool any = false;
  for (ChannelId id = 0; id < cluster.channel_count(); ++id) {
    const Link& link = cluster.link_of(id);
    capacities_.push_back(cluster.nominal_rate(id).value() / 8);
    any = any || RateFollower::is_needed(link, id) || is_air(link) || link.spec.half_duplex;
  }
  if (!any) return;
  const std::size_t channels = capacities_.size();
  follower_of_.assign(channels, -1);
  medium_of_.assign(channels, -1);
  capacities_.resize(channels + 2 * cluster.cells().size(), 1);  // seconds a second
  for (ChannelId id = 0; id < cluster.channel_count(); ++id) {
    const auto at = static_cast<std::size_t>(id);
    const Link& link = cluster.link_of(id);
    if (RateFollower::is_needed(link, id)) {
      follower_of_[at] = static_cast<std::int32_t>(followers_.size());
      followers_.emplace_back(link, id, segment);
      followed_.push_back(id);
      change_nodes_.emplace_back();
    }
    medium_of_[at] = find_medium(id, acks);
  }
}

/// The medium of a channel, or -1; called for the channels in order.
ChannelId FluidChannels::find_medium(ChannelId id, double acks) {
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
    const double data = capacities_[static_cast<std::size_t>(id)] / (1 + acks);
    capacities_.insert(capacities_.end(), {data, data});
  }
  return static_cast<ChannelId>(capacities_.size()) - 2;
}

ChannelId FluidChannels::shared_by(ChannelId id) const {
  const ChannelId medium = medium_of_.empty() ? -1 : medium_of_[static_cast<std::size_t>(id)];
  return medium >= 0 ? medium : id;
}

void FluidChannels::append_media(std::vector<ChannelId>& route) const {
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

/// Null: it never changes, or is a medium.
const RateFollower* FluidChannels::follower(ChannelId id) const {
  if (follower_of_.empty() || id >= cluster_.channel_count()) return nullptr;
  const std::int32_t f = follower_of_[static_cast<std::size_t>(id)];
  return f < 0 ? nullptr : &followers_[static_cast<std::size_t>(f)];
}

bool FluidChannels::changes(std::span<const ChannelId> route) const {
  return std::ranges::any_of(route, [&](ChannelId id) { return follower(id) != nullptr; });
}

double FluidChannels::next_change(std::span<const ChannelId> route) const {
  double next = kNever;
  for (const ChannelId id : route)
    if (const RateFollower* changing = follower(id)) next = std::min(next, changing->next());
  return next;
}

double FluidChannels::line(std::span<const ChannelId> route) const {
  double line = kNever;
  for (const ChannelId id : route) {
    if (id >= cluster_.channel_count()) break;  // media come last
    const RateFollower* changing = follower(id);
    line = std::min(line, changing ? changing->rate() : capacities_[static_cast<std::size_t>(id)]);
  }
  return line;
}

bool FluidChannels::is_out(ChannelId id) const {
  const RateFollower* changing = follower(id);
  return changing && changing->in_outage();
}

void FluidChannels::contend(MaxMin& sharing) const {
  for (const AirMedium& air : airs_) {
    int up = 0, down = 0;
    for (const ChannelId id : air.up) {
      up += sharing.active_on(id) > 0;
      down += sharing.active_on(id + 1) > 0;
    }
    if (air.kind == Cell::Kind::kWifi) {
      sharing.set_capacity(air.medium, 1 / wifi_contention(up, down));
    } else {
      const LteContention longer = lte_contention(up, down);
      sharing.set_capacity(air.medium, 1 / longer.up);
      sharing.set_capacity(air.medium + 1, 1 / longer.down);
    }
  }
}

void FluidChannels::follow(std::int32_t c, double now, MaxMin& sharing) {
  bool air = false;
  for (const ChannelId id : sharing.route(c)) {
    if (id >= cluster_.channel_count()) break;  // media come last
    air = air || is_air(cluster_.link_of(id));
    const std::int32_t f = follower_of_[static_cast<std::size_t>(id)];
    if (f < 0 || change_nodes_[static_cast<std::size_t>(f)].place != IndexedHeap::kAbsent) continue;
    followers_[static_cast<std::size_t>(f)].seek(now);
    apply(f, sharing);
  }
  if (air) update_medium_costs(c, sharing);
}

void FluidChannels::run(double now, double until, MaxMin& sharing, std::vector<ChannelId>& turned) {
  while (next_event() <= until) {
    changes_.take_until(until, batch_);
    for (const IndexedHeap::Entry& entry : batch_) {
      const ChannelId id = followed_[static_cast<std::size_t>(entry.number)];
      if (sharing.active_on(id) == 0) continue;  // follow() takes it up again
      RateFollower& changing = followers_[static_cast<std::size_t>(entry.number)];
      const bool was_out = changing.in_outage();
      changing.advance(now);
      apply(entry.number, sharing);
      if (changing.in_outage() != was_out) turned.push_back(id);
      if (!is_air(cluster_.link_of(id))) continue;
      senders_.clear();
      sharing.append_active(id, senders_);
      for (const std::int32_t c : senders_) update_medium_costs(c, sharing);
    }
  }
}

void FluidChannels::apply(std::int32_t f, MaxMin& sharing) {
  const RateFollower& changing = followers_[static_cast<std::size_t>(f)];
  sharing.set_capacity(followed_[static_cast<std::size_t>(f)], changing.rate());
  if (changing.next() < kForever.value()) changes_.set(f, changing.next());
}

/// What the flow's bytes cost of each air, as its stations stand now.
void FluidChannels::update_medium_costs(std::int32_t c, MaxMin& sharing) const {
  const std::span<const ChannelId> route = sharing.route(c);
  double weight = 1;
  const auto cost_of = [&](ChannelId medium) {
    double cost = 0;
    for (const ChannelId id : route) {
      if (id >= cluster_.channel_count()) break;
      if (medium_of_[static_cast<std::size_t>(id)] != medium) continue;
      const double rate = follower(id)->rate();
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
      if (last) sharing.set_medium(c, hop, cost, std::max(kLeastWeight, weight));
    }
  }
}

}  // namespace gradwire::sim
