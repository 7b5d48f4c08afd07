// Channels that many flows cross which meet nowhere else: one level for all that it limits
// (max_min.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "sim/flow/shares/max_min.h"
#include "sim/flow/shares/max_min_tolerances.h"

namespace gradwire::sim {
void MaxMin::update_pooling(ChannelId id) {
  const Channel& c = channel(id);
  if (c.pool >= 0) {
    if (c.shared_elsewhere > 0 || c.count < kPoolUntil) dissolve_pool(id);
  } else if (c.count >= kPoolFrom && c.shared_elsewhere == 0) {
    form_pool(id);
  }
}

void MaxMin::form_pool(ChannelId id) {
  std::int32_t& number = pool_of_channel_[static_cast<std::size_t>(id)];
  if (number < 0) {
    number = static_cast<std::int32_t>(pools_.size());
    pools_.emplace_back(pool_nodes_);
    pools_.back().channel = id;
  }
  Channel& c = channel(id);
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
  GRADWIRE_ASSERT(pool.pooled_count == 0 && pool.limited_sum == 0);
  pool.joined.clear();
  pool.level = 0;
  changed_pools_.push_back(number);
}

void MaxMin::append_pooled(std::int32_t pool, std::vector<std::int32_t>& flows) const {
  const ChannelId at = pools_[static_cast<std::size_t>(pool)].channel;
  for (const Crossing& crossing : crossings(at)) {
    if (this->pool(crossing.flow) == pool) flows.push_back(crossing.flow);
  }
}

void MaxMin::list_pool(std::int32_t pool) {
  if (std::exchange(pools_[static_cast<std::size_t>(pool)].listed, true)) return;
  dirty_pools_.push_back(pool);
}

void MaxMin::join_again(std::int32_t member) {
  const std::int32_t pool = flow(member).pool;
  pools_[static_cast<std::size_t>(pool)].joined.push_back(member);
  list_pool(pool);
}

void MaxMin::leave_pool(std::int32_t id) {
  Flow& f = flow(id);
  take_out(pools_[static_cast<std::size_t>(f.pool)], id);
  f.pool = -1;
}

void MaxMin::take_out(Pool& pool, std::int32_t id) {
  Flow& f = flow(id);
  if (f.pooled) {
    pool.pooled.remove(id);
    --pool.pooled_count;
  } else if (pool_nodes_[static_cast<std::size_t>(id)].place != IndexedHeap::kAbsent) {
    pool.limited.remove(id);
    pool.limited_sum -= std::llround(f.limit * kUnits);
  }
  f.pooled = false;
}

void MaxMin::join_limited(Pool& pool, std::int32_t id) {
  Flow& f = flow(id);
  f.rate = f.limit;
  pool.limited.set(id, -f.limit);
  pool.limited_sum += std::llround(f.limit * kUnits);
  note_changed(id);
}

void MaxMin::join_pooled(Pool& pool, std::int32_t id) {
  Flow& f = flow(id);
  f.pooled = true;
  pool.pooled.set(id, f.limit);
  ++pool.pooled_count;
  note_changed(id);
}

/// A member is new, or its own limit may be another.
void MaxMin::refresh_member(Pool& pool, std::int32_t id) {
  Flow& f = flow(id);
  if (!f.active || f.pool < 0 || &pools_[static_cast<std::size_t>(f.pool)] != &pool) return;
  double limit = f.cap;
  for (const ChannelId c : route(id)) {
    if (c != pool.channel) limit = std::min(limit, data_capacity(c));
  }
  const bool is_new = pool_nodes_[static_cast<std::size_t>(id)].place == IndexedHeap::kAbsent;
  if (!is_new && limit == f.limit) return;
  const bool pooled = is_new || f.pooled;
  take_out(pool, id);
  f.limit = limit;
  if (pooled) {
    join_pooled(pool, id);
  } else {
    join_limited(pool, id);
  }
}

void MaxMin::note_member_full(const Pool& pool, std::int32_t id, double now) {
  const Flow& f = flow(id);
  for (const ChannelId c : route(id)) {
    if (c == pool.channel) continue;
    note_full(channel(c), !f.pooled && f.limit >= data_capacity(c) * (1 - kFull), now);
  }
}

double MaxMin::level_of(const Pool& pool) const {
  const double capacity = data_capacity(pool.channel);
  if (pool.limited_sum == 0) return pool.pooled_count > 0 ? capacity / pool.pooled_count : kNoCap;
  const FixedPoint left = std::llround(capacity * kUnits) - pool.limited_sum;
  if (pool.pooled_count == 0) return left < 0 ? -1 : kNoCap;
  return static_cast<double>(left) / kUnits / pool.pooled_count;
}

/// First those that the level does not reach any more join the pool, then those that it has passed
/// leave it. Either move raises the level.
void MaxMin::settle_pool(std::int32_t number, double now) {
  Pool& pool = pools_[static_cast<std::size_t>(number)];
  pool.listed = false;
  if (channel(pool.channel).pool < 0) return;  // dissolved
  const std::size_t first_changed = changed_count_;
  for (const std::int32_t id : pool.joined) refresh_member(pool, id);
  pool.joined.clear();
  double level = level_of(pool);
  while (!pool.limited.empty() && -pool.limited.first_time() > level) {
    const std::int32_t id = pool.limited.first();
    take_out(pool, id);
    join_pooled(pool, id);
    level = level_of(pool);
  }
  while (!pool.pooled.empty() && pool.pooled.first_time() <= level) {
    const std::int32_t id = pool.pooled.first();
    take_out(pool, id);
    join_limited(pool, id);
    level = level_of(pool);
  }
  for (std::size_t i = first_changed; i < changed_count_; ++i) {
    note_member_full(pool, changed_[i], now);
  }
  if (pool.pooled_count == 0) level = 0;
  if (std::exchange(pool.level, level) != level) changed_pools_.push_back(number);
  const double capacity = data_capacity(pool.channel);
  const bool full = pool.pooled_count > 0 ||
                    static_cast<double>(pool.limited_sum) >= capacity * kUnits * (1 - kFull);
  note_full(channel(pool.channel), full, now);
}

}  // namespace gradwire::sim
