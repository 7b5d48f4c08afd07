// Flows that cross media: weighted progressive filling, with a cost of each byte (max_min.h).
#include <algorithm>

#include "base/error.h"
#include "sim/flow/shares/max_min.h"
#include "sim/flow/shares/max_min_tolerances.h"

namespace gradwire::sim {

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

/// How far all open flows can rise, in rate over weight; kNoCap: nothing holds them.
double MaxMin::weighted_level() const {
  double level = kNoCap;
  for (const ChannelId id : live_) {
    const auto c = static_cast<std::size_t>(id);
    level = std::min(level, std::max(0.0, filling_[c].left) / open_weight_[c]);
  }
  return level;
}

void MaxMin::fill_weighted() {
  open_weight_.resize(channels_.size());
  const auto weight = [this](std::int32_t id) { return weight_[static_cast<std::size_t>(id)]; };
  for (const ChannelId id : component_channels_) {
    filling(id) = {data_capacity(id), channel(id).count};
    double& open = open_weight_[static_cast<std::size_t>(id)] = 0;
    for (const Crossing& each : crossings(id)) open += cost(each) * weight(each.flow);
  }
  capped_.clear();
  for (const std::int32_t f : component_flows_) {
    if (flow(f).cap < kNoCap) capped_.push_back(f);
  }
  const auto height = [&](std::int32_t f) { return flow(f).cap / weight(f); };
  std::sort(capped_.begin(), capped_.end(), [&](std::int32_t a, std::int32_t b) {
    return height(a) != height(b) ? height(a) < height(b) : a < b;
  });
  std::size_t next_capped = 0;
  live_ = component_channels_;
  for (;;) {
    std::erase_if(live_, [this](ChannelId id) {
      return filling(id).open == 0 || open_weight_[static_cast<std::size_t>(id)] <= 0;
    });
    if (live_.empty()) break;
    const double level = weighted_level();
    const std::size_t first_capped = next_capped;
    for (; next_capped < capped_.size() && height(capped_[next_capped]) <= level; ++next_capped) {
      fix_weighted(capped_[next_capped], flow(capped_[next_capped]).cap);
    }
    if (next_capped > first_capped) continue;
    tight_.clear();
    for (const ChannelId id : live_) {
      const double own = filling(id).left / open_weight_[static_cast<std::size_t>(id)];
      if (own <= level * (1 + kEqualShares)) tight_.push_back(id);
    }
    for (const ChannelId id : tight_) {
      for (const Crossing& each : crossings(id)) fix_weighted(each.flow, weight(each.flow) * level);
    }
  }
}

void MaxMin::fix_weighted(std::int32_t id, double rate) {
  Flow& f = flow(id);
  if (f.fixed) return;
  f.fixed = true;
  f.next_rate = rate;
  for (std::int32_t hop = 0; hop < f.hops; ++hop) {
    const auto slot = static_cast<std::size_t>(f.route_begin + hop);
    const ChannelId c = routes_[slot];
    filling(c).left -= cost_[slot] * rate;
    open_weight_[static_cast<std::size_t>(c)] -=
        cost_[slot] * weight_[static_cast<std::size_t>(id)];
    --filling(c).open;
  }
}

}  // namespace gradwire::sim
