#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "sim/flow/burst_chain.h"
#include "sim/flow/tcp_path.h"

namespace gradwire::sim {

/// Which of the packets that cross a path one after the other are lost.
class LossSequence {
 public:
  /// Loses each packet with probability p, 0 <= p < 1: gaps between losses are geometric.
  LossSequence(double p, const LossDraws& draws) : p_(p), draws_(draws) { find_next(); }
  struct Channel {
    RandomStream draws;  ///< connection_losses(), sim/cluster/channel_draws.h
    double loss = 0;
    std::uint64_t packets = 0;
  };
  /// Loses a packet by the draws of the channels that it crosses, in order; a packet that one
  /// channel loses is not counted by the next.
  explicit LossSequence(std::vector<Channel> channels) : next_(0), channels_(std::move(channels)) {}
  /// Loses packets by the bursts of these channels, which other sequences share, and the others as
  /// `rest` says; a packet that is lost goes no further.
  LossSequence(std::vector<std::shared_ptr<BurstChain>> bursts, LossSequence rest)
      : LossSequence(std::move(rest)) {
    bursts_ = std::move(bursts);
  }
  /// Loses the packets of these numbers (the first packet is 0), ascending.
  explicit LossSequence(std::vector<std::uint64_t> numbers) : listed_(std::move(numbers)) {
    find_next();
  }

  /// False: none of all packets to come is lost.
  bool loses() const { return next_ < kNever || !bursts_.empty(); }
  /// Whether the next packet is lost.
  bool next() {
    for (const auto& burst : bursts_)
      if (burst->next()) return true;
    if (!channels_.empty()) return cross();
    if (count_++ < next_) return false;
    find_next();
    return true;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  bool cross() {
    for (Channel& channel : channels_)
      if (uniform(channel.draws, channel.packets++) < channel.loss) return true;
    return false;
  }

  void find_next() {
    if (p_ > 0) {
      next_ = count_ + draws_.gap(p_);
    } else {
      next_ = at_ < listed_.size() ? static_cast<double>(listed_[at_++]) : kNever;
    }
  }

  double p_ = 0;
  LossDraws draws_;
  std::vector<std::uint64_t> listed_;
  std::size_t at_ = 0;
  double count_ = 0;  ///< packets so far
  double next_ = 0;   ///< number of the next that is lost
  std::vector<Channel> channels_;
  std::vector<std::shared_ptr<BurstChain>> bursts_;
};

}  // namespace gradwire::sim
