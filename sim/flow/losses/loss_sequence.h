#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "sim/flow/losses/burst_chain.h"

namespace gradwire::sim {

/// Independent losses on one channel: packet k is lost where word k of the draws
/// (sim/cluster/channel_draws.h) is below the loss.
class ChannelLosses {
 public:
  ChannelLosses(const RandomStream& draws, double loss) : draws_(draws), loss_(loss) {}

  /// Whether the next packet is lost.
  bool next() {
    const std::uint64_t place = packets_++ % 4;
    if (place == 0) words_ = philox_block(draws_, static_cast<std::uint32_t>((packets_ - 1) / 4));
    return uniform_from_word(words_.word[place]) < loss_;
  }

 private:
  RandomStream draws_;
  double loss_;
  std::uint64_t packets_ = 0;
  PhiloxBlock words_ = {};  ///< of the next packet and those beside it
};

/// Which of the packets that cross a path one after the other are lost.
class LossSequence {
 public:
  /// None.
  LossSequence() = default;
  /// Those that one of these channels loses, in order, or a burst, which other sequences share. A
  /// packet that is lost goes no further.
  explicit LossSequence(std::vector<ChannelLosses> channels,
                        std::vector<std::shared_ptr<BurstChain>> bursts = {})
      : channels_(std::move(channels)), bursts_(std::move(bursts)) {}
  /// Those of these numbers (the first packet is 0), ascending.
  explicit LossSequence(std::vector<std::uint64_t> numbers) : listed_(std::move(numbers)) {}

  /// False: none of all packets to come is lost.
  bool loses() const { return !channels_.empty() || !bursts_.empty() || listed_.size() > passed_; }
  /// Whether the next packet is lost.
  bool next() {
    const auto loses = [](const auto& each) { return each->next(); };
    if (std::ranges::any_of(bursts_, loses)) return true;
    for (ChannelLosses& each : channels_)
      if (each.next()) return true;
    const bool is_listed = passed_ < listed_.size() && listed_[passed_] == count_++;
    passed_ += is_listed;
    return is_listed;
  }

 private:
  std::vector<ChannelLosses> channels_;
  std::vector<std::shared_ptr<BurstChain>> bursts_;
  std::vector<std::uint64_t> listed_;
  std::size_t passed_ = 0;   ///< of those
  std::uint64_t count_ = 0;  ///< packets so far
};

}  // namespace gradwire::sim
