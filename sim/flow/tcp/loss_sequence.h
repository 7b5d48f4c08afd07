#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "sim/flow/burst_chain.h"
#include "sim/flow/tcp_path.h"

namespace gradwire::sim {

/// Which of the packets that cross a path one after the other are lost.
class LossSequence {
 public:
  /// Each with probability p, 0 <= p < 1: gaps between losses are geometric.
  LossSequence(double p, const LossDraws& draws) : p_(p), draws_(draws) { find_next(); }
  explicit LossSequence(const BurstChain& chain) : chain_(std::make_unique<BurstChain>(chain)) {
    find_next();
  }
  /// Those of these numbers (the first packet is 0), ascending.
  explicit LossSequence(std::vector<std::uint64_t> numbers) : listed_(std::move(numbers)) {
    find_next();
  }

  /// False: none of all packets to come is lost.
  bool loses() const { return next_ < kNever; }
  /// Whether the next packet is lost.
  bool next() {
    if (count_++ < next_) return false;
    find_next();
    return true;
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  void find_next() {
    if (p_ > 0) {
      next_ = count_ + draws_.gap(p_);
    } else if (chain_) {
      next_ = chain_->next_lost(count_);
    } else {
      next_ = at_ < listed_.size() ? static_cast<double>(listed_[at_++]) : kNever;
    }
  }

  double p_ = 0;
  LossDraws draws_;
  std::unique_ptr<BurstChain> chain_;  ///< few have one: streams are many
  std::vector<std::uint64_t> listed_;
  std::size_t at_ = 0;
  double count_ = 0;  ///< packets so far
  double next_ = 0;   ///< number of the next that is lost
};

}  // namespace gradwire::sim
