#pragma once
#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/flow/shares/indexed_heap.h"

namespace gradwire::sim {

/// Connections that get one rate from one channel (max_min.h: pools). As each is served the same,
/// their events stand in an order of bytes served that no change of the rate disturbs: a change is
/// one for all of them.
class RatePools {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `members`: nodes by connection, of which a pool's stand in no other heap.
  explicit RatePools(IndexedHeap::Nodes& members) : members_(members) {}

  void grow(std::int32_t count) {
    while (static_cast<std::int32_t>(pools_.size()) < count) {
      pools_.emplace_back(members_);
      nodes_.emplace_back();
    }
  }
  /// Bytes/s.
  double rate(std::int32_t p) const { return pools_[static_cast<std::size_t>(p)].rate; }
  /// Bytes until `now`, s, to each member that was there all the time.
  double served(std::int32_t p, double now) const {
    const Pool& one = pools_[static_cast<std::size_t>(p)];
    return one.served + one.rate * (now - one.updated);
  }
  /// From `now` on. schedule() is to follow when all members know.
  void set_rate(std::int32_t p, double rate, double now) {
    Pool& one = pool(p);
    one.served = served(p, now);
    one.updated = now;
    one.rate = rate;
  }
  /// Its next event, as its rate or members have changed.
  void schedule(std::int32_t p, double now) {
    Pool& one = pool(p);
    if (one.due.empty() || one.rate <= 0) {
      due_.remove(p);
      if (one.rate == 0 && one.due.empty()) one.served = 0;  // nobody is in it
    } else {
      const double bytes = one.due.first_time() - served(p, now);
      due_.set(p, now + std::max(0.0, bytes) / one.rate);
    }
  }
  /// The member's event comes when `bytes` more have been served to it.
  void set_due(std::int32_t p, std::int32_t member, double bytes, double now) {
    pool(p).due.set(member, served(p, now) + bytes);
    schedule(p, now);
  }
  void remove(std::int32_t p, std::int32_t member, double now) {
    pool(p).due.remove(member);
    schedule(p, now);
  }
  double next_event() const { return due_.empty() ? kNever : due_.first_time(); }  ///< s
  /// Takes those members of the pool of next_event() whose event comes until `until`.
  void take_until(double until, double now, std::vector<IndexedHeap::Entry>& taken) {
    const std::int32_t p = due_.first();
    Pool& one = pool(p);
    const double bytes = one.served + one.rate * (until - one.updated);
    one.due.take_until(std::max(bytes, one.due.first_time()), taken);
    schedule(p, now);
  }
  /// Whether the rate has changed by more than this share of it since the last time that it had.
  bool has_changed(std::int32_t p, double share) {
    Pool& one = pool(p);
    if (std::abs(one.rate - one.noted) <= share * one.noted) return false;
    one.noted = one.rate;
    return true;
  }

 private:
  struct Pool {
    explicit Pool(IndexedHeap::Nodes& members) : due(members) {}
    double rate = 0;
    double served = 0;   ///< bytes, until `updated`
    double updated = 0;  ///< s
    double noted = 0;    ///< rate, has_changed()
    IndexedHeap due;     ///< by bytes served
  };
  Pool& pool(std::int32_t p) { return pools_[static_cast<std::size_t>(p)]; }

  IndexedHeap::Nodes& members_;
  IndexedHeap::Nodes nodes_;  ///< by pool
  IndexedHeap due_{nodes_};   ///< s
  std::vector<Pool> pools_;
};

}  // namespace gradwire::sim
