#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "sim/flow/cells/air.h"
#include "sim/flow/tcp/fair_queue.h"

namespace gradwire::sim {

/// One direction of a wire on the way to a radio cell, packet by packet: FQ-CoDel
/// (tcp/fair_queue.h), or a queue with a limit, before the link; its rate, which may change; delay
/// and jitter. Both directions of a half-duplex link are one of it.
class CellWire {
 public:
  static constexpr double kNever = Air::kNever;

  /// `draws`: of jitter. `link` outlives it.
  CellWire(const Link& link, ChannelId channel, const TransportSettings& transport,
           const RandomStream& draws);

  /// A flow of its own in the queue.
  std::int32_t add_flow() { return fair_.add_flow(flows_++); }
  /// Packets that pass the wire, with the times of their arrivals.
  using Passed = std::vector<std::pair<double, CellPacket>>;
  /// False: the packet is dropped. Of a queue with a limit it is known at once when it passes.
  bool push(double now, std::int32_t flow, const CellPacket& packet, Passed& passed);
  /// s: when the next packet leaves the queue.
  double next_event() const { return limit_ > 0 ? kNever : fair_.next_turn(); }
  /// It does.
  void run(double now, Passed& passed);
  double busy() const { return busy_; }  ///< s
  /// s: of a packet of a handshake, before the session's clock goes; at the nominal rate.
  double arrival_before_start(double now, double bytes) {
    opening_until_ = std::max(opening_until_, now) + bytes / rate_;
    return opening_until_ + delay_;
  }

 private:
  double through(double begin, double bytes);
  double arrival(double departure);

  double rate_;  ///< bytes/s
  double delay_;
  double jitter_;
  double limit_;  ///< bytes
  RandomStream draws_;
  std::uint64_t drawn_ = 0;
  FairQueue fair_;
  std::int32_t flows_ = 0;
  std::vector<CellPacket> kept_;  ///< that wait in fair_, by number
  std::vector<std::int64_t> free_;
  std::optional<ChangingWire> changing_;
  double free_at_ = 0;
  double opening_until_ = 0;  ///< s, on the cell network's clock
  double last_arrival_ = 0;
  double busy_ = 0;
};

}  // namespace gradwire::sim
