#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "base/philox.h"
#include "sim/cluster/traffic.h"
#include "sim/session/event_heap.h"
#include "sim/session/network.h"

namespace gradwire::sim {

/// Adds background traffic to a network: starts transfers of its own on a connection beside those
/// of the pair, and keeps their deliveries to itself. Draws are Philox words keyed by (seed, number
/// of the source). Where nobody else's transfer is in flight it does not run time to its end by
/// itself: advance(kForever) returns at once then.
class BackgroundNetwork final : public Network {
 public:
  BackgroundNetwork(std::unique_ptr<Network> network, std::vector<BackgroundTraffic> traffic,
                    std::uint64_t seed);

  void prepare(const GraphTemplate& graph, std::span<const Bytes> bytes) override {
    network_->prepare(graph, bytes);
  }
  bool prepares() const override { return network_->prepares(); }
  std::optional<Detail> detail() const override { return network_->detail(); }
  void start(TransferId id, int source, int destination, Bytes payload) override;
  void start_beside(TransferId id, int beside, int source, int destination, Bytes payload) override;
  void cancel(TransferId id) override;
  void advance(Seconds until, std::vector<Delivery>& delivered) override;
  Seconds now() const override { return network_->now(); }
  std::vector<ChannelRecord> channels() const override { return network_->channels(); }

  /// A source whose transfers wait in such numbers sends no more until one is through.
  static constexpr int kMostWaiting = 64;

 private:
  /// Marks the ids of its own transfers; the rest of one is the number of its source.
  static constexpr TransferId kOwn = TransferId{1} << 63;

  struct Source {
    BackgroundTraffic traffic;
    RandomStream stream;
    std::uint64_t draws = 0;
    double until = 0;  ///< end of the present on time (on-off)
    int waiting = 0;
  };
  struct Due {
    double time = 0;
    std::uint64_t order = 0;
    std::size_t source = 0;
  };

  double exponential(Source& source, double mean);
  double next_time(Source& source, double now);
  void send_due(double now);
  void take(std::vector<Delivery>& delivered);

  std::unique_ptr<Network> network_;
  std::vector<Source> sources_;
  EventHeap<Due> due_;
  std::vector<Delivery> arrived_;  // scratch
  std::int64_t foreground_ = 0;    // transfers of others in flight
};

}  // namespace gradwire::sim
