#include "sim/flow/shares/max_min.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace gradwire::sim {
MaxMin::MaxMin(std::vector<double> capacities, double ack_share)
    : ack_share_(ack_share),
      channels_(capacities.size()),
      crossings_(capacities.size()),
      filling_(capacities.size()),
      dirty_(capacities.size()),
      pool_of_channel_(capacities.size(), -1) {
  static_assert(sizeof(Channel) == 64);
  for (std::size_t c = 0; c < capacities.size(); ++c) {
    channels_[c].capacities = {capacities[c], capacities[c] / (1 + ack_share)};
  }
}

std::int32_t MaxMin::add_flow(std::span<const ChannelId> route) {
  Flow flow;
  flow.route_begin = static_cast<std::int32_t>(routes_.size());
  flow.hops = static_cast<std::int32_t>(route.size());
  routes_.insert(routes_.end(), route.begin(), route.end());
  place_.resize(routes_.size(), -1);
  cost_.resize(routes_.size(), 1);
  weight_.push_back(1);
  double peak = kNoCap;
  for (const ChannelId id : route) peak = std::min(peak, channel(id).capacity());
  peak_.push_back(static_cast<float>(peak));
  flows_.push_back(flow);
  pool_nodes_.emplace_back();
  return static_cast<std::int32_t>(flows_.size()) - 1;
}

std::span<const ChannelId> MaxMin::route(std::int32_t id) const {
  const Flow& flow = flows_[static_cast<std::size_t>(id)];
  return std::span(routes_).subspan(static_cast<std::size_t>(flow.route_begin),
                                    static_cast<std::size_t>(flow.hops));
}

void MaxMin::activate(std::int32_t id, double cap) {
  Flow& f = flow(id);
  GRADWIRE_ASSERT(!f.active);
  f.active = true;
  f.cap = cap;
  f.shared = 0;
  const ChannelId* const begin = routes_.data() + f.route_begin;
  const std::int32_t hops = f.hops;
  for (std::int32_t hop = 0; hop < hops; ++hop) {
    const ChannelId at = begin[hop];
    Channel& c = channel(at);
    mark_dirty(at);
    if (c.count == 0) {
      c.count = 1;
      c.first = {id, hop};
      // The link's other direction carries data against this one's.
      channel(at ^ 1).opposed = true;
      if (channel(at ^ 1).count > 0) mark_dirty(at ^ 1);
    } else {
      add_crossing(f, at, static_cast<std::size_t>(f.route_begin + hop), {id, hop});
    }
  }
  if (f.is_shared_elsewhere()) count_shared_elsewhere(f, 1);
}

/// The flow comes to a channel that carries others.
void MaxMin::add_crossing(Flow& f, ChannelId at, std::size_t slot, const Crossing& crossing) {
  Channel& c = channel(at);
  std::vector<Crossing>& all = crossings_[static_cast<std::size_t>(at)];
  if (c.count == 1) {
    place_[static_cast<std::size_t>(flow(c.first.flow).route_begin + c.first.hop)] = 0;
    all.assign(1, c.first);
    c.offered = peak_[static_cast<std::size_t>(c.first.flow)];
    change_shared(c.first.flow, 1);
  }
  forget_leaders(at);
  c.offered += peak_[static_cast<std::size_t>(crossing.flow)];
  place_[slot] = c.count++;
  all.push_back(crossing);
  ++f.shared;
  if (c.count >= kPoolFrom) dirty_hubs_.push_back(at);
  if (c.pool < 0) return;
  f.pool = c.pool;
  pools_[static_cast<std::size_t>(c.pool)].joined.push_back(crossing.flow);
}

void MaxMin::deactivate(std::int32_t id, double now) {
  Flow& f = flow(id);
  GRADWIRE_ASSERT(f.active);
  if (f.is_shared_elsewhere()) count_shared_elsewhere(f, -1);
  if (f.pool >= 0) {
    take_out(pools_[static_cast<std::size_t>(f.pool)], id);
    f.pool = -1;
  }
  f.active = false;
  f.rate = 0;
  const ChannelId* const begin = routes_.data() + f.route_begin;
  const std::int32_t hops = f.hops;
  for (std::int32_t hop = 0; hop < hops; ++hop) {
    const ChannelId at = begin[hop];
    Channel& c = channel(at);
    if (c.count == 1) {
      c.count = 0;
      c.pool < 0 ? note_full(c, false, now) : mark_dirty(at);
      channel(at ^ 1).opposed = false;
      if (channel(at ^ 1).count > 0) mark_dirty(at ^ 1);
    } else {
      mark_dirty(at);
      remove_crossing(at, static_cast<std::size_t>(f.route_begin + hop));
    }
  }
}

/// The flow of that place in routes_ leaves others behind on the channel.
void MaxMin::remove_crossing(ChannelId at, std::size_t slot) {
  Channel& c = channel(at);
  std::vector<Crossing>& all = crossings_[static_cast<std::size_t>(at)];
  forget_leaders(at);
  const Crossing last = all.back();
  c.offered -= peak_[static_cast<std::size_t>(all[static_cast<std::size_t>(place_[slot])].flow)];
  all[static_cast<std::size_t>(place_[slot])] = last;
  place_[static_cast<std::size_t>(flow(last.flow).route_begin + last.hop)] = place_[slot];
  all.pop_back();
  c.first = all.front();
  --c.count;
  if (c.count == 1) change_shared(c.first.flow, -1);
  if (c.pool >= 0 || c.count >= kPoolFrom) dirty_hubs_.push_back(at);
}

/// The flow meets others on one channel more or less.
void MaxMin::change_shared(std::int32_t id, std::int32_t change) {
  Flow& f = flow(id);
  const bool shared_elsewhere = f.is_shared_elsewhere();
  f.shared += change;
  if (shared_elsewhere != f.is_shared_elsewhere()) count_shared_elsewhere(f, change);
}

void MaxMin::count_shared_elsewhere(const Flow& f, std::int32_t change) {
  for (std::int32_t hop = 0; hop < f.hops; ++hop) {
    const ChannelId id = routes_[static_cast<std::size_t>(f.route_begin + hop)];
    channel(id).shared_elsewhere += change;
    if (channel(id).pool < 0) continue;
    dirty_hubs_.push_back(id);
    mark_dirty(id);
  }
}

void MaxMin::set_cap(std::int32_t id, double cap) {
  Flow& f = flow(id);
  if (f.cap == cap) return;
  f.cap = cap;
  if (!f.active) return;
  mark_dirty(routes_[static_cast<std::size_t>(f.route_begin)]);
  if (f.pool >= 0) look_at(f.pool, id);
}

void MaxMin::set_medium(std::int32_t id, std::size_t hop, double cost, double weight) {
  Flow& f = flow(id);
  GRADWIRE_ASSERT(!f.active || f.weighted);
  const std::size_t slot = static_cast<std::size_t>(f.route_begin) + hop;
  f.weighted = true;
  if (cost_[slot] == cost && weight_[static_cast<std::size_t>(id)] == weight) return;
  cost_[slot] = cost;
  weight_[static_cast<std::size_t>(id)] = weight;
  if (f.active) mark_dirty(routes_[slot]);
}

void MaxMin::set_capacity(ChannelId id, double bytes_per_second) {
  Channel& c = channel(id);
  if (c.capacity() == bytes_per_second) return;
  c.capacities = {bytes_per_second, bytes_per_second / (1 + ack_share_)};
  if (c.count > 0) mark_dirty(id);
}

void MaxMin::append_pooled(std::int32_t pool, std::vector<std::int32_t>& flows) const {
  const ChannelId at = pools_[static_cast<std::size_t>(pool)].rates.channel();
  for (const Crossing& crossing : crossings(at)) {
    if (this->pool(crossing.flow) == pool) flows.push_back(crossing.flow);
  }
}

ChannelId MaxMin::queue_of(std::int32_t id) const {
  if (flows_[static_cast<std::size_t>(id)].weighted) return -1;
  ChannelId queue = -1;
  double least = kNoCap;
  for (const ChannelId at : route(id)) {
    const Channel& c = channels_[static_cast<std::size_t>(at)];
    // Several, and together more than it can carry (and than rounding).
    if (c.count < 2 || c.offered <= 1.001f * static_cast<float>(c.capacity())) continue;
    const double even = c.capacity() / c.count;
    if (queue >= 0 && even >= least) continue;
    queue = at;
    least = even;
  }
  return queue;
}

double MaxMin::room(std::int32_t id) const {
  const double own = rate(id);
  double room = kNoCap;
  const Flow& f = flows_[static_cast<std::size_t>(id)];
  const std::span<const ChannelId> channels = route(id);
  for (std::size_t hop = 0; hop < channels.size(); ++hop) {
    const auto slot = static_cast<std::size_t>(f.route_begin) + hop;
    const double left = left_by_others(channels[hop], id, cost_[slot]) / cost_[slot];
    room = std::min(room, std::max(left, fair_share(channels[hop], id)));
  }
  return std::max(own, room);
}

/// What the channel can carry beside all flows on it but one, whose bytes cost so much of it each.
double MaxMin::left_by_others(ChannelId id, std::int32_t but, double cost_of_own) const {
  constexpr std::size_t kMany = 64;  // more are not summed up anew
  const std::span<const Crossing> all = crossings(id);
  if (all.size() <= kMany) {
    double left = data_capacity(id);
    for (const Crossing& crossing : all) {
      if (crossing.flow != but) left -= rate(crossing.flow) * cost(crossing);
    }
    return left;
  }
  const Channel& c = channels_[static_cast<std::size_t>(id)];
  if (c.pool < 0) return filling_[static_cast<std::size_t>(id)].left + rate(but) * cost_of_own;
  const RatePool& pool = pools_[static_cast<std::size_t>(c.pool)].rates;
  return data_capacity(id) - pool.limited_rate() - pool.level() * pool.pooled_count() + rate(but);
}

/// What a flow that takes less than its share could get of a full channel while it takes all: its
/// own k and that of n others at the level L, evenly, (k + n L) / (n + 1). 0: not full.
double MaxMin::fair_share(ChannelId id, std::int32_t of) const {
  const Channel& c = channels_[static_cast<std::size_t>(id)];
  if (c.full_since < 0 || c.count < 2 || flows_[static_cast<std::size_t>(of)].weighted) return 0;
  if (c.pool >= 0) {
    const RatePool& pool = pools_[static_cast<std::size_t>(c.pool)].rates;
    return (rate(of) + pool.pooled_count() * pool.level()) / (pool.pooled_count() + 1);
  }
  const Leaders& all = leaders(id);
  const double own = rate(of);
  const bool leads = own >= all.highest * (1 - kEqualShares);
  const bool alone = leads && all.at_highest == 1;
  const double level = alone ? all.next : all.highest;
  const double others = alone ? all.at_next : all.at_highest - (leads && level > 0 ? 1 : 0);
  return (own + others * level) / (others + 1);
}

/// Looked for once between two changes, however many flows ask.
const MaxMin::Leaders& MaxMin::leaders(ChannelId id) const {
  if (leaders_.empty()) leaders_.resize(channels_.size());
  Leaders& all = leaders_[static_cast<std::size_t>(id)];
  if (all.version == rates_version_) return all;
  all = {.version = rates_version_};
  for (const Crossing& crossing : crossings(id)) {
    const double each = rate(crossing.flow);
    if (each > all.highest * (1 + kEqualShares)) {
      all.next = std::exchange(all.highest, each);
      all.at_next = std::exchange(all.at_highest, 1);
    } else if (each >= all.highest * (1 - kEqualShares)) {
      ++all.at_highest;
    } else if (each > all.next * (1 + kEqualShares)) {
      all.next = each;
      all.at_next = 1;
    } else if (each >= all.next * (1 - kEqualShares)) {
      ++all.at_next;
    }
  }
  return all;
}

}  // namespace gradwire::sim
