#include "sim/flow/losses/path_losses.h"

#include <utility>

#include "sim/cluster/channel_draws.h"

namespace gradwire::sim {

LossSequence PathLosses::of(std::span<const ChannelId> route, std::uint64_t key,
                            bool acknowledgements) {
  std::vector<std::shared_ptr<BurstChain>> bursts;
  std::vector<ChannelLosses> channels;
  const auto hosts = static_cast<std::uint64_t>(cluster_.host_count());
  const auto source = static_cast<std::uint32_t>(key / hosts);
  const auto destination = static_cast<std::uint32_t>(key % hosts);
  for (const ChannelId id : route) {
    const LinkSpec& channel = cluster_.channel(id);
    if (BurstChain::is_needed(channel))
      bursts.push_back(burst_of(id));
    else if (channel.loss > 0)
      channels.emplace_back(connection_losses(seed_, id, source, destination, acknowledgements),
                            channel.loss);
  }
  return LossSequence(std::move(channels), std::move(bursts));
}

std::shared_ptr<BurstChain> PathLosses::burst_of(ChannelId id) {
  bursts_.resize(static_cast<std::size_t>(cluster_.channel_count()));
  std::shared_ptr<BurstChain>& burst = bursts_[static_cast<std::size_t>(id)];
  if (!burst)
    burst =
        std::make_shared<BurstChain>(cluster_.channel(id), channel_stream(seed_, id, kLossDraws));
  return burst;
}

}  // namespace gradwire::sim
