#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/fluid/fluid_channels.h"
#include "sim/flow/fluid/fluid_stream.h"
#include "sim/flow/fluid/rate_pools.h"
#include "sim/flow/fluid/transfers.h"
#include "sim/flow/fluid/unacknowledged.h"
#include "sim/flow/losses/path_losses.h"
#include "sim/flow/shares/indexed_heap.h"
#include "sim/flow/shares/max_min.h"
#include "sim/flow/tcp_path.h"
#include "sim/graph/host_pairs.h"
#include "sim/session/connection_table.h"
#include "sim/session/event_heap.h"
#include "sim/session/executor.h"
#include "sim/session/network.h"

/// The fluid: transfers over warm TCP connections at rates, from event to event.
///
/// Model. Between two events every sending connection has a constant rate x(t): its max-min fair
/// share (sim/flow/shares/max_min.h) of the channels it crosses. A transfer of B payload bytes puts
/// w = wire_bytes(B) on the connection; it starts when the connection has sent what was before it,
/// ends sending at t with
///     integral of x from its start to t  =  w + the segments sent again meanwhile,
/// and is delivered the path's latency later, or when its last missing segment has arrived. So,
/// warm, clean and alone:
///     time = propagation + first segment over the further hops + w / bottleneck rate.
/// A transfer occupies all channels of its path at once (the pipe's filling is not shown).
///
/// Windows and losses (windows.h, fluid_network_streams.cc). Where they decide, a connection is not
/// a fluid but a FluidStream (fluid_stream.h), segment by segment, at the connection's present
/// share: until its window has filled the pipe, for ever where a window does not stay that large,
/// and for transfers of which CoDel may drop something that is felt. Towards the others a stream
/// asks for window / r0 at most, so that what it cannot use is theirs, and its segments pass at the
/// rate that is left.
///
/// Links that change, half-duplex links and the air of radio cells are in fluid_channels.h. Jitter
/// (jitter.h) delays deliveries of what is not TCP's; bursts (burst_chain.h) take the place of
/// independent losses.
///
/// Transports. `ideal` is the fluid alone: payloads without headers at their fair rates, delivered
/// the propagation later (SimGrid's CM02 with factors of 1).
///
/// Events are: a connection has sent a transfer; a stream's acknowledgements, timeouts and
/// deliveries; a channel's changes; a delivery. There is no time step. Events within a relative
/// 1e-12 of one instant are one batch, after which shares are computed once, and only where the set
/// of sending connections changed. Connections that get one rate from one channel keep their events
/// by bytes served (rate_pools.h). In steady state no event allocates.
namespace gradwire::sim {

class FluidNetwork final : public Network {
 public:
  /// `cluster` outlives it.
  FluidNetwork(const Cluster& cluster, const TransportSettings& transport, std::uint64_t seed);

  void start(TransferId id, int source, int destination, Bytes payload) override;
  void start_beside(TransferId id, int beside, int source, int destination, Bytes payload) override;
  void cancel(TransferId id) override;
  void advance(Seconds until, std::vector<Delivery>& delivered) override;
  Seconds now() const override { return Seconds(now_); }
  std::vector<ChannelRecord> channels() const override;

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  /// Events this close, relative to the clock, happen together: it absorbs rounding between
  /// connections that reach the same instant by different sums.
  static constexpr double kSameInstant = 1e-12;
  enum class State : std::uint8_t { kIdle, kFluid, kStream };

  struct Arrival {
    double time = 0;
    std::uint64_t order = 0;
    std::int32_t transfer = 0;
  };

  /// What every event of a fluid touches stands first, in two cache lines.
  struct alignas(64) Connection {
    bool is_clean() const { return path->loss <= 0 && path->ack_loss <= 0; }
    double rate = 0;       ///< as of `updated`, outside pools
    double updated = 0;    ///< s, also of silence; in a pool: what each member had been served
    double remaining = 0;  ///< wire bytes of the first transfer still to send
    std::int32_t first = -1;
    std::int32_t last = -1;
    std::int32_t pool = -1;  ///< the pool that sets its rate
    State state = State::kIdle;
    bool is_open : 1 = false;  ///< its window limits nothing any more
    bool may_open : 1 = false;
    bool follows : 1 = false;  ///< crosses channels that change, or the air
    bool jitters : 1 = false;
    bool bursts : 1 = false;    ///< takes all that it can get, until what waits is through
    bool waits : 1 = false;     ///< a stream: writes once its share is known
    bool streamed : 1 = false;  ///< has been a stream
    double last_delivery = 0;
    double wire_sent = 0;                 ///< wire bytes of transfers that are sent
    double segments_sent = 0;             ///< segments of transfers sent as fluids
    Unacknowledged unacknowledged;        ///< of fluids, while the window may decide
    double window_at_rest = 0;            ///< bytes, while it has no stream that is at work; 0: ask
    const StreamPath* path = nullptr;     ///< in paths_
    std::unique_ptr<FluidStream> stream;  ///< where one was needed
    double stream_acks = 0;               ///< acknowledgements of streams that have ended
    double cap = 0;                       ///< a stream's, bytes/s
    double kept_window = 0;               ///< bytes, of the stream that became a fluid
    std::uint64_t key = 0;  ///< source * hosts + destination; + k hosts^2, the k-th beside
  };

  struct LastPeer {
    std::int32_t destination = -1, connection = -1;
  };
  struct Sized {
    Bytes payload{0}, wire{0};
    double segments = 0;
  };

  Connection& connection_at(std::int32_t c) { return connections_[static_cast<std::size_t>(c)]; }
  std::int32_t connect(int source, int destination);
  void open(int source, int destination, std::uint64_t key);
  void start_on(std::int32_t connection, TransferId id, Bytes payload);
  Sized size_of(Bytes payload) const;
  const StreamPath* share(const TcpPath& path);

  void begin_transfer(std::int32_t c);
  void progress(Connection& connection);
  double sent_since_update(const Connection& connection) const {
    if (connection.pool >= 0) return pools_.served(connection.pool, now_) - connection.updated;
    return connection.rate * (now_ - connection.updated);
  }
  /// The connection's next event comes when it has sent the rest.
  void schedule(std::int32_t c) {
    const Connection& connection = connection_at(c);
    const double bytes = std::max(0.0, connection.remaining);
    if (connection.pool < 0 && connection.rate > 0) {
      due_.set(c, now_ + bytes / connection.rate);
    } else {
      set_other_due(c, bytes);
    }
  }
  void set_other_due(std::int32_t c, double bytes);
  void drop_due(std::int32_t c);
  void resolve();
  void resolve_once();
  void change_rate(std::int32_t c);
  double arrival_of(std::int32_t c, const FluidTransfer& t) const;
  void serve_streams(std::int32_t p);

  double next_event() const;
  void on_batch_due();
  void fetch(std::int32_t c) const;
  void on_sent(std::int32_t c);
  void next_transfer(std::int32_t c);
  void rest(std::int32_t c);
  void settle();

  // fluid_network_streams.cc
  FluidStream& stream_of(Connection& connection);
  void take_over(Connection& connection);
  void begin_stream(std::int32_t c);
  bool begin_writing();
  void write(std::int32_t c, std::int32_t number);
  void step_stream(std::int32_t c);
  void finish_first(std::int32_t c);
  void leave_stream(std::int32_t c);
  bool is_covered(Connection& connection, const FluidTransfer& t);
  void close_after_idle(Connection& connection);
  double spacing(std::int32_t c) const;
  bool changes_before(std::int32_t c, double bytes);
  bool drops_of(std::int32_t c, double spacing, double segments) const;
  bool stays_fluid(std::int32_t c);
  bool can_leave(std::int32_t c);
  bool begins_crowded(std::int32_t c);
  /// A stream runs ahead of the others by this share of a round trip: many acknowledgements are one
  /// event, and a change of its share is felt so much later.
  static constexpr double kAhead = 0.125;
  void serve_stream(std::int32_t c);
  void demand(std::int32_t c);
  bool may_burst(std::int32_t c) const;
  bool is_crowd(std::int32_t c, std::int32_t most) const;
  void set_stream_due(std::int32_t c);
  void follow(std::int32_t c);
  void hold_acks(std::int32_t c);
  void hold_acks_on(ChannelId id);
  void deliver(std::vector<Delivery>& delivered);

  const Cluster& cluster_;
  TransportSettings transport_;
  std::uint64_t seed_;
  PathLosses losses_;
  StreamNumbers phases_;  ///< what BBR draws
  double segment_;        ///< wire bytes of a full one
  double initial_window_;
  double first_flight_;  ///< wire bytes that a handshake's window lets out
  double headers_;       ///< of one segment
  double acks_;          ///< wire bytes of acknowledgements over those of data
  double now_ = 0;
  double clock_ = -1;  ///< s, StreamPath
  FluidChannels channels_;
  MaxMin sharing_;
  std::vector<LastPeer> last_peer_;  // by source: most go on with the connection that they had
  ConnectionTable table_;
  std::deque<StreamPath> paths_;         // of connections, which share equal ones
  std::vector<Connection> connections_;  // numbers are also those of sharing_'s flows
  FluidTransfers transfers_;
  IndexedHeap::Nodes due_nodes_;      // by connection, of due_ and of all pools
  IndexedHeap due_{due_nodes_};       // s, but of connections in pools
  IndexedHeap settling_{due_nodes_};  // s, of streams at rest: when all should be acknowledged
  RatePools pools_{due_nodes_};       // numbers are those of sharing_'s pools
  bool restarted_ = false;            // shares are to be computed once more at this instant
  std::int64_t streams_ = 0;          // connections that are one now
  std::vector<std::int32_t> pooled_;  // scratch
  EventHeap<Arrival> arrivals_;
  std::vector<IndexedHeap::Entry> batch_;
  std::vector<std::int32_t> beginning_;  // streams that wait for their share
  std::vector<ChannelId> turned_;        // scratch: that went out, or came back
  Sized sized_, sized_before_;           // of transfers that started last
  std::vector<ChannelId> route_;
};

}  // namespace gradwire::sim
