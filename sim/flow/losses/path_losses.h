#pragma once
#include <memory>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/losses/loss_sequence.h"

namespace gradwire::sim {

/// What connections lose on their ways: independently, by draws of their own, and in bursts with
/// all that cross a channel.
class PathLosses {
 public:
  /// `cluster` outlives it.
  PathLosses(const Cluster& cluster, std::uint64_t seed) : cluster_(cluster), seed_(seed) {}

  /// Of the connection `key` (source * hosts + destination), or of its acknowledgements.
  LossSequence of(std::span<const ChannelId> route, std::uint64_t key, bool acknowledgements);

 private:
  std::shared_ptr<BurstChain> burst_of(ChannelId id);

  const Cluster& cluster_;
  std::uint64_t seed_;
  std::vector<std::shared_ptr<BurstChain>> bursts_;  ///< by channel; of those that need one
};

}  // namespace gradwire::sim
