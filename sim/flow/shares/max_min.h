#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/shares/indexed_heap.h"
#include "sim/flow/shares/rate_pool.h"

/// Max-min fair sharing of channels by flows, by progressive filling (Bertsekas and Gallager, "Data
/// Networks", section 6.5.2).
///
/// A flow f crosses the channels of its route and may have a cap k_f. Its rate x_f is the max-min
/// fair one: no flow can get more without taking from one that has no more than it.
///     sum of x_f over flows on channel c  <=  C_c,     x_f <= k_f
/// All rates rise together from 0; the first level at which a channel is full, or a flow at its
/// cap, fixes those flows; the rest rises on.
///
/// Acknowledgements. Data on a channel causes acknowledgements on its opposite channel. While both
/// directions of a link carry data, each direction's capacity for data is C / (1 + ack_share):
/// exact where both directions are full, up to ack_share too low where the opposite one is nearly
/// idle.
///
/// Only the connected component of channels and flows that a change touches is solved again, and
/// once per instant however many flows change.
///
/// Pools. Where many flows cross one channel (a server's link) and meet nowhere else, each has a
/// limit of its own (its cap and its other channels), and all that do not reach theirs one rate
/// (rate_pool.h), so that a change costs log n, not n.
/// Shares that differ by less than 1e-12 of themselves count as equal, so that flows in equal
/// positions get bit-equal rates whatever their order.
///
/// Media. A channel may be a medium (the air of a cell): a byte of flow f costs a_fc of it, and f
/// has a weight w_f <= 1. Then rates are the weighted max-min fair ones:
///     sum of a_fc x_f over flows on c  <=  C_c,     x_f = w_f level until something fixes it
/// A flow has one weight wherever it goes: wires that are full share by it too.
namespace gradwire::sim {

class MaxMin {
 public:
  static constexpr double kNoCap = std::numeric_limits<double>::infinity();

  /// Capacities in bytes a second, by channel (channel c's opposite is c xor 1).
  MaxMin(std::vector<double> capacities, double ack_share);

  /// A flow over `route`, inactive. Numbers are dense, from 0.
  std::int32_t add_flow(std::span<const ChannelId> route);
  void activate(std::int32_t flow, double cap);
  /// `now`: as resolve()'s.
  void deactivate(std::int32_t flow, double now);
  void set_cap(std::int32_t flow, double cap);
  /// A byte of the flow costs `cost` of the channel at place `hop` of its route from now on, and
  /// its rate is shared out by `weight` (until now and elsewhere: 1 and 1).
  void set_medium(std::int32_t flow, std::size_t hop, double cost, double weight);
  /// The channel can carry so much from now on; 0: nothing.
  void set_capacity(ChannelId channel, double bytes_per_second);
  /// Active flows that cross the channel.
  std::int32_t active_on(ChannelId id) const {
    return channels_[static_cast<std::size_t>(id)].count;
  }
  void append_active(ChannelId id, std::vector<std::int32_t>& flows) const {
    for (const Crossing& crossing : crossings(id)) flows.push_back(crossing.flow);
  }

  /// Solves what has changed. Returns the active flows whose rate is another than before or, of
  /// those that meet nobody and take less than they could, their room() (valid until the next
  /// call). Times are for busy() only and must not decrease.
  std::span<const std::int32_t> resolve(double now);
  /// Bytes a second; 0 while inactive.
  double rate(std::int32_t id) const {
    const Flow& f = flows_[static_cast<std::size_t>(id)];
    return f.pooled ? level(f.pool) : f.rate;
  }
  /// Into the cache: what is read of the flow first.
  void fetch(std::int32_t id) const { __builtin_prefetch(&flows_[static_cast<std::size_t>(id)]); }
  /// Whether the flow's rate is its own limit: it meets others nowhere, or only where a pool leaves
  /// it all that it can take.
  bool has_own_rate(std::int32_t id) const {
    const Flow& f = flows_[static_cast<std::size_t>(id)];
    return f.shared == 0 || (f.pool >= 0 && !f.pooled);
  }
  /// The channel whose flows, each as fast as its route, are together more than it can carry, so
  /// that what they send at one instant waits there: where each gets least; -1: none.
  ChannelId queue_of(std::int32_t id) const;
  bool meets_others(std::int32_t id) const {
    return flows_[static_cast<std::size_t>(id)].shared > 0;
  }
  /// The pool whose level the flow's rate is, or -1. A flow that joins or leaves one counts as
  /// changed; a flow that stays does not, though the level may be another.
  std::int32_t pool(std::int32_t id) const {
    const Flow& f = flows_[static_cast<std::size_t>(id)];
    return f.pooled ? f.pool : -1;
  }
  /// Bytes a second that the flow would get without a cap: what the others leave or, on full
  /// channels, a fair share beside those that take all they can get.
  double room(std::int32_t flow) const;
  std::int32_t pool_count() const { return static_cast<std::int32_t>(pools_.size()); }
  /// Pools whose level the last resolve() changed.
  std::span<const std::int32_t> changed_pools() const { return changed_pools_; }
  double level(std::int32_t pool) const {
    return pools_[static_cast<std::size_t>(pool)].rates.level();
  }
  /// Appends the flows that get the pool's level.
  void append_pooled(std::int32_t pool, std::vector<std::int32_t>& flows) const;
  std::span<const ChannelId> route(std::int32_t flow) const;
  /// Seconds until `now` at which the channel could carry no more data.
  double busy(ChannelId id, double now) const {
    const Channel& c = channels_[static_cast<std::size_t>(id)];
    return c.full_since >= 0 ? c.busy + now - c.full_since : c.busy;
  }

 private:
  /// Shares this close are equal: far above rounding (1e-16 a step), far below anything that
  /// matters.
  static constexpr double kEqualShares = 1e-12;
  /// A channel whose rates sum up to its capacity within this part of it is full.
  static constexpr double kFull = 1e-9;

  struct Crossing {
    std::int32_t flow = 0;
    std::int32_t hop = 0;
  };
  /// One cache line; nearly all channels of nearly all networks carry one flow at most.
  struct alignas(64) Channel {
    /// What it can carry, and what while both directions of the link carry data.
    std::array<double, 2> capacities{};
    double busy = 0;
    double full_since = -1;  ///< < 0: not full
    Crossing first;  ///< of `count` flows; all of them stand in crossings_ if there are more
    std::int32_t count = 0;             ///< active flows
    std::int32_t shared_elsewhere = 0;  ///< of them, those that meet others on another channel, too
    std::int32_t pool = -1;             ///< >= 0: all flows here are members of it
    std::uint32_t visit = 0;
    float offered = 0;  ///< by all flows at once, where they are several, bytes/s
    bool dirty = false;
    bool opposed = false;  ///< the link's other direction carries data
    /// What it can carry now.
    double for_data() const { return capacities[opposed ? 1 : 0]; }
    double capacity() const { return capacities[0]; }
  };
  struct Filling {
    double left = 0;        ///< of the capacity; afterwards: by all flows, while no pool has them
    std::int32_t open = 0;  ///< flows not fixed yet
  };
  /// The highest rate on a channel and the next lower one, and how many flows have each.
  struct Leaders {
    double highest = 0;
    double next = 0;
    std::int32_t at_highest = 0;
    std::int32_t at_next = 0;
    std::uint32_t version = 0;  ///< of rates_version_; 0: not known
  };
  struct alignas(64) Flow {
    double cap = kNoCap;
    double rate = 0;
    double next_rate = 0;
    std::int32_t route_begin = 0;
    std::int32_t hops = 0;
    std::uint32_t visit = 0;
    std::int32_t shared = 0;  ///< channels on which it meets others
    std::int32_t pool = -1;   ///< of which it is a member
    double limit = 0;         ///< of its own, as a member
    bool pooled = false;      ///< gets the level, not its limit
    bool active = false;
    bool fixed = false;
    bool weighted = false;  ///< crosses media
    float alone = 0;        ///< bytes/s that its route had for it when it last met no others
    bool is_shared_elsewhere() const { return shared > 1 || weighted; }
  };
  struct Pool {
    RatePool rates;
    std::vector<std::int32_t> joined = {};  ///< members to look at
    bool listed = false;                    ///< in dirty_pools_
  };

  Channel& channel(ChannelId id) { return channels_[static_cast<std::size_t>(id)]; }
  Filling& filling(ChannelId id) { return filling_[static_cast<std::size_t>(id)]; }
  std::span<const Crossing> crossings(ChannelId id) const {
    const Channel& c = channels_[static_cast<std::size_t>(id)];
    if (c.count > 1) return crossings_[static_cast<std::size_t>(id)];
    return {&c.first, static_cast<std::size_t>(c.count)};
  }
  Flow& flow(std::int32_t id) { return flows_[static_cast<std::size_t>(id)]; }
  void mark_dirty(ChannelId id) {
    if (!std::exchange(channel(id).dirty, true)) dirty_[dirty_count_++] = id;
  }
  void add_crossing(Flow& flow, ChannelId at, std::size_t slot, const Crossing& crossing);
  void remove_crossing(ChannelId at, std::size_t slot);
  double data_capacity(ChannelId id) const {
    return channels_[static_cast<std::size_t>(id)].for_data();
  }
  double left_by_others(ChannelId id, std::int32_t but, double cost_of_own) const;
  double fair_share(ChannelId id, std::int32_t of) const;
  const Leaders& leaders(ChannelId id) const;
  void forget_leaders(ChannelId id) {
    if (!leaders_.empty()) leaders_[static_cast<std::size_t>(id)].version = 0;
  }
  void note_changed(std::int32_t id) {
    if (changed_count_ == changed_.size()) make_room_for_changed();
    changed_[changed_count_++] = id;
  }
  [[gnu::noinline]] void make_room_for_changed() { changed_.resize(2 * changed_.size() + 1); }
  static void note_full(Channel& channel, bool full, double now) {
    if (full) {
      if (channel.full_since < 0) channel.full_since = now;
    } else if (channel.full_since >= 0) {
      channel.busy += now - channel.full_since;
      channel.full_since = -1;
    }
  }
  bool solve_alone(std::int32_t flow, double now);
  void collect_component(ChannelId first);
  template <bool kWeighted>
  void begin_filling();
  template <bool kWeighted>
  void fill();
  template <bool kWeighted>
  void fix(std::int32_t flow, double rate);
  template <bool kWeighted>
  double weight(std::int32_t flow) const {
    return kWeighted ? weight_[static_cast<std::size_t>(flow)] : 1;
  }
  double cost(const Crossing& crossing) const {
    return cost_[static_cast<std::size_t>(
        flows_[static_cast<std::size_t>(crossing.flow)].route_begin + crossing.hop)];
  }
  void change_shared(std::int32_t flow, std::int32_t change);
  void count_shared_elsewhere(const Flow& flow, std::int32_t change);
  static constexpr std::int32_t kPoolFrom = 32;  // fewer flows are quicker to fill anew
  static constexpr std::int32_t kPoolUntil = 8;
  void update_pooling(ChannelId id);
  void dissolve_pool(ChannelId id);
  void look_at(std::int32_t pool, std::int32_t member = -1);
  void take_out(Pool& pool, std::int32_t flow);
  void note_place(std::int32_t flow, bool pooled);
  void refresh_member(Pool& pool, std::int32_t flow);
  void settle_pool(std::int32_t pool, double now);
  void publish(double now);

  double ack_share_;
  std::vector<Channel> channels_;
  std::vector<std::vector<Crossing>> crossings_;  // by channel
  std::vector<Filling> filling_;                  // by channel
  std::vector<Flow> flows_;
  std::vector<ChannelId> routes_;
  std::vector<double> cost_;         // [routes_]: of a byte; 1 but on media
  std::vector<double> weight_;       // by flow
  std::vector<float> peak_;          // by flow: of its route, bytes/s
  std::vector<double> open_weight_;  // by channel: cost x weight of flows not fixed yet
  bool any_weighted_ = false;        // in the component
  std::vector<std::int32_t> place_;  // [routes_]: where a flow stands in that channel's active list
  std::vector<ChannelId> dirty_;     // [channels], of which dirty_count_ are
  std::size_t dirty_count_ = 0;
  std::vector<ChannelId> dirty_hubs_;  // of these, those that have a pool, or many flows
  std::uint32_t visit_ = 0;
  std::uint32_t rates_version_ = 1;       // another one where rates of active flows have changed
  mutable std::vector<Leaders> leaders_;  // by channel; empty until one is asked for
  std::vector<ChannelId> component_channels_;
  std::vector<std::int32_t> component_flows_;
  std::vector<ChannelId> live_;
  std::vector<ChannelId> tight_;
  std::vector<std::int32_t> capped_;
  std::vector<std::int32_t> changed_;  // of which changed_count_ are: every flow on a ring
  std::size_t changed_count_ = 0;
  IndexedHeap::Nodes pool_nodes_;  // by flow
  std::vector<Pool> pools_;
  std::vector<std::int32_t> pool_of_channel_;  // every pool that a channel ever had; -1 = none
  std::vector<std::int32_t> dirty_pools_;
  std::vector<std::int32_t> changed_pools_;
};

}  // namespace gradwire::sim
