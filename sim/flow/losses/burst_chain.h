#pragma once
#include <cstdint>

#include "base/philox.h"
#include "sim/cluster/link.h"

namespace gradwire::sim {

/// The losses of one channel that loses in bursts (Gilbert 1960, Elliott 1963): a chain of two
/// states that moves, or stays, with every packet that crosses the channel, whoever sends it, so
/// that connections over one link meet the same bursts, and the packets of one end those that
/// another one suffers from. It starts in the good state.
///
/// Draws: packet k is lost where word 2k is below the loss of the present state, and moves the
/// chain where word 2k + 1 is below the probability to leave it. `packet` draws the same.
class BurstChain {
 public:
  /// `draws`: sim/cluster/channel_draws.h.
  BurstChain(const LinkSpec& channel, const RandomStream& draws)
      : burst_(channel.burst), good_loss_(channel.loss), draws_(draws) {}

  static bool is_needed(const LinkSpec& channel) { return channel.burst.enter > 0; }

  /// Whether the next packet is lost.
  bool next();

 private:
  BurstLoss burst_;
  double good_loss_;
  RandomStream draws_;
  std::uint64_t packets_ = 0;
  bool bad_ = false;
};

}  // namespace gradwire::sim
