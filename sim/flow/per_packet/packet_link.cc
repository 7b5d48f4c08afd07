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
    own_losses_.push_back({draws, 0});
  }
  return add_flow(flow);
}

bool PacketLink::loses(const Flow& flow) {
  if (flow.losses < 0) return losses_ && losses_->next();
  Losses& own = own_losses_[static_cast<std::size_t>(flow.losses)];
  const std::uint64_t place = own.packets++ % 4;
  if (place == 0)
    own.words = philox_block(own.draws, static_cast<std::uint32_t>((own.packets - 1) / 4));
  return uniform_from_word(own.words.word[place]) < loss_;
}

}  // namespace gradwire::sim
