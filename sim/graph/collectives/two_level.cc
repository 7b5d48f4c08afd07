// Two levels: each group's members send their vector to the group's first rank, its leader (hop 0);
// leaders run a ring all-reduce of M chunks (hops 1 .. 2 (M - 1)); leaders give the sum back (hop
// 2 (M - 1) + 1). Group m is ranks m G to (m + 1) G - 1, the last one perhaps fewer.
#include <algorithm>

#include "sim/graph/collectives/scheduled.h"

namespace gradwire::sim {
namespace {

std::int32_t group_count(const CollectiveSpec& spec) {
  return (spec.ranks() + spec.group - 1) / spec.group;
}

class TwoLevelGenerator final : public ScheduledGenerator {
 public:
  TwoLevelGenerator(const CollectiveSpec& spec, std::span<const Bytes> bytes)
      : ScheduledGenerator(spec, bytes),
        group_(spec.group),
        groups_(group_count(spec)),
        leaders_((ranks_ + group_ - 1) / group_),
        ring_hops_(2 * (groups_ - 1)) {}

  std::int32_t sends(std::int32_t rank) const override {
    return is_leader(rank) ? ring_hops_ + others(rank) : 1;
  }
  std::int32_t receives(std::int32_t rank) const override { return sends(rank); }

  PlannedSend send(std::int32_t rank, std::int32_t index) const override {
    PlannedSend planned;
    if (!is_leader(rank)) {
      planned.destination = rank - rank % group_;
      planned.reduce = true;
      return planned;
    }
    planned.contributors = spec_.ranks();
    planned.hop = 1 + std::min(index, ring_hops_);
    planned.needs = others(rank) + std::min(index, ring_hops_);
    if (index >= ring_hops_) {
      planned.destination = rank + 1 + index - ring_hops_;
      return planned;
    }
    const std::int32_t own = rank / group_;
    planned.destination = (own + 1) % leaders_ * group_;
    planned.block = ((own - index) % groups_ + groups_) % groups_;
    planned.reduce = index < groups_ - 1;
    if (planned.reduce) planned.contributors = summed(own, index);
    return planned;
  }

 protected:
  std::int32_t receive_index(const HopTransfer& hop) const override {
    const std::int32_t rank = hop.destination_rank;
    if (!is_leader(rank)) return 0;
    return hop.hop == 0 ? hop.source_rank - rank - 1 : others(rank) + hop.hop - 1;
  }

 private:
  bool is_leader(std::int32_t rank) const { return rank % group_ == 0; }
  std::int32_t others(std::int32_t leader) const { return std::min(group_, ranks_ - leader) - 1; }
  /// Workers in the groups own - h .. own, round the ring.
  std::int32_t summed(std::int32_t own, std::int32_t h) const {
    const bool with_last = own == groups_ - 1 || h > own;
    const std::int32_t missing = groups_ * group_ - spec_.ranks();
    return (h + 1) * group_ - (with_last ? missing : 0);
  }

  std::int32_t group_;
  std::int32_t groups_;
  std::int32_t leaders_;  // of them there are so many here: all, or those of a part
  std::int32_t ring_hops_;
};

ChunkRange two_level_range(const CollectiveSpec& spec, const HopTransfer& hop, Bytes) {
  const std::int32_t groups = group_count(spec);
  if (hop.hop == 0 || hop.hop == 2 * (groups - 1) + 1) return {0, spec.elements};
  return chunk_range(spec.elements, groups, hop.block);
}

/// Whole groups; and the leaders' chunks repeat.
bool two_level_repeats(const CollectiveSpec& spec, std::span<const Bytes>, std::int32_t rows) {
  const std::int64_t groups = group_count(spec);
  const bool whole = spec.ranks() % rows == 0 && rows % spec.group == 0;
  return whole && spec.elements % groups * (rows / spec.group) % groups == 0;
}

using TwoLevel = Scheduled<TwoLevelGenerator>;

}  // namespace

constexpr CollectiveDescriptor collectives::two_level{.name = "two-level-all-reduce",
                                                      .generator = TwoLevel::generator,
                                                      .range = two_level_range,
                                                      .payload = TwoLevel::payload,
                                                      .destinations = TwoLevel::destinations,
                                                      .repeats = two_level_repeats};

}  // namespace gradwire::sim
