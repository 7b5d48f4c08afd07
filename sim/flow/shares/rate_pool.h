#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "sim/cluster/cluster.h"
#include "sim/flow/shares/indexed_heap.h"

/// The flows that cross one channel and meet nobody elsewhere, each with a limit l_f of its own:
/// flow f gets min(l_f, level), where
///     level = (C - sum of l_f over those with l_f <= level) / (number of the others)
/// One rate stands for all the others, so that a change costs log n, not n. The sum is exact (fixed
/// point), so that no order or history shows in it.
namespace gradwire::sim {

class RatePool {
 public:
  /// Pools whose flows are others' never at the same time may share their nodes.
  RatePool(ChannelId channel, IndexedHeap::Nodes& nodes)
      : nodes_(&nodes), limited_(nodes), pooled_(nodes), channel_(channel) {}

  ChannelId channel() const { return channel_; }
  double level() const { return level_; }                      ///< bytes/s
  std::int32_t pooled_count() const { return pooled_count_; }  ///< flows that get the level
  /// Bytes/s of those that get their own limits.
  double limited_rate() const { return static_cast<double>(limited_sum_) / kUnits; }
  bool has(std::int32_t flow) const {
    return (*nodes_)[static_cast<std::size_t>(flow)].place != IndexedHeap::kAbsent;
  }

  /// A flow gets the level from now on, or its limit, until settle() says otherwise.
  void add(std::int32_t flow, double limit, bool pooled) {
    if (pooled) {
      pooled_.set(flow, limit);
      ++pooled_count_;
    } else {
      limited_.set(flow, -limit);
      limited_sum_ += std::llround(limit * kUnits);
    }
  }
  /// Precondition: has(), and it was added in this way.
  void remove(std::int32_t flow, double limit, bool pooled) {
    if (pooled) {
      pooled_.remove(flow);
      --pooled_count_;
    } else {
      limited_.remove(flow);
      limited_sum_ -= std::llround(limit * kUnits);
    }
  }
  /// Finds the level at a capacity, bytes/s: first those that it does not reach any more join the
  /// pool, then those that it has passed leave it. Either move raises it. Calls moved(flow, pooled)
  /// for each. Returns whether the level is another.
  template <typename Moved>
  bool settle(double capacity, Moved moved) {
    double level = level_at(capacity);
    while (!limited_.empty() && -limited_.first_time() > level)
      level = move(limited_.first(), -limited_.first_time(), true, capacity, moved);
    while (!pooled_.empty() && pooled_.first_time() <= level)
      level = move(pooled_.first(), pooled_.first_time(), false, capacity, moved);
    if (pooled_count_ == 0) level = 0;
    return std::exchange(level_, level) != level;
  }
  /// Whether the flows take all but `rest` of the capacity, 1 being all.
  bool is_full(double capacity, double rest) const {
    return pooled_count_ > 0 || static_cast<double>(limited_sum_) >= capacity * kUnits * (1 - rest);
  }

 private:
  __extension__ using FixedPoint = __int128;  ///< in units of 2^-20 bytes a second
  static constexpr double kUnits = 1 << 20;   ///< of it, in a byte a second

  double level_at(double capacity) const {
    constexpr double kNoLevel = std::numeric_limits<double>::infinity();
    if (limited_sum_ == 0) return pooled_count_ > 0 ? capacity / pooled_count_ : kNoLevel;
    const FixedPoint left = std::llround(capacity * kUnits) - limited_sum_;
    if (pooled_count_ == 0) return left < 0 ? -1 : kNoLevel;
    return static_cast<double>(left) / kUnits / pooled_count_;
  }
  template <typename Moved>
  double move(std::int32_t flow, double limit, bool pooled, double capacity, Moved moved) {
    remove(flow, limit, !pooled);
    add(flow, limit, pooled);
    moved(flow, pooled);
    return level_at(capacity);
  }

  IndexedHeap::Nodes* nodes_;
  IndexedHeap limited_;  ///< by -limit
  IndexedHeap pooled_;   ///< by limit
  ChannelId channel_;
  double level_ = 0;
  FixedPoint limited_sum_ = 0;  ///< of the limits of those that get them
  std::int32_t pooled_count_ = 0;
};

}  // namespace gradwire::sim
