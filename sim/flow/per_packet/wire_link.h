#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "sim/cluster/channel_clock.h"
#include "sim/cluster/cluster.h"
#include "sim/flow/per_packet/packet_events.h"
#include "sim/flow/per_packet/packet_link.h"
#include "sim/flow/queues/fair_queue.h"
#include "sim/flow/tcp/numbered_queue.h"

namespace gradwire::sim {

/// One direction of a wire as ns-3 has it, packet by packet and to the nanosecond: the queue
/// (queues/fair_queue.h), a device, and the way to the other end.
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
class WireLink final : public PacketLink {
 public:
  /// What both directions of a half-duplex link share.
  struct Medium {
    WireLink* waiting = nullptr;
    bool is_busy = false;
  };
  /// `cluster` and `events` outlive it. `medium`: of a half-duplex link.
  WireLink(const Cluster& cluster, ChannelId id, const TransportSettings& transport,
           std::uint64_t seed, PacketEvents& events, std::shared_ptr<Medium> medium);

  void push(std::int32_t flow, const Packet& packet) override;
  // The events.
  Arrival on_arrival();
  void on_through();
  void on_wake();
  double busy() const override { return static_cast<double>(busy_ns_) / 1e9; }
  const std::shared_ptr<Medium>& medium() const { return medium_; }

 private:
  void open_flow() override { queue_.add_flow(); }
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
  /// A packet under way. They arrive in the order in which they were sent.
  struct Coming {
    PacketEvents::Key key;
    Arrival arrival;
  };
  NumberedQueue<Coming> coming_;
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
  std::int64_t busy_ns_ = 0;
};

}  // namespace gradwire::sim
