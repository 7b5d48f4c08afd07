#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/cluster/channel_clock.h"
#include "sim/cluster/cluster.h"
#include "sim/flow/burst_chain.h"
#include "sim/flow/per_packet/packet_events.h"
#include "sim/flow/tcp/fair_queue.h"
#include "sim/flow/tcp/numbered_queue.h"

namespace gradwire::sim {

/// One direction of a wire as ns-3 has it, packet by packet and to the nanosecond: the queue
/// (tcp/fair_queue.h), a device, the way to the other end, and what is lost there.
///
/// ns-3's point-to-point device has a place for one packet behind the one on the wire. What it
/// takes from there leaves the queue stopped until all else that happens at that instant has:
/// packets that come then find in the queue what waited before. Packet's own device (links that
/// change, that jitter, or of which both directions share a medium: sim/cluster/link_kind.h) has no
/// such place; the end of a packet's time wakes its queue at once.
///
/// By Linux's rules it is a link of the emulator: a device without that place, and of a queue with
/// a limit the packet on the wire is a part, too, as far as it is not sent yet (whole where the
/// link changes), and all with their framing.
///
/// On a link that is not busy a packet is one event, its arrival; of all that are under way on a
/// link only the first one's stands among the events.
class PacketLink {
 public:
  /// What both directions of a half-duplex link share.
  struct Medium {
    PacketLink* waiting = nullptr;
    bool is_busy = false;
  };
  /// Whose packets they are, and where they go next.
  struct Flow {
    std::int32_t connection = 0;
    bool acknowledges = false;
    ChannelId next = -1;  ///< -1: they are there
    std::int32_t next_flow = -1;
    std::int32_t losses = -1;  ///< number of its own draws; -1: the channel's
  };
  struct Packet {
    std::int64_t number = 0;
    std::int32_t wire = 0;  ///< bytes
    std::int32_t sent = 0;  ///< ticks
  };

  /// `cluster` and `events` outlive it. `medium`: of a half-duplex link.
  PacketLink(const Cluster& cluster, ChannelId id, const TransportSettings& transport,
             std::uint64_t seed, PacketEvents& events, std::shared_ptr<Medium> medium);

  std::int32_t add_flow(const Flow& flow);
  /// ... whose packets are lost by `draws` of its own, but by the channel's where those are lost in
  /// bursts (sim/cluster/channel_draws.h).
  std::int32_t add_flow(Flow flow, const RandomStream& draws);
  const Flow& flow(std::int32_t number) const { return flows_[static_cast<std::size_t>(number)]; }
  /// A packet comes to the queue.
  void push(std::int32_t flow, const Packet& packet);
  // The events.
  struct Arrival {
    std::int32_t flow = 0;
    Packet packet;
  };
  Arrival on_arrival();
  void on_through();
  void on_wake();
  /// A packet of the flow comes to the other end; true: it is lost.
  bool loses(const Flow& flow);
  /// Flows of packets that were dropped, one for each; who has read them clears them.
  std::vector<std::int32_t>& dropped() { return queue_.dropped(); }

  std::int64_t wire_bytes() const { return wire_bytes_; }              ///< sent so far
  double busy() const { return static_cast<double>(busy_ns_) / 1e9; }  ///< s
  const std::shared_ptr<Medium>& medium() const { return medium_; }

 private:
  bool fits(std::int32_t wire) const;
  void settle();
  void run();
  void send(const FairQueue::Passed& passed);
  void start(const FairQueue::Passed& passed);
  void begin();
  void arrive_at(std::int64_t time, const FairQueue::Passed& passed);
  void request();
  void release();

  PacketEvents& events_;
  ChannelId id_;
  double rate_;         ///< bytes/s
  std::int64_t delay_;  ///< ns
  FairQueue queue_;
  std::vector<Flow> flows_;
  double loss_;                         ///< of independent ones
  std::unique_ptr<BurstChain> losses_;  ///< the channel's; null: none
  /// A packet under way. They arrive in the order in which they were sent.
  struct Coming {
    PacketEvents::Key key;
    Arrival arrival;
  };
  NumberedQueue<Coming> coming_;
  struct Losses {
    RandomStream draws;
    std::uint64_t packets = 0;
    PhiloxBlock words = {};  ///< of this packet and those beside it
  };
  std::vector<Losses> own_losses_;
  bool is_stopped_ = false;  ///< the device takes nothing from the queue
  // ns-3's device.
  std::optional<FairQueue::Passed> place_;
  bool is_busy_ = false;
  bool through_is_event_ = false;
  PacketEvents::Key through_;  ///< of the packet on the wire
  bool wakes_ = false;         ///< it is still stopped, until wake_
  bool wake_is_event_ = false;
  PacketEvents::Key wake_;
  // Packet's own one.
  std::optional<ChannelClock> clock_;
  std::shared_ptr<Medium> medium_;
  FairQueue::Passed sending_;
  std::int64_t sending_ends_ = 0;  ///< ns
  double most_ = 0;     ///< bytes in the queue and on the wire; 0: the queue has its own limit
  double waiting_ = 0;  ///< bytes in the queue
  bool changes_ = false;
  double jitter_;  ///< s
  RandomStream draws_;
  std::uint64_t drawn_ = 0;
  std::int64_t last_arrival_ = 0;  ///< ns
  std::int64_t wire_bytes_ = 0;
  std::int64_t busy_ns_ = 0;
};

}  // namespace gradwire::sim
