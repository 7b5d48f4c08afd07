#pragma once
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/session/connection_table.h"
#include "sim/session/network.h"

namespace gradwire::sim {

/// Gives every ordered pair of hosts `connections` connections of a network (1 or more). A transfer
/// goes whole on the one on which the fewest bytes of payload are under way, of several the first:
/// two transfers of one pair are then side by side and share the links as those of two pairs do.
class ParallelConnections final : public Network {
 public:
  ParallelConnections(std::unique_ptr<Network> network, int connections);

  void prepare(const GraphTemplate& graph, std::span<const Bytes> bytes) override {
    network_->prepare(graph, bytes);
  }
  bool prepares() const override { return network_->prepares(); }
  std::optional<Detail> detail() const override { return network_->detail(); }
  void start(TransferId id, int source, int destination, Bytes payload) override;
  /// Beside all connections of the pair.
  void start_beside(TransferId id, int beside, int source, int destination, Bytes payload) override;
  void cancel(TransferId id) override;
  void advance(Seconds until, std::vector<Delivery>& delivered) override;
  Seconds now() const override { return network_->now(); }
  std::vector<ChannelRecord> channels() const override { return network_->channels(); }

 private:
  struct Sent {
    std::size_t connection = 0;  ///< number in under_way_
    std::int64_t bytes = 0;
  };

  void end(TransferId id);

  std::unique_ptr<Network> network_;
  std::size_t connections_;
  ConnectionTable pairs_;
  std::vector<std::int64_t> under_way_;  ///< B of payload, [pairs][connections]
  std::unordered_map<TransferId, Sent> sent_;
};

}  // namespace gradwire::sim
