#pragma once
#include <cstdint>
#include <vector>

#include "sim/cluster/path_cost.h"
#include "sim/session/connection_table.h"
#include "sim/session/event_heap.h"
#include "sim/session/network.h"

/// The network of the `model` executor: every connection has its path for itself.
///
///     time of a transfer = alpha + w / R
/// with alpha = propagation + the first segment's store and forward (sim/cluster/path_cost.h), R
/// the path's slowest channel and w the wire bytes. Transfers of one connection queue behind each
/// other for w / R, not for alpha. No contention between connections, no TCP start-up, no loss:
/// where links are shared (an incast, background traffic) or windows are small against the pipe, it
/// is too fast.
namespace gradwire::sim {

class AlphaBetaNetwork final : public Network {
 public:
  AlphaBetaNetwork(const Cluster& cluster, const TransportSettings& transport);

  void start(TransferId id, int source, int destination, Bytes payload) override;
  void cancel(TransferId id) override;
  void advance(Seconds until, std::vector<Delivery>& delivered) override;
  Seconds now() const override { return Seconds(now_); }
  std::vector<ChannelRecord> channels() const override { return channels_; }

 private:
  struct Connection {
    PathCost path;
    std::vector<ChannelId> route;
    double free_at = 0;
    double last_delivery = 0;
  };
  struct Arrival {
    double time = 0;
    std::uint64_t order = 0;
    TransferId id = 0;
    Bytes wire{0};
  };

  Connection& connect(int source, int destination);

  const Cluster& cluster_;
  TransportSettings transport_;
  double now_ = 0;
  ConnectionTable table_;
  std::vector<Connection> connections_;
  EventHeap<Arrival> arrivals_;
  std::vector<TransferId> cancelled_;
  std::vector<ChannelRecord> channels_;
};

}  // namespace gradwire::sim
