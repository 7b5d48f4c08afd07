#pragma once
#include <cstdint>
#include <vector>

#include "sim/cluster.h"
#include "sim/connection_table.h"
#include "sim/event_heap.h"
#include "sim/executor.h"
#include "sim/flow/indexed_heap.h"
#include "sim/flow/max_min.h"
#include "sim/flow/tcp_path.h"
#include "sim/network.h"

/// The flow-level network: fluid transfers over warm TCP connections, from event to event.
///
/// Model. Between two events every sending connection has a constant rate x(t): its max-min fair
/// share (sim/flow/max_min.h) of the channels it crosses, under the caps of its TCP (tcp_path.h). A
/// transfer of B payload bytes puts w = wire_bytes(B) plus its retransmissions on the connection;
/// it starts when the connection has sent what was before it, ends sending at t with
///     integral of x from its start to t  =  w,
/// and is delivered the path's latency later. So, warm, clean and alone:
///     time = propagation + first segment over the further hops + w / bottleneck rate.
/// A transfer occupies all channels of its path at once (the pipe's filling is not shown).
///
/// Events are: a connection has sent a transfer, a window, or everything up to a drawn loss; it
/// resumes after a round or a timeout; a delivery. There is no time step. Events within a relative
/// 1e-12 of one instant are one batch, after which shares are computed once, and only where the set
/// of sending connections or a cap changed. In steady state no event allocates.
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
  enum class State : std::uint8_t { kIdle, kSending, kPaused };
  enum class Due : std::uint8_t { kSent, kWindow, kLoss, kTimeout, kResume };

  struct Transfer {
    TransferId id = 0;
    Bytes wire{0};
    std::int64_t retransmissions = 0;
    double segments = 0;
    double repair = 0;  ///< added to the latency
    bool tail_timeout = false;
    bool used = false;
    bool cancelled = false;
    bool delivering = false;
    std::int32_t connection = 0;
    std::int32_t next = -1;  ///< behind it on the connection
  };

  struct Connection {
    Connection(const TcpPath& p, const TransportSettings& t) : path(p), window(p, t) {}
    TcpPath path;
    TcpWindow window;
    LossDraws draws;
    double rate = 0;  ///< as of `updated`
    double updated = 0;
    double remaining = 0;  ///< wire bytes of the first transfer still to send
    double to_loss = 0;    ///< wire bytes until the connection's first loss; infinite after it
    double to_timeout = 0;
    double last_delivery = 0;
    std::uint32_t key = 0;  ///< source * hosts + destination
    std::uint32_t transfers = 0;
    std::int32_t first = -1;
    std::int32_t last = -1;
    State state = State::kIdle;
    Due due = Due::kSent;
    bool lossy = false;  ///< it has lost a segment: its rate is capped from now on
  };

  struct Arrival {
    double time = 0;
    std::uint64_t order = 0;
    std::int32_t transfer = 0;
  };

  Connection& connection(std::int32_t c) { return connections_[static_cast<std::size_t>(c)]; }
  Transfer& transfer(std::int32_t t) { return transfers_[static_cast<std::size_t>(t)]; }
  std::int32_t connect(int source, int destination);
  std::int32_t take_transfer();
  void free_transfer(std::int32_t t);

  void begin_transfer(std::int32_t c);
  void draw_losses(Connection& link, Transfer& t);
  void draw_timeout(Connection& link, const Transfer& t);
  double cap_of(const Connection& link) const;
  void resume(std::int32_t c);
  void pause(std::int32_t c, double until);
  void progress(Connection& link);
  void schedule(std::int32_t c);
  void resolve();

  void on_due(std::int32_t c);
  void on_window_sent(std::int32_t c);
  void on_first_loss(std::int32_t c);
  void on_sent(std::int32_t c);
  void next_transfer(std::int32_t c);
  void count_wire(std::int32_t c, const Transfer& t);
  void deliver(std::vector<Delivery>& delivered);

  const Cluster& cluster_;
  TransportSettings transport_;
  std::uint64_t seed_;
  double segment_;
  double now_ = 0;
  ConnectionTable table_;
  std::vector<Connection> connections_;  // numbers are also those of sharing_'s flows
  MaxMin sharing_;
  std::vector<Transfer> transfers_;
  std::vector<std::int32_t> free_transfers_;
  IndexedHeap due_;  // by connection
  EventHeap<Arrival> arrivals_;
  std::vector<double> wire_;  // by channel, of transfers that are sent
  std::vector<ChannelId> route_;
};

}  // namespace gradwire::sim
