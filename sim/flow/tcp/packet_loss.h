#pragma once
#include <cstdint>
#include <limits>
#include <vector>

#include "sim/flow/tcp_path.h"

namespace gradwire::sim {

/// Which of the packets that cross a path one after the other are lost.
class PacketLoss {
 public:
  /// Each with probability p, 0 <= p < 1: gaps between losses are geometric.
  PacketLoss(double p, const LossDraws& draws) : p_(p), draws_(draws) {
    if (p_ > 0) gap_ = draws_.gap(p_);
  }
  /// Those of these numbers (the first packet is 0), ascending.
  explicit PacketLoss(std::vector<std::uint64_t> numbers) : listed_(std::move(numbers)) {}

  /// Whether the next packet is lost.
  bool next() {
    if (p_ > 0) {
      if (gap_-- > 0) return false;
      gap_ = draws_.gap(p_);
      return true;
    }
    if (at_ == listed_.size()) return false;
    if (count_++ != listed_[at_]) return false;
    ++at_;
    return true;
  }

 private:
  double p_ = 0;
  LossDraws draws_;
  double gap_ = std::numeric_limits<double>::infinity();  ///< packets before the next loss
  std::vector<std::uint64_t> listed_;
  std::size_t at_ = 0;
  std::uint64_t count_ = 0;
};

}  // namespace gradwire::sim
