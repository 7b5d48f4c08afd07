#pragma once
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/shares/indexed_heap.h"
#include "sim/flow/shares/max_min.h"
#include "sim/flow/shares/rate_follower.h"

namespace gradwire::sim {

/// What a fluid's bytes cross: channels, some of which change with time, and the media that several
/// of them share (max_min.h). A byte on a half-duplex link costs one of its bytes; a byte of a
/// station that would get r alone costs 1/r of the air's time, and its weight is the size of its
/// turns (sim/cluster/cell.h).
///
/// A channel that follows a schedule, or has outages, changes its capacity at these instants while
/// something crosses it, and costs nothing else. Of a Mahimahi trace each bin of 20 ms carries
/// exactly what its opportunities do. At capacity 0 connections wait, without timeouts.
class FluidChannels {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  /// `cluster` outlives it. `acks`: wire bytes of acknowledgements over those of data; `segment`:
  /// wire bytes of a full one.
  FluidChannels(const Cluster& cluster, double acks, double segment);

  /// Bytes/s by channel, then of media.
  const std::vector<double>& capacities() const { return capacities_; }
  /// Its medium, or the channel itself.
  ChannelId shared_by(ChannelId id) const;
  void append_media(std::vector<ChannelId>& route) const;
  bool has_air() const { return !airs_.empty(); }
  /// Of routes without or with their media. Whether one of the channels changes.
  bool changes(std::span<const ChannelId> route) const;
  double next_change(std::span<const ChannelId> route) const;  ///< s
  /// Bytes/s of the slowest channel, as they are now.
  double line(std::span<const ChannelId> route) const;
  bool is_out(ChannelId id) const;

  /// s: when a channel that something crosses changes next.
  double next_event() const { return changes_.empty() ? kNever : changes_.first_time(); }
  /// Flow `c` of `sharing` is about to send: the channels on its way are as they are now.
  void follow(std::int32_t c, double now, MaxMin& sharing);
  /// The channels that change until `until` do. Appends those that go out, or come back.
  void run(double now, double until, MaxMin& sharing, std::vector<ChannelId>& turned);
  /// Each cell's air carries what contention leaves.
  void contend(MaxMin& sharing) const;

 private:
  /// The stations' ways up of one cell; those down are the numbers after them.
  struct AirMedium {
    Cell::Kind kind = Cell::Kind::kWifi;
    ChannelId medium = -1;  ///< LTE: the way up's
    std::vector<ChannelId> up;
  };

  ChannelId find_medium(ChannelId id, double acks);
  const RateFollower* follower(ChannelId id) const;
  void apply(std::int32_t follower, MaxMin& sharing);
  void update_medium_costs(std::int32_t c, MaxMin& sharing) const;

  const Cluster& cluster_;
  std::vector<double> capacities_;
  // Empty where nothing changes and nothing is shared.
  std::vector<std::int32_t> follower_of_;  // by channel; -1: none
  std::vector<ChannelId> medium_of_;       // by channel, -1: none; numbers behind the channels
  std::vector<RateFollower> followers_;
  std::vector<ChannelId> followed_;  // by follower
  IndexedHeap::Nodes change_nodes_;  // by follower
  IndexedHeap changes_{change_nodes_};
  std::vector<AirMedium> airs_;
  std::vector<IndexedHeap::Entry> batch_;  // scratch
  std::vector<std::int32_t> senders_;      // scratch
};

}  // namespace gradwire::sim
