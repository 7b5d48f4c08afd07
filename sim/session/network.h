#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/units.h"
#include "sim/graph/byte_range.h"
#include "sim/graph/step_graph.h"
#include "sim/session/detail.h"

/// What an executor's graph session (sim/session/session.h: lanes, dependencies, collectives) asks
/// of a network. `flow`, `model` and ns-3 implement it; the session is the same code for all of
/// them.
namespace gradwire::sim {

using TransferId = std::uint64_t;

struct Delivery {
  TransferId id = 0;
  Seconds time{0};
  Bytes wire{0};
  std::int64_t retransmissions = 0;
  bool failed = false;
  /// What of the payload never arrives (udp-lossy alone), ascending and apart; valid until the
  /// network is advanced again.
  std::span<const ByteRange> missing = {};
};

struct ChannelRecord {
  Bytes wire{0};    ///< wire bytes carried so far
  Seconds busy{0};  ///< time at which it could carry nothing more, summed
};

inline constexpr Seconds kForever{1e300};

class Network {
 public:
  virtual ~Network() = default;
  /// The graph's transfers will come, with these bytes by slot: connections may open before they
  /// do.
  virtual void prepare(const GraphTemplate&, std::span<const Bytes>) {}
  /// Whether prepare() is of any use.
  virtual bool prepares() const { return false; }
  /// Starts (at now()) a transfer from host to host. Transfers of one ordered pair of hosts share
  /// one warm connection and are delivered in order, as on a TCP stream. payload > 0.
  virtual void start(TransferId id, int source, int destination, Bytes payload) = 0;
  /// Starts a transfer on another connection of the pair, the `beside`-th (1 ..
  /// TransportSettings::connections) beside that of start(): none waits for another. Throws
  /// SimError where a network has no such connections.
  virtual void start_beside(TransferId id, int beside, int source, int destination, Bytes payload);
  virtual void cancel(TransferId id) = 0;
  /// Moves the clock to the earliest delivery instant that is <= until and appends all deliveries
  /// of that instant; or moves it to `until` if there is none (to now() if until is kForever).
  virtual void advance(Seconds until, std::vector<Delivery>& delivered) = 0;
  virtual Seconds now() const = 0;
  /// How finely it simulates; empty: that is open, or there is no choice.
  virtual std::optional<Detail> detail() const { return std::nullopt; }
  /// [2 * links], by ChannelId; empty where a network does not count them.
  virtual std::vector<ChannelRecord> channels() const { return {}; }
};

}  // namespace gradwire::sim
