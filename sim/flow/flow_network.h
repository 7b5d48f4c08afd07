#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/choose_detail.h"
#include "sim/session/network.h"

/// The network of the executor `flow`: every packet through every queue
/// (per_packet/per_packet_network.h), or a fluid (fluid/fluid_network.h). Which of the two carries
/// everything is decided once: by choose_detail(), or, where it leaves that open, by what is
/// prepared before the first transfer (goes_per_packet()).
namespace gradwire::sim {

class FlowNetwork final : public Network {
 public:
  /// `cluster` outlives it. `detail`: as ExecutorOptions has it. Throws as choose_detail().
  FlowNetwork(const Cluster& cluster, const TransportSettings& transport, std::uint64_t seed,
              std::optional<Detail> detail = {});

  void prepare(const GraphTemplate& graph, std::span<const Bytes> bytes) override;
  bool prepares() const override { return !network_ || network_->prepares(); }
  void start(TransferId id, int source, int destination, Bytes payload) override {
    network().start(id, source, destination, payload);
  }
  void start_beside(TransferId id, int beside, int source, int destination,
                    Bytes payload) override {
    network().start_beside(id, beside, source, destination, payload);
  }
  void cancel(TransferId id) override { network().cancel(id); }
  void advance(Seconds until, std::vector<Delivery>& delivered) override;
  Seconds now() const override { return network_ ? network_->now() : now_; }
  std::vector<ChannelRecord> channels() const override;
  std::optional<Detail> detail() const override { return detail_; }

 private:
  Network& network() { return network_ ? *network_ : decide(); }
  Network& decide();
  void simulate(Detail detail);

  const Cluster& cluster_;
  TransportSettings transport_;
  std::uint64_t seed_;
  Seconds now_{0};  ///< until it is decided
  FirstExchange first_exchange_;
  std::optional<Detail> detail_;      ///< empty: the first exchange decides
  std::unique_ptr<Network> network_;  ///< null until then
};

}  // namespace gradwire::sim
