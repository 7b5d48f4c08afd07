#include "sim/flow/fluid/path_losses.h"

#include <utility>

#include "sim/cluster/channel_draws.h"

namespace gradwire::sim {
namespace {

constexpr std::uint32_t kAckDraws = 1;

}  // namespace

LossSequence PathLosses::of(std::span<const ChannelId> route, std::uint64_t key,
                            bool acknowledgements) {
  std::vector<std::shared_ptr<BurstChain>> bursts;
  std::vector<LossSequence::Channel> channels;
  const auto hosts = static_cast<std::uint64_t>(cluster_.host_count());
  const auto source = static_cast<std::uint32_t>(key / hosts);
  const auto destination = static_cast<std::uint32_t>(key % hosts);
  double kept = 1;
  for (const ChannelId id : route) {
    if (BurstChain::is_needed(cluster_.channel(id))) {
      bursts.push_back(burst_of(id));
      continue;
    }
    const double loss = cluster_.channel(id).loss;
    kept *= 1 - loss;
    if (loss > 0 && by_channel_)
      channels.push_back(
          {connection_losses(seed_, id, source, destination, acknowledgements), loss});
  }
  const LossDraws draws(seed_, key, acknowledgements ? kAckDraws : 0);
  LossSequence rest =
      channels.empty() ? LossSequence(1 - kept, draws) : LossSequence(std::move(channels));
  return LossSequence(std::move(bursts), std::move(rest));
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
