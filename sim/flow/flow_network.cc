#include "sim/flow/flow_network.h"

#include "sim/flow/fluid/fluid_network.h"
#include "sim/flow/per_packet/per_packet_network.h"

namespace gradwire::sim {

FlowNetwork::FlowNetwork(const Cluster& cluster, const TransportSettings& transport,
                         std::uint64_t seed, std::optional<Detail> detail)
    : cluster_(cluster), transport_(transport), seed_(seed) {
  if (const auto chosen = choose_detail(detail_question(cluster, transport, detail)))
    simulate(*chosen);
}

void FlowNetwork::simulate(Detail detail) {
  detail_ = detail;
  if (detail == Detail::kPerPacket) {
    network_ = std::make_unique<PerPacketNetwork>(cluster_, transport_, seed_);
  } else {
    network_ = std::make_unique<FluidNetwork>(cluster_, transport_, seed_);
  }
}

void FlowNetwork::prepare(const GraphTemplate& graph, std::span<const Bytes> bytes) {
  if (network_)
    network_->prepare(graph, bytes);
  else
    first_exchange_.add(graph, bytes);
}

/// Something is sent for the first time.
Network& FlowNetwork::decide() {
  simulate(goes_per_packet(cluster_, transport_, first_exchange_) ? Detail::kPerPacket
                                                                  : Detail::kFluid);
  first_exchange_ = {};
  std::vector<Delivery> none;
  network_->advance(now_, none);
  return *network_;
}

void FlowNetwork::advance(Seconds until, std::vector<Delivery>& delivered) {
  if (network_)
    network_->advance(until, delivered);
  else if (until < kForever)
    now_ = std::max(now_, until);
}

std::vector<ChannelRecord> FlowNetwork::channels() const {
  if (network_) return network_->channels();
  return std::vector<ChannelRecord>(static_cast<std::size_t>(cluster_.channel_count()));
}

}  // namespace gradwire::sim
