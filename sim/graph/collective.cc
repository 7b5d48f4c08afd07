#include "sim/graph/collective.h"

#include <algorithm>

#include "base/error.h"
#include "sim/sim_error.h"

namespace gradwire::sim {

std::span<const CollectiveKind> collective_kinds() {
  static constexpr CollectiveKind kKinds[] = {CollectiveKind::kRingAllReduce,
                                              CollectiveKind::kRingReduceScatter,
                                              CollectiveKind::kRingAllGather,
                                              CollectiveKind::kPush,
                                              CollectiveKind::kPull,
                                              CollectiveKind::kTreeAllReduce,
                                              CollectiveKind::kHalvingDoublingAllReduce,
                                              CollectiveKind::kTwoLevelAllReduce,
                                              CollectiveKind::kDirectAllGather,
                                              CollectiveKind::kAllToAll,
                                              CollectiveKind::kTreeBroadcast,
                                              CollectiveKind::kGossip,
                                              CollectiveKind::kInNetworkAllReduce};
  return kKinds;
}

std::uint8_t number_of(CollectiveKind kind) {
  const auto kinds = collective_kinds();
  return static_cast<std::uint8_t>(std::ranges::find(kinds, kind) - kinds.begin());
}

CollectiveKind collective_numbered(std::uint8_t number) {
  const auto kinds = collective_kinds();
  if (number >= kinds.size())
    throw SimError("read", "a collective", "no kind has the number " + std::to_string(number));
  return kinds[number];
}

std::optional<CollectiveKind> collective_named(std::string_view name) {
  for (const CollectiveKind kind : collective_kinds())
    if (kind->name == name) return kind;
  return std::nullopt;
}

std::uint32_t CollectiveSpec::byte_slots() const {
  switch (kind->sizes) {
    case CollectiveDescriptor::Sizes::kElements:
      return 0;
    case CollectiveDescriptor::Sizes::kOne:
      return 1;
    case CollectiveDescriptor::Sizes::kByRank:
      break;
  }
  return static_cast<std::uint32_t>(members.size());
}

std::unique_ptr<CollectiveGenerator> make_generator(const CollectiveSpec& spec,
                                                    std::span<const Bytes> bytes) {
  GRADWIRE_ASSERT(bytes.size() == spec.byte_slots());
  return spec.kind->generator(spec, bytes);
}

ChunkRange hop_range(const CollectiveSpec& spec, const HopTransfer& hop, Bytes message) {
  return spec.kind->range ? spec.kind->range(spec, hop, message) : ChunkRange{};
}

Bytes total_payload(const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  GRADWIRE_ASSERT(bytes.size() == spec.byte_slots());
  return spec.kind->payload(spec, bytes);
}

std::vector<std::int32_t> destinations_of(const CollectiveSpec& spec, int rank) {
  return spec.kind->destinations(spec, rank);
}

}  // namespace gradwire::sim
