// Rates that have changed: progressive filling of what is connected, and pools (max_min.h).
#include <algorithm>
#include <utility>

#include "sim/flow/shares/max_min.h"

namespace gradwire::sim {
namespace {

constexpr std::size_t kChannelsAhead = 6;

}  // namespace

template <bool kWeighted>
void MaxMin::begin_filling() {
  for (const ChannelId id : component_channels_) {
    filling(id) = {data_capacity(id), channel(id).count};
    if (!kWeighted) continue;
    double& open = open_weight_[static_cast<std::size_t>(id)] = 0;
    for (const Crossing& each : crossings(id)) open += cost(each) * weight<true>(each.flow);
  }
  capped_.clear();
  for (const std::int32_t f : component_flows_) {
    if (flow(f).cap < kNoCap) capped_.push_back(f);
  }
  const auto height = [&](std::int32_t f) { return flow(f).cap / weight<kWeighted>(f); };
  std::sort(capped_.begin(), capped_.end(), [&](std::int32_t a, std::int32_t b) {
    return height(a) != height(b) ? height(a) < height(b) : a < b;
  });
  live_ = component_channels_;
}

/// All open flows rise together, in rate over weight, until a channel or a cap holds some.
template <bool kWeighted>
void MaxMin::fill() {
  if (kWeighted) open_weight_.resize(channels_.size());
  begin_filling<kWeighted>();
  // By how much a channel's open flows fill it while the level rises by 1.
  const auto width = [this](ChannelId id) {
    return kWeighted ? open_weight_[static_cast<std::size_t>(id)]
                     : static_cast<double>(filling(id).open);
  };
  std::size_t next_capped = 0;
  for (;;) {
    std::erase_if(live_, [&](ChannelId id) {
      return filling(id).open == 0 || (kWeighted && width(id) <= 0);
    });
    if (live_.empty()) break;
    double level = kNoCap;
    for (const ChannelId id : live_) {
      const double left = filling(id).left;
      level = std::min(level, (kWeighted ? std::max(0.0, left) : left) / width(id));
    }
    // Fixing a flow below the level only raises it for the others: fix all such at once.
    const std::size_t first_capped = next_capped;
    for (; next_capped < capped_.size(); ++next_capped) {
      const std::int32_t f = capped_[next_capped];
      if (flow(f).cap / weight<kWeighted>(f) > level) break;
      fix<kWeighted>(f, flow(f).cap);
    }
    if (next_capped > first_capped) continue;
    tight_.clear();
    for (const ChannelId id : live_) {
      if (filling(id).left / width(id) <= level * (1 + kEqualShares)) tight_.push_back(id);
    }
    for (const ChannelId id : tight_) {
      for (const Crossing& each : crossings(id))
        fix<kWeighted>(each.flow, weight<kWeighted>(each.flow) * level);
    }
  }
}

template <bool kWeighted>
void MaxMin::fix(std::int32_t id, double rate) {
  Flow& f = flow(id);
  if (f.fixed) return;
  f.fixed = true;
  f.next_rate = rate;
  auto slot = static_cast<std::size_t>(f.route_begin);
  for (const ChannelId c : route(id)) {
    Filling& at = filling(c);
    at.left -= kWeighted ? cost_[slot] * rate : rate;
    --at.open;
    if (kWeighted) open_weight_[static_cast<std::size_t>(c)] -= cost_[slot++] * weight<true>(id);
  }
}

/// A flow that shares none of its channels needs no filling; on rings that is every flow.
inline bool MaxMin::solve_alone(std::int32_t number, double now) {
  Flow& f = flow(number);
  if (f.weighted || f.shared > 0) return false;
  const std::span<const ChannelId> channels(routes_.data() + f.route_begin,
                                            static_cast<std::size_t>(f.hops));
  double room = kNoCap;
  for (const ChannelId id : channels) room = std::min(room, channel(id).for_data());
  const double rate = std::min(f.cap, room);
  for (const ChannelId id : channels) {
    Channel& at = channel(id);
    at.visit = visit_;
    note_full(at, rate >= at.for_data() * (1 - kFull), now);
  }
  const auto alone = static_cast<float>(room);
  if (rate != f.rate || (room > rate && alone != f.alone)) note_changed(number);
  f.rate = rate;
  f.alone = alone;
  return true;
}

std::span<const std::int32_t> MaxMin::resolve(double now) {
  changed_count_ = 0;
  changed_pools_.clear();
  if (dirty_count_ == 0) return {};
  ++visit_;
  for (const ChannelId id : dirty_hubs_) update_pooling(id);
  dirty_hubs_.clear();
  for (std::size_t i = 0; i < dirty_count_; ++i) {
    const ChannelId id = dirty_[i];
    Channel& c = channel(id);
    c.dirty = false;
    if (i + kChannelsAhead < dirty_count_) {
      __builtin_prefetch(&channel(dirty_[i + kChannelsAhead]));
      fetch(channel(dirty_[i + kChannelsAhead / 2]).first.flow);
    }
    if (c.visit == visit_) continue;
    if (c.pool >= 0) {
      look_at(c.pool);
    } else if (c.count == 0) {
      note_full(c, false, now);
    } else if (c.count == 1 && flow(c.first.flow).pool >= 0) {
      look_at(flow(c.first.flow).pool, c.first.flow);  // a member of a pool elsewhere
    } else if (c.count > 1 || !solve_alone(c.first.flow, now)) {
      collect_component(id);
      any_weighted_ ? fill<true>() : fill<false>();
      publish(now);
    }
  }
  dirty_count_ = 0;
  for (const std::int32_t pool : dirty_pools_) settle_pool(pool, now);
  dirty_pools_.clear();
  if (changed_count_ > 0 || !changed_pools_.empty()) ++rates_version_;
  return std::span(changed_).first(changed_count_);
}

void MaxMin::collect_component(ChannelId first) {
  component_channels_.assign(1, first);
  component_flows_.clear();
  any_weighted_ = false;
  channel(first).visit = visit_;
  for (std::size_t i = 0; i < component_channels_.size(); ++i) {
    for (const Crossing& crossing : crossings(component_channels_[i])) {
      Flow& f = flow(crossing.flow);
      if (f.visit == visit_) continue;
      f.visit = visit_;
      f.fixed = false;
      any_weighted_ = any_weighted_ || f.weighted;
      component_flows_.push_back(crossing.flow);
      for (const ChannelId c : route(crossing.flow)) {
        if (std::exchange(channel(c).visit, visit_) != visit_) component_channels_.push_back(c);
      }
    }
  }
}

void MaxMin::publish(double now) {
  for (const std::int32_t id : component_flows_) {
    Flow& f = flow(id);
    if (f.next_rate != f.rate) note_changed(id);
    f.rate = f.next_rate;
  }
  for (const ChannelId id : component_channels_) {
    Channel& c = channel(id);
    note_full(c, filling(id).left <= c.capacity() * kFull, now);
  }
}

/// A channel's pool forms, or dissolves.
void MaxMin::update_pooling(ChannelId id) {
  Channel& c = channel(id);
  if (c.pool >= 0) {
    if (c.shared_elsewhere > 0 || c.count < kPoolUntil) dissolve_pool(id);
    return;
  }
  if (c.count < kPoolFrom || c.shared_elsewhere > 0) return;
  std::int32_t& number = pool_of_channel_[static_cast<std::size_t>(id)];
  if (number < 0) {
    number = static_cast<std::int32_t>(pools_.size());
    pools_.push_back({RatePool(id, pool_nodes_)});
  }
  c.pool = number;
  Pool& pool = pools_[static_cast<std::size_t>(number)];
  for (const Crossing& crossing : crossings(id)) {
    flow(crossing.flow).pool = number;
    pool.joined.push_back(crossing.flow);
  }
}

/// Its flows keep their rates until they are solved in another way.
void MaxMin::dissolve_pool(ChannelId id) {
  const std::int32_t number = std::exchange(channel(id).pool, -1);
  Pool& pool = pools_[static_cast<std::size_t>(number)];
  for (const Crossing& crossing : crossings(id)) {
    Flow& f = flow(crossing.flow);
    if (f.pool != number) continue;
    f.rate = rate(crossing.flow);
    take_out(pool, crossing.flow);
    f.pool = -1;
    note_changed(crossing.flow);
  }
  pool.rates = RatePool(id, pool_nodes_);
  pool.joined.clear();
  changed_pools_.push_back(number);
}

/// The pool is to be settled. `member`: who is new, or may have another limit; -1: nobody.
void MaxMin::look_at(std::int32_t number, std::int32_t member) {
  Pool& pool = pools_[static_cast<std::size_t>(number)];
  if (member >= 0) pool.joined.push_back(member);
  if (!std::exchange(pool.listed, true)) dirty_pools_.push_back(number);
}

void MaxMin::take_out(Pool& pool, std::int32_t id) {
  Flow& f = flow(id);
  if (pool.rates.has(id)) pool.rates.remove(id, f.limit, f.pooled);
  f.pooled = false;
}

/// The flow gets its pool's level from now on, or its limit.
void MaxMin::note_place(std::int32_t id, bool pooled) {
  Flow& f = flow(id);
  f.pooled = pooled;
  if (!pooled) f.rate = f.limit;
  note_changed(id);
}

/// A member is new, or its own limit may be another.
void MaxMin::refresh_member(Pool& pool, std::int32_t id) {
  Flow& f = flow(id);
  if (!f.active || f.pool < 0 || &pools_[static_cast<std::size_t>(f.pool)] != &pool) return;
  double limit = f.cap;
  for (const ChannelId c : route(id)) {
    if (c != pool.rates.channel()) limit = std::min(limit, data_capacity(c));
  }
  const bool is_new = !pool.rates.has(id);
  if (!is_new && limit == f.limit) return;
  const bool pooled = is_new || f.pooled;
  take_out(pool, id);
  f.limit = limit;
  pool.rates.add(id, limit, pooled);
  note_place(id, pooled);
}

void MaxMin::settle_pool(std::int32_t number, double now) {
  Pool& pool = pools_[static_cast<std::size_t>(number)];
  Channel& at = channel(pool.rates.channel());
  pool.listed = false;
  if (at.pool < 0) return;  // dissolved
  const std::size_t first_changed = changed_count_;
  for (const std::int32_t id : pool.joined) refresh_member(pool, id);
  pool.joined.clear();
  const auto moved = [this](std::int32_t id, bool pooled) { note_place(id, pooled); };
  if (pool.rates.settle(at.for_data(), moved)) changed_pools_.push_back(number);
  for (std::size_t i = first_changed; i < changed_count_; ++i) {
    const Flow& f = flow(changed_[i]);
    for (const ChannelId c : route(changed_[i]))
      if (c != pool.rates.channel())
        note_full(channel(c), !f.pooled && f.limit >= data_capacity(c) * (1 - kFull), now);
  }
  note_full(at, pool.rates.is_full(at.for_data(), kFull), now);
}

}  // namespace gradwire::sim
