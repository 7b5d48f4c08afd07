// Every rank sends to all others straight away: all-gather, all-to-all. Rank r begins with rank r +
// 1, so that not everybody sends to rank 0 first.
#include "sim/graph/collectives/scheduled.h"

namespace gradwire::sim {
namespace {

/// Its whole message, or to each rank a part of it.
template <bool kParts>
class DirectGenerator final : public ScheduledGenerator {
 public:
  using ScheduledGenerator::ScheduledGenerator;

  std::int32_t sends(std::int32_t) const override { return ranks_ - 1; }
  std::int32_t receives(std::int32_t) const override { return ranks_ - 1; }

  PlannedSend send(std::int32_t rank, std::int32_t index) const override {
    PlannedSend planned;
    planned.destination = (rank + 1 + index) % ranks_;
    planned.hop = index;
    planned.block = rank;
    return planned;
  }

 protected:
  Bytes size_of(std::int32_t rank, const PlannedSend& planned) const override {
    const Bytes own = bytes_[static_cast<std::size_t>(rank)];
    if (!kParts) return own;
    return Bytes(chunk_range(own.count(), ranks_, planned.destination).count);
  }
  std::int32_t window() const override { return spec_.window; }
};

/// What payload_of() adds up, without N^2 messages: everybody's own message to each other, or what
/// of it is not the rank's own part.
template <bool kParts>
Bytes direct_payload(const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  const auto ranks = static_cast<int>(spec.members.size());
  Bytes total{0};
  for (int rank = 0; rank < ranks; ++rank) {
    const std::int64_t own = bytes[static_cast<std::size_t>(rank)].count();
    total += Bytes(kParts ? own - chunk_range(own, ranks, rank).count : own * (ranks - 1));
  }
  return total;
}

ChunkRange part_of_message(const CollectiveSpec& spec, const HopTransfer& hop, Bytes message) {
  return chunk_range(message.count(), static_cast<int>(spec.members.size()), hop.destination_rank);
}

using DirectMessages = Scheduled<DirectGenerator<false>>;
using DirectParts = Scheduled<DirectGenerator<true>>;

}  // namespace

namespace collectives {

constexpr CollectiveDescriptor direct_all_gather{.name = "direct-all-gather",
                                                 .sizes = CollectiveDescriptor::Sizes::kByRank,
                                                 .cost = CollectiveDescriptor::Cost::kAtOnce,
                                                 .generator = DirectMessages::generator,
                                                 .payload = direct_payload<false>,
                                                 .destinations = DirectMessages::destinations};
constexpr CollectiveDescriptor all_to_all{.name = "all-to-all",
                                          .sizes = CollectiveDescriptor::Sizes::kByRank,
                                          .cost = CollectiveDescriptor::Cost::kAtOnce,
                                          .generator = DirectParts::generator,
                                          .range = part_of_message,
                                          .payload = direct_payload<true>,
                                          .destinations = DirectParts::destinations};

}  // namespace collectives
}  // namespace gradwire::sim
