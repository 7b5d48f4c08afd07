#pragma once
#include <cstddef>

#include "sim/flow/per_packet/air/air.h"
#include "sim/flow/per_packet/packet_events.h"
#include "sim/flow/per_packet/packet_link.h"

namespace gradwire::sim {

/// One direction of a station's link over the air of its cell: what has passed comes out of the
/// air's events.
class AirLink final : public PacketLink {
 public:
  /// `cluster`, `events` and `air` outlive it.
  AirLink(const Cluster& cluster, ChannelId id, std::uint64_t seed, const PacketEvents& events,
          Air& air, std::size_t station)
      : PacketLink(cluster, id, seed), events_(events), air_(air), station_(station), id_(id) {}

  void push(std::int32_t flow, const Packet& packet) override {
    count(packet);
    air_.push(events_.seconds(), station_, id_ % 2 == 0, {packet, id_, flow, events_.seconds()});
  }
  double busy() const override { return air_.busy(id_ % 2 == 0); }

 private:
  const PacketEvents& events_;
  Air& air_;
  std::size_t station_;
  ChannelId id_;
};

}  // namespace gradwire::sim
