#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"
#include "sim/cluster/rate_schedule.h"

/// Links between nodes.
namespace gradwire::sim {

using NodeId = std::int32_t;
/// A link direction: duplex link l is channel 2l (from a to b) and 2l + 1 (from b to a).
using ChannelId = std::int32_t;

/// Losses in bursts: a two-state chain that moves once a packet (Gilbert 1960, Elliott 1963). In
/// the good state a packet is lost with LinkSpec::loss, in the bad one with `loss`. Each channel
/// has a chain of its own, which starts in the good state.
struct BurstLoss {
  double enter = 0;  ///< probability, per packet, of good to bad; 0 = no bursts
  double leave = 1;  ///< probability, per packet, of bad to good: bursts of 1 / leave packets
  double loss = 1;   ///< probability that a packet is lost in the bad state
  /// Mean probability that a packet is lost, where it is `good` in the good state.
  double mean(double good) const {
    return enter <= 0 ? good : (leave * good + enter * loss) / (enter + leave);
  }
  bool operator==(const BurstLoss&) const = default;
};

/// Nothing passes in [begin, end), in either direction; what waits in queues stays there.
struct Outage {
  Seconds begin{0};
  Seconds end{0};
  bool operator==(const Outage&) const = default;
};

/// Properties of each direction of a duplex link.
struct LinkSpec {
  BitsPerSecond rate{1e9};
  Seconds delay{50e-6};  ///< one-way propagation delay
  double loss = 0.0;     ///< probability, per packet and direction, that the link drops it: [0, 1)
  Bytes queue{0};        ///< drop-tail buffer; 0 = max(2 bandwidth-delay products, 256 packets)
  /// A packet arrives up to so much later than `delay`, uniformly, but never before its forerunner.
  Seconds jitter{0};
  BurstLoss burst{};
  /// Both directions share one medium of `rate`: what one sends the other cannot.
  bool half_duplex = false;
  /// Null: `rate` all the time. Else the direction follows its schedule, and `rate` says nothing.
  RateSchedulePtr schedule{};       ///< a to b
  RateSchedulePtr schedule_back{};  ///< b to a
  /// Both schedules are so far ahead: at time t they stand where they say t + offset.
  Seconds schedule_offset{0};
  std::vector<Outage> outages{};  ///< ascending, apart

  /// Mean probability that a packet of one direction is lost.
  double mean_loss() const { return burst.mean(loss); }
  /// Schedules are equal where they are the same object.
  bool operator==(const LinkSpec&) const = default;
};

/// Throws SimError, calling the link `subject`, for one that no network can have.
void check_link(const std::string& subject, const LinkSpec& spec);

struct Link {
  NodeId a = 0;
  NodeId b = 0;
  LinkSpec spec;
  std::int32_t cell = -1;  ///< its radio cell (Cluster::cells()), a the station; -1: a wire

  const RateSchedulePtr& schedule(ChannelId channel) const {
    return channel % 2 == 0 ? spec.schedule : spec.schedule_back;
  }
  /// One number for a direction: of a repeated schedule the mean, of others the first rate above 0.
  BitsPerSecond nominal_rate(ChannelId channel) const;
};

}  // namespace gradwire::sim
