#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/fluid/unacknowledged.h"
#include "sim/flow/shares/indexed_heap.h"
#include "sim/flow/shares/max_min.h"
#include "sim/flow/shares/rate_follower.h"
#include "sim/flow/tcp/stream.h"
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
/// Windows and losses (streams.cc, windows.cc). Where they decide, a connection
/// is not a fluid but a TcpStream (tcp/stream.h), segment by segment, served at the connection's
/// present share:
///   - until its window has filled the pipe once, for transfers that the window does not cover;
///   - for ever, where segments may be lost on the way, or where a full queue would drop some and
///     the window that is left would not fill the pipe: CoDel with
///         beta (r0 + target) < r0
///   - for transfers of which CoDel may drop a segment where the repair may be what they wait for:
///     on round trips above 5 ms, and at shares so small that few segments tell of a loss
/// Towards the others a stream asks for window / r0 at most, so that what it cannot use is theirs,
/// and its segments pass at the rate that is left.
///
/// Links that change (dynamics.cc). A channel that follows a schedule, or has outages, changes
/// its capacity at these instants while something crosses it, and costs nothing else. Of a Mahimahi
/// trace each bin of 20 ms carries exactly what its opportunities do. At capacity 0 connections
/// wait, without timeouts. Half-duplex links and the air of radio cells are media (max_min.h) that
/// several channels share: a byte on a half-duplex link costs one of its bytes, a byte of a station
/// that would get r alone costs 1/r of the air's time; its weight is the size of its turns
/// (sim/cluster/cell.h). Jitter (jitter.h) delays deliveries of what is not TCP's;
/// bursts (burst_chain.h) take the place of independent losses.
///
/// Transports. `ideal` is the fluid alone: payloads without headers at their fair rates, delivered
/// the propagation later (SimGrid's CM02 with factors of 1).
///
/// Events are: a connection has sent a transfer; a stream's acknowledgements, timeouts and
/// deliveries; a channel's changes; a delivery. There is no time step. Events within a relative
/// 1e-12 of one instant are one batch, after which shares are computed once, and only where the set
/// of sending connections changed. Connections that get one rate from one channel (max_min.h:
/// pools) keep their events by bytes served, not by time, so that a change of the rate is one
/// change for all of them. In steady state no event allocates.
namespace gradwire::sim {

class FluidNetwork final : public Network {
 public:
  /// `losses_by_channel`: as ExecutorOptions has it.
  FluidNetwork(const Cluster& cluster, const TransportSettings& transport, std::uint64_t seed,
               bool losses_by_channel);

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
  /// s: what is sent sooner is not dropped by CoDel, whose interval this is at least.
  static constexpr double kCrowded = 0.1;
  enum class State : std::uint8_t { kIdle, kFluid, kStream };

  struct Transfer {
    TransferId id = 0;
    Bytes payload{0};
    Bytes wire{0};
    std::int64_t retransmissions = 0;
    double segments = 0;
    bool used = false;
    bool cancelled = false;
    bool delivering = false;  ///< all of it is sent
    bool streams = false;     ///< to its end, once it is a stream's
    std::int32_t connection = 0;
    std::int32_t next = -1;  ///< behind it on the connection, or free
  };

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
    double wire_sent = 0;               ///< wire bytes of transfers that are sent
    double segments_sent = 0;           ///< segments of transfers sent as fluids
    Unacknowledged unacknowledged;      ///< of fluids, while the window may decide
    double window_at_rest = 0;          ///< bytes, while it has no stream that is at work; 0: ask
    const StreamPath* path = nullptr;   ///< in paths_
    std::unique_ptr<TcpStream> stream;  ///< where one was needed
    double stream_acks = 0;             ///< acknowledgements of streams that have ended
    double cap = 0;                     ///< a stream's, bytes/s
    double kept_window = 0;             ///< bytes, of the stream that became a fluid
    std::int32_t filling = -1;  ///< of messages that go out together: whose segment is not full
    std::int32_t joined = 0;    ///< their bytes, while a window covers them
    std::uint64_t key = 0;      ///< source * hosts + destination; + k hosts^2, the k-th beside
  };

  /// A host's latest connection: most go on with the one they had.
  struct LastPeer {
    std::int32_t destination = -1;
    std::int32_t connection = -1;
  };

  struct Sized {
    Bytes payload{0};
    Bytes wire{0};
    double segments = 0;
  };

  /// The last segment of a message comes to its destination.
  struct Coming {
    double time = -kNever;  ///< s
    double takes = 0;       ///< s, of the channel's
  };

  /// Connections of one rate (max_min.h): as each is served the same, their events stand in an
  /// order that no change of the rate disturbs.
  struct Pool {
    explicit Pool(IndexedHeap::Nodes& nodes) : due(nodes) {}
    double rate = 0;
    double served = 0;  ///< bytes, to each member that was there all the time, until `updated`
    double updated = 0;
    double stream_rate = 0;  ///< at which its streams were served last
    IndexedHeap due;         ///< by bytes served
  };

  Connection& connection_at(std::int32_t c) { return connections_[static_cast<std::size_t>(c)]; }
  Transfer& transfer(std::int32_t t) { return transfers_[static_cast<std::size_t>(t)]; }
  std::int32_t connect(int source, int destination);
  void open(int source, int destination, std::uint64_t key);
  void start_on(std::int32_t connection, TransferId id, Bytes payload);
  bool is_joined(const Connection& connection) const;
  bool join(Connection& connection, std::int32_t number);
  Sized size_of(Bytes payload) const;
  const StreamPath* share(const TcpPath& path);
  std::int32_t take_transfer();
  void free_transfer(std::int32_t t);
  std::int32_t number_of(TransferId id);

  void begin_transfer(std::int32_t c);
  void progress(Connection& connection);
  Pool& pool(std::int32_t p) { return pools_[static_cast<std::size_t>(p)]; }
  double rate_of(const Connection& connection) const {
    return connection.pool < 0 ? connection.rate
                               : pools_[static_cast<std::size_t>(connection.pool)].rate;
  }
  double served(std::int32_t p) const {
    const Pool& pool = pools_[static_cast<std::size_t>(p)];
    return pool.served + pool.rate * (now_ - pool.updated);
  }
  double sent_since_update(const Connection& connection) const {
    if (connection.pool >= 0) return served(connection.pool) - connection.updated;
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
  void schedule_pool(std::int32_t p);
  void resolve();
  void resolve_once();
  void change_rate(std::int32_t c);
  double arrival_of(std::int32_t c, const Transfer& t) const;
  void serve_streams(std::int32_t p);

  double next_event() const;
  void on_pool_due(std::int32_t p, double until);
  void on_batch_due();
  void fetch(std::int32_t c) const;
  void on_due(std::int32_t c);
  void on_sent(std::int32_t c);
  void next_transfer(std::int32_t c);
  void rest(std::int32_t c);
  void settle();
  void cancel_fluid(std::int32_t number);

  // dynamics.cc
  void prepare_channels();
  ChannelId find_medium(ChannelId id);
  void append_media(std::vector<ChannelId>& route) const;
  void follow(std::int32_t c);
  void on_change(std::int32_t follower);
  void hold_acks_on(ChannelId id);
  void apply_change(ChannelId channel);
  void update_medium_costs(std::int32_t c);
  void contend();
  double jitter_of(std::int32_t c, const Transfer& t) const;

  // streams.cc
  LossSequence losses(std::span<const ChannelId> route, std::uint64_t key, bool acknowledgements);
  std::shared_ptr<BurstChain> burst_of(ChannelId id);
  TcpStream& stream_of(Connection& connection);
  void take_over(Connection& connection);
  void begin_stream(std::int32_t c);
  void write(std::int32_t c, std::int32_t number);
  void step_stream(std::int32_t c);
  void finish_first(std::int32_t c);
  struct Whole {
    std::int32_t number = 0;  ///< of the transfer
    Bytes wire{0};            ///< that it took
    std::int64_t retransmissions = 0;
  };
  void deliver_first(Connection& connection, const Whole& whole);
  void leave_stream(std::int32_t c);
  void retire(Connection& connection, double wire, double acks);
  void catch_up(std::int32_t c);

  // stream_turns.cc
  void note_coming(std::int32_t c, double arrival);
  void meet(ChannelId out, const Coming& coming);
  bool begin_writing();
  void order_by_turn(std::vector<std::int32_t>& beginning);
  bool takes_turns(std::int32_t c) const;
  void order_beginning(std::int32_t c);

  // windows.cc
  bool may_open(const TcpPath& path) const;
  bool is_covered(Connection& connection, const Transfer& t);
  void close_after_idle(Connection& connection);
  double spacing(std::int32_t c) const;
  double next_change(std::int32_t c) const;
  bool changes_before(std::int32_t c, double bytes);
  bool may_time_out(double spacing) const;
  bool may_be_dropped(std::int32_t c, double spacing, double segments) const;
  bool stays_fluid(std::int32_t c);
  bool can_leave(std::int32_t c);
  /// Whether a fluid that begins turns out to share its link with so many that CoDel drops some of
  /// its window, or its timer goes off.
  bool begins_crowded(std::int32_t c) {
    const double rate = sharing_.rate(c);
    return rate > 0 && connection_at(c).remaining >= kCrowded * rate && is_dropped_from(c, rate);
  }
  bool is_dropped_from(std::int32_t c, double rate);

  // stream_rates.cc
  /// A stream runs ahead of the others by this share of a round trip: many acknowledgements are one
  /// event, and a change of its share is felt so much later.
  static constexpr double kAhead = 0.125;
  double line_now(std::int32_t c) const;
  void serve_stream(std::int32_t c);
  void demand(std::int32_t c);
  bool may_burst(std::int32_t c) const;
  bool is_crowd(std::int32_t c, std::int32_t most) const;
  double stream_due(const Connection& connection) const;
  void set_stream_due(std::int32_t c);
  void hold_acks(std::int32_t c);

  void arrive(std::int32_t number, double time);
  void deliver(std::vector<Delivery>& delivered);

  const Cluster& cluster_;
  TransportSettings transport_;
  std::uint64_t seed_;
  bool losses_by_channel_;
  StreamNumbers phases_;  ///< what BBR draws
  double segment_;        ///< wire bytes of a full one
  double initial_window_;
  double first_flight_;  ///< wire bytes that a handshake's window lets out
  double headers_;       ///< of one segment
  double acks_;          ///< wire bytes of acknowledgements over those of data
  double now_ = 0;
  double clock_ = -1;  ///< s, StreamPath
  // Channels that change and media; empty where there are none.
  std::vector<std::int32_t> follower_of_;  // by channel; -1: none
  std::vector<ChannelId> medium_of_;       // by channel, -1: none; numbers behind the channels
  std::vector<double> capacities_;         // bytes/s by channel, then of media
  std::vector<RateFollower> followers_;
  std::vector<ChannelId> followed_;  // by follower
  IndexedHeap::Nodes change_nodes_;  // by follower
  IndexedHeap changes_{change_nodes_};
  std::vector<std::int32_t> air_senders_;  // scratch
  /// The stations' ways up of one cell; those down are the numbers after them.
  struct AirMedium {
    Cell::Kind kind = Cell::Kind::kWifi;
    ChannelId medium = -1;  ///< LTE: the way up's
    std::vector<ChannelId> up;
  };
  std::vector<AirMedium> airs_;
  MaxMin sharing_;
  std::vector<LastPeer> last_peer_;  // by source
  ConnectionTable table_;
  std::deque<StreamPath> paths_;         // of connections, which share equal ones
  std::vector<Connection> connections_;  // numbers are also those of sharing_'s flows
  std::vector<Transfer> transfers_;
  std::int32_t free_transfer_ = -1;  // first of those that are free, linked by `next`
  std::unordered_map<TransferId, std::int32_t> numbers_;  // of transfers, once one is cancelled
  bool indexed_ = false;
  IndexedHeap::Nodes due_nodes_;       // by connection, of due_ and of all pools
  IndexedHeap::Nodes pool_nodes_;      // by pool
  IndexedHeap due_{due_nodes_};        // s, but of connections in pools
  IndexedHeap pool_due_{pool_nodes_};  // s
  IndexedHeap settling_{due_nodes_};   // s, of streams at rest: when all should be acknowledged
  std::vector<Pool> pools_;            // numbers are those of sharing_'s pools
  bool restarted_ = false;             // shares are to be computed once more at this instant
  std::int64_t streams_ = 0;           // connections that are one now
  std::vector<std::int32_t> pooled_;   // scratch
  EventHeap<Arrival> arrivals_;
  std::vector<IndexedHeap::Entry> batch_;
  std::vector<std::int32_t> beginning_;  // streams that wait for their share
  /// Of those: what is first is served first.
  struct Turn {
    std::uint32_t of_source = 0;  ///< so many of its source's are before it
    std::uint32_t source = 0;
    std::uint32_t further = 0;  ///< hosts, from it to the destination
    std::int32_t connection = 0;
  };
  std::vector<double> first_free_;  // s, by channel: first segments of streams have passed
  std::vector<Coming> coming_;      // by channel, the last one of its route
  std::vector<std::shared_ptr<BurstChain>> bursts_;  // by channel; of those that need one
  Sized sized_, sized_before_;                       // of transfers that started last
  std::vector<ChannelId> route_;
  std::vector<std::int32_t> met_;  // scratch
};

}  // namespace gradwire::sim
