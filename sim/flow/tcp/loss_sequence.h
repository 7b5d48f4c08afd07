#pragma once
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "sim/flow/burst_chain.h"
#include "sim/flow/tcp_path.h"

namespace gradwire::sim {

/// Which of the packets that cross a path one after the other are lost.
class LossSequence {
 public:
  /// Each with probability p, 0 <= p < 1: gaps between losses are geometric.
  LossSequence(double p, const LossDraws& draws) : p_(p), draws_(draws) {
    if (p_ > 0) gap_ = draws_.gap(p_);
  }
  explicit LossSequence(const BurstChain& chain) : chain_(chain) { next_ = chain_->next_lost(0); }
  /// Those of these numbers (the first packet is 0), ascending.
  explicit LossSequence(std::vector<std::uint64_t> numbers) : listed_(std::move(numbers)) {}

  /// Whether the next packet is lost.
  bool next() {
    if (p_ > 0) {
      if (gap_-- > 0) return false;
      gap_ = draws_.gap(p_);
      return true;
    }
    if (chain_) {
      if (count_++ < next_) return false;
      next_ = chain_->next_lost(count_);
      return true;
    }
    if (at_ == listed_.size()) return false;
    if (count_++ != static_cast<double>(listed_[at_])) return false;
    ++at_;
    return true;
  }

 private:
  double p_ = 0;
  LossDraws draws_;
  double gap_ = std::numeric_limits<double>::infinity();  ///< packets before the next loss
  std::vector<std::uint64_t> listed_;
  std::size_t at_ = 0;
  double count_ = 0;  ///< packets so far
  std::optional<BurstChain> chain_;
  double next_ = 0;  ///< that the chain loses
};

}  // namespace gradwire::sim
