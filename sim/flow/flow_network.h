#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "sim/cluster.h"
#include "sim/connection_table.h"
#include "sim/event_heap.h"
#include "sim/executor.h"
#include "sim/flow/burst_chain.h"
#include "sim/flow/indexed_heap.h"
#include "sim/flow/max_min.h"
#include "sim/flow/rate_follower.h"
#include "sim/flow/tcp_path.h"
#include "sim/flow/tcp_window.h"
#include "sim/network.h"

/// The flow-level network: fluid transfers over warm TCP connections, from event to event.
///
/// Model. Between two events every sending connection has a constant rate x(t): its max-min fair
/// share (sim/flow/max_min.h) of the channels it crosses. A transfer of B payload bytes puts w =
/// wire_bytes(B) on the connection; it starts when the connection has sent what was before it, ends
/// sending at t with
///     integral of x from its start to t  =  w + the segments sent again meanwhile,
/// and is delivered the path's latency later, or when its last missing segment has arrived. So,
/// warm, clean and alone:
///     time = propagation + first segment over the further hops + w / bottleneck rate.
/// A transfer occupies all channels of its path at once (the pipe's filling is not shown). The
/// window (tcp_window.h) makes a connection pause until its round is over; losses (tcp_path.h) cut
/// the window, hold deliveries back, and time out.
///
/// Links that change (flow_dynamics.cc). A channel that follows a schedule, or has outages, changes
/// its capacity at these instants while something crosses it, and costs nothing else. Of a Mahimahi
/// trace each bin of 20 ms carries exactly what its opportunities do. At capacity 0 connections
/// wait, without timeouts. Half-duplex links and the air of radio cells are media (max_min.h) that
/// several channels share: a byte on a half-duplex link costs one of its bytes, a byte of a station
/// that would get r alone costs 1/r of the air's time; its weight is the size of its turns
/// (sim/cell.h). Jitter (jitter.h) delays deliveries and lengthens round trips by its mean; bursts
/// (burst_chain.h) take the place of independent losses.
///
/// Events are: a connection has sent a transfer, a window, the beginning of a segment that is lost,
/// or enough behind one to show the loss; it resumes after a round; a lost segment is sent again,
/// arrives, or times out; a delivery. There is no time step. Events within a relative 1e-12 of one
/// instant are one batch, after which shares are computed once, and only where the set of sending
/// connections changed. Connections that get one rate from one channel (max_min.h: pools) keep
/// their events by bytes served, not by time, so that a change of the rate is one change for all of
/// them. In steady state no event allocates.
namespace gradwire::sim {

class FlowNetwork final : public Network {
 public:
  FlowNetwork(const Cluster& cluster, const TransportSettings& transport, std::uint64_t seed);

  void start(TransferId id, int source, int destination, Bytes payload) override;
  void cancel(TransferId id) override;
  void advance(Seconds until, std::vector<Delivery>& delivered) override;
  Seconds now() const override { return Seconds(now_); }
  std::vector<ChannelRecord> channels() const override;

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();
  enum class State : std::uint8_t { kIdle, kSending, kPaused };
  enum class Due : std::uint8_t { kSent, kWindow, kLoss, kShown, kResume };
  /// What happens next to a lost segment.
  enum class Repair : std::uint8_t { kTimeout, kResend, kArrival };

  struct Transfer {
    TransferId id = 0;
    Bytes wire{0};
    std::int64_t retransmissions = 0;
    double segments = 0;
    double charged = 0;  ///< wire bytes of retransmissions, which the channels have counted
    double arrival = 0;  ///< of its last byte, if none is missing
    double end = 0;      ///< segments of the connection up to its end
    bool used = false;
    bool cancelled = false;
    bool delivering = false;  ///< all of it is sent
    std::int32_t connection = 0;
    std::int32_t next = -1;    ///< behind it on the connection
    std::int32_t behind = -1;  ///< held back behind it
  };

  /// A lost segment that has not arrived yet. In the order of the stream.
  struct Hole {
    double segment = 0;         ///< its number on the connection
    double shown = 0;           ///< the loss shows when so many segments are sent
    double acknowledged = 0;    ///< s: when the acknowledgement of what was before it came
    double due = 0;             ///< s
    std::int32_t transfer = 0;  ///< -1: cancelled
    std::uint32_t attempts = 0;
    std::uint32_t timeouts = 0;
    Repair next = Repair::kTimeout;
    bool is_shown = false;
  };

  /// What every event of a clean path touches stands first, in a few cache lines.
  struct alignas(64) Connection {
    Connection(const TcpPath& p, const TransportSettings& t) : window(p, t), path(p) {}
    double rate = 0;           ///< as of `updated`, outside pools
    double updated = 0;        ///< s; in a pool: what each member had been served then
    double remaining = 0;      ///< wire bytes of the first transfer still to send
    double resending = 0;      ///< wire bytes of retransmissions before it
    double to_loss = kNever;   ///< wire bytes until a segment that is lost
    double to_shown = kNever;  ///< wire bytes until a loss shows
    std::int32_t first = -1;
    std::int32_t last = -1;
    std::int32_t pool = -1;  ///< whose rate it has
    State state = State::kIdle;
    Due due = Due::kSent;
    TcpWindow window;
    TcpPath path;
    double last_delivery = 0;
    double sent_before = 0;  ///< segments before the first transfer
    double wire_sent = 0;    ///< wire bytes of transfers that are sent, but for retransmissions
    double acks_sent = 0;    ///< wire bytes of their acknowledgements
    bool follows = false;    ///< crosses channels that change, or the air
    bool jitters = false;
    std::unique_ptr<BurstChain> bursts;  ///< null: losses are independent
    std::vector<Hole> holes;
    double next_lost = kNever;     ///< the first transfer's next lost segment
    double recovered_to = 0;       ///< losses of segments before this one cut the window no more
    double last_repair = 0;        ///< s
    std::int32_t held_first = -1;  ///< transfers that are sent, but miss segments
    std::int32_t held_last = -1;
    std::uint32_t key = 0;  ///< source * hosts + destination
    std::uint32_t transfers = 0;
    LossDraws draws;
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

  /// Connections of one rate (max_min.h): as each is served the same, their events stand in an
  /// order that no change of the rate disturbs.
  struct Pool {
    explicit Pool(IndexedHeap::Nodes& nodes) : due(nodes) {}
    double rate = 0;
    double served = 0;  ///< bytes, to each member that was there all the time, until `updated`
    double updated = 0;
    IndexedHeap due;  ///< by bytes served
  };

  struct Arrival {
    double time = 0;
    std::uint64_t order = 0;
    std::int32_t transfer = 0;
  };

  Connection& connection(std::int32_t c) { return connections_[static_cast<std::size_t>(c)]; }
  Transfer& transfer(std::int32_t t) { return transfers_[static_cast<std::size_t>(t)]; }
  std::int32_t connect(int source, int destination);
  void open(int source, int destination);
  Sized size_of(Bytes payload) const;
  std::int32_t take_transfer();
  void free_transfer(std::int32_t t);

  void begin_transfer(std::int32_t c);
  double backlog(const Connection& link) const;
  double sent_of_first(const Connection& link) const;
  void resume(std::int32_t c);
  void pause(std::int32_t c, double until);
  void progress(Connection& link);
  Pool& pool(std::int32_t p) { return pools_[static_cast<std::size_t>(p)]; }
  double rate_of(const Connection& link) const {
    return link.pool < 0 ? link.rate : pools_[static_cast<std::size_t>(link.pool)].rate;
  }
  double served(std::int32_t p) const {
    const Pool& pool = pools_[static_cast<std::size_t>(p)];
    return pool.served + pool.rate * (now_ - pool.updated);
  }
  double sent_since_update(const Connection& link) const {
    if (link.pool >= 0) return served(link.pool) - link.updated;
    return link.rate * (now_ - link.updated);
  }
  void schedule(std::int32_t c);
  void set_due(std::int32_t c, double bytes);
  void drop_due(std::int32_t c);
  void schedule_pool(std::int32_t p);
  void resolve();
  void change_rate(std::int32_t c);

  double next_event() const;
  void on_pool_due(std::int32_t p, double until);
  void on_due(std::int32_t c);
  void on_window_sent(std::int32_t c);
  void on_sent(std::int32_t c);
  void next_transfer(std::int32_t c);
  void leave_first(std::int32_t c, double segments);
  void count_wire(Connection& link, const Transfer& t) const;

  // flow_dynamics.cc
  void prepare_channels();
  void append_media(std::vector<ChannelId>& route) const;
  void follow(std::int32_t c);
  void on_change(std::int32_t follower);
  void apply_change(ChannelId channel);
  void breathe(std::int32_t c);
  double jitter_of(std::int32_t c, const Transfer& t) const;

  // flow_losses.cc
  void draw_loss(Connection& link, double from);
  void on_loss(std::int32_t c);
  void watch_losses(Connection& link);
  void on_shown(std::int32_t c, double sent);
  void schedule_repair(std::int32_t c);
  void on_repair(std::int32_t c);
  void resend(std::int32_t c, Hole& hole);
  void time_out(std::int32_t c, std::size_t hole);
  double timeout_of(const Connection& link, const Hole& hole) const;
  void hold(Connection& link, std::int32_t number);
  void release(std::int32_t c);
  void forget_losses(Connection& link, std::int32_t number);
  void deliver(std::vector<Delivery>& delivered);

  const Cluster& cluster_;
  TransportSettings transport_;
  std::uint64_t seed_;
  double segment_;  ///< wire bytes of a full one
  double headers_;  ///< of one segment
  double now_ = 0;
  // Channels that change and media; empty where there are none.
  std::vector<std::int32_t> follower_of_;  // by channel; -1: none
  std::vector<ChannelId> medium_of_;       // by channel, -1: none; numbers behind the channels
  std::vector<double> capacities_;         // bytes/s by channel, then of media
  std::vector<RateFollower> followers_;
  std::vector<ChannelId> followed_;  // by follower
  IndexedHeap::Nodes change_nodes_;  // by follower
  IndexedHeap changes_{change_nodes_};
  std::vector<std::int32_t> breathing_;  // scratch
  MaxMin sharing_;
  std::vector<LastPeer> last_peer_;  // by source
  ConnectionTable table_;
  std::vector<Connection> connections_;  // numbers are also those of sharing_'s flows
  std::vector<Transfer> transfers_;
  std::vector<std::int32_t> free_transfers_;
  IndexedHeap::Nodes due_nodes_;     // by connection, of due_ and of all pools
  IndexedHeap::Nodes repair_nodes_;  // by connection
  IndexedHeap::Nodes pool_nodes_;    // by pool
  IndexedHeap due_{due_nodes_};      // s, but of connections in pools
  IndexedHeap repairs_{repair_nodes_};
  IndexedHeap pool_due_{pool_nodes_};  // s
  std::vector<Pool> pools_;            // numbers are those of sharing_'s pools
  EventHeap<Arrival> arrivals_;
  std::vector<IndexedHeap::Entry> batch_;
  Sized sized_;               // of the transfer that started last
  std::vector<double> wire_;  // by channel, of retransmissions
  std::vector<ChannelId> route_;
};

}  // namespace gradwire::sim
