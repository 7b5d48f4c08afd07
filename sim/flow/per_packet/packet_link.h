#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/philox.h"
#include "sim/cluster/cluster.h"
#include "sim/flow/losses/loss_sequence.h"

namespace gradwire::sim {

/// One direction of a link, packet by packet: whose packets cross it, and which of them it loses by
/// chance. A wire
/// (wire_link.h), or a station's share of the air of its cell (air/air_link.h).
class PacketLink {
 public:
  /// Whose packets they are, and where they go next.
  struct Flow {
    std::int32_t connection = 0;
    bool acknowledges = false;
    ChannelId next = -1;  ///< -1: they are there
    std::int32_t next_flow = -1;
    std::int32_t losses = -1;  ///< number of its own draws; -1: the channel's
  };
  /// Numbers below 0 are those of handshakes (kFirst, kThird), of which nothing is lost or counted.
  struct Packet {
    static constexpr std::int64_t kFirst = -1, kThird = -2;
    std::int64_t number = 0;  ///< of the segment, the acknowledgement, or the datagram
    std::int32_t wire = 0;    ///< bytes
    std::int32_t sent = 0;    ///< ticks
  };
  struct Arrival {
    std::int32_t flow = 0;
    Packet packet;
  };

  /// `cluster` outlives it.
  PacketLink(const Cluster& cluster, ChannelId id, std::uint64_t seed);
  virtual ~PacketLink() = default;

  /// Another one, whose packets are lost by the channel's draws.
  std::int32_t add_flow(const Flow& flow) {
    flows_.push_back(flow);
    open_flow();
    return static_cast<std::int32_t>(flows_.size()) - 1;
  }
  /// ... whose packets are lost by `draws` of its own, but by the channel's where those are lost in
  /// bursts (sim/cluster/channel_draws.h).
  std::int32_t add_flow(Flow flow, const RandomStream& draws);
  const Flow& flow(std::int32_t number) const { return flows_[static_cast<std::size_t>(number)]; }

  /// A packet comes to its queue.
  virtual void push(std::int32_t flow, const Packet& packet) = 0;
  /// A packet comes to its other end; true: it is lost.
  bool loses(const Flow& flow);

  std::int64_t wire_bytes() const { return wire_bytes_; }  ///< sent so far
  virtual double busy() const = 0;                         ///< s

 protected:
  virtual void open_flow() {}
  void count(const Packet& packet) { wire_bytes_ += packet.number >= 0 ? packet.wire : 0; }

 private:
  std::vector<Flow> flows_;
  double loss_;                         ///< of independent ones
  std::unique_ptr<BurstChain> losses_;  ///< the channel's; null: none
  std::vector<ChannelLosses> own_losses_;
  std::int64_t wire_bytes_ = 0;
};

}  // namespace gradwire::sim
