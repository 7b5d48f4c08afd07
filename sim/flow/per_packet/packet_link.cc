#include "sim/flow/per_packet/packet_link.h"

#include "sim/cluster/channel_draws.h"

namespace gradwire::sim {

PacketLink::PacketLink(const Cluster& cluster, ChannelId id, std::uint64_t seed)
    : loss_(BurstChain::is_needed(cluster.channel(id)) ? 0 : cluster.channel(id).loss) {
  if (const LinkSpec& spec = cluster.channel(id); spec.mean_loss() > 0)
    losses_ = std::make_unique<BurstChain>(spec, channel_stream(seed, id, kLossDraws));
}

std::int32_t PacketLink::add_flow(Flow flow, const RandomStream& draws) {
  if (loss_ > 0) {
    flow.losses = static_cast<std::int32_t>(own_losses_.size());
    own_losses_.emplace_back(draws, loss_);
  }
  return add_flow(flow);
}

bool PacketLink::loses(const Flow& flow) {
  if (flow.losses < 0) return losses_ && losses_->next();
  return own_losses_[static_cast<std::size_t>(flow.losses)].next();
}

}  // namespace gradwire::sim
