// Binomial trees, rooted at rank 0: the parent of r is r without its lowest set bit.
#include <algorithm>
#include <bit>

#include "sim/graph/collectives/scheduled.h"

namespace gradwire::sim {
namespace {

/// Sums go up and the result comes down; or rank 0's message alone, down.
template <bool kReduces>
class TreeGenerator final : public ScheduledGenerator {
 public:
  TreeGenerator(const CollectiveSpec& spec, std::span<const Bytes> bytes)
      : ScheduledGenerator(spec, bytes),
        levels_(static_cast<std::int32_t>(
            std::bit_width(static_cast<std::uint32_t>(spec.members.size() - 1)))) {}

  std::int32_t sends(std::int32_t rank) const override {
    return children(rank) + (kReduces && rank > 0 ? 1 : 0);
  }
  std::int32_t receives(std::int32_t rank) const override {
    return (kReduces ? children(rank) : 0) + (rank > 0 ? 1 : 0);
  }

  PlannedSend send(std::int32_t rank, std::int32_t index) const override {
    PlannedSend planned;
    if (kReduces && rank > 0 && index-- == 0) {  // to the parent, once all children are added
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
    planned.contributors = kReduces ? ranks_ : 1;
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

  std::int32_t levels_;
};

ChunkRange whole_vector(const CollectiveSpec& spec, const HopTransfer&, Bytes) {
  return {0, spec.elements};
}

using TreeSum = Scheduled<TreeGenerator<true>>;
using TreeMessage = Scheduled<TreeGenerator<false>>;

}  // namespace

namespace collectives {

constexpr CollectiveDescriptor tree_all_reduce{.name = "tree-all-reduce",
                                               .generator = TreeSum::generator,
                                               .range = whole_vector,
                                               .payload = TreeSum::payload,
                                               .destinations = TreeSum::destinations};
constexpr CollectiveDescriptor tree_broadcast{.name = "broadcast",
                                              .sizes = CollectiveDescriptor::Sizes::kOne,
                                              .generator = TreeMessage::generator,
                                              .payload = TreeMessage::payload,
                                              .destinations = TreeMessage::destinations};

}  // namespace collectives
}  // namespace gradwire::sim
