// Binomial trees, rooted at rank 0: the parent of r is r without its lowest set bit.
#include <algorithm>
#include <bit>

#include "sim/graph/collectives/scheduled.h"

namespace gradwire::sim {
namespace {

class TreeGenerator final : public ScheduledGenerator {
 public:
  TreeGenerator(const CollectiveSpec& spec, std::span<const Bytes> bytes)
      : ScheduledGenerator(spec, bytes),
        reduces_(spec.kind == CollectiveKind::kTreeAllReduce),
        levels_(static_cast<std::int32_t>(
            std::bit_width(static_cast<std::uint32_t>(spec.members.size() - 1)))) {}

  std::int32_t sends(std::int32_t rank) const override {
    return children(rank) + (reduces_ && rank > 0 ? 1 : 0);
  }
  std::int32_t receives(std::int32_t rank) const override {
    return (reduces_ ? children(rank) : 0) + (rank > 0 ? 1 : 0);
  }

  PlannedSend send(std::int32_t rank, std::int32_t index) const override {
    PlannedSend planned;
    if (reduces_ && rank > 0 && index-- == 0) {  // to the parent, once all children are added
      const std::int32_t bit = std::countr_zero(static_cast<std::uint32_t>(rank));
      planned.destination = rank - (1 << bit);
      planned.hop = bit;
      planned.contributors = std::min(1 << bit, ranks_ - rank);
      planned.reduce = true;
      planned.needs = children(rank);
      return planned;
    }
    const std::int32_t bit = children(rank) - 1 - index;  // the largest part of the tree first
    planned.destination = rank + (1 << bit);
    planned.hop = levels_ + (levels_ - 1 - bit);
    planned.contributors = reduces_ ? ranks_ : 1;
    planned.needs = receives(rank);
    return planned;
  }

 protected:
  std::int32_t receive_index(const HopTransfer& hop) const override {
    return hop.reduce ? hop.hop : receives(hop.destination_rank) - 1;
  }
  /// One after the other: a rank further down must not wait for all that its parent sends.
  std::int32_t window() const override { return 1; }

 private:
  /// rank + 1, rank + 2, rank + 4, ... below the rank's own lowest bit, as far as there are ranks.
  std::int32_t children(std::int32_t rank) const {
    const std::int32_t most =
        rank == 0 ? levels_ : std::countr_zero(static_cast<std::uint32_t>(rank));
    const auto room = static_cast<std::uint32_t>(ranks_ - 1 - rank);
    return std::min<std::int32_t>(most, static_cast<std::int32_t>(std::bit_width(room)));
  }

  bool reduces_;
  std::int32_t levels_;
};

}  // namespace

ScheduledPtr make_tree(const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  return std::make_unique<TreeGenerator>(spec, bytes);
}

}  // namespace gradwire::sim
