#include "sim/graph/collective.h"

#include <algorithm>

#include "base/error.h"
#include "sim/graph/collectives/in_network.h"
#include "sim/graph/collectives/ring.h"
#include "sim/graph/collectives/scheduled.h"
#include "sim/graph/collectives/server.h"

namespace gradwire::sim {
std::string_view name_of(CollectiveKind kind) {
  constexpr std::string_view kNames[] = {"ring-all-reduce",
                                         "ring-reduce-scatter",
                                         "ring-all-gather",
                                         "push",
                                         "pull",
                                         "tree-all-reduce",
                                         "halving-doubling-all-reduce",
                                         "two-level-all-reduce",
                                         "direct-all-gather",
                                         "all-to-all",
                                         "broadcast",
                                         "gossip",
                                         "in-network-all-reduce"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::uint32_t CollectiveSpec::byte_slots() const {
  switch (kind) {
    case CollectiveKind::kRingAllReduce:
    case CollectiveKind::kRingReduceScatter:
    case CollectiveKind::kTreeAllReduce:
    case CollectiveKind::kHalvingDoublingAllReduce:
    case CollectiveKind::kTwoLevelAllReduce:
    case CollectiveKind::kInNetworkAllReduce:
      return 0;
    case CollectiveKind::kTreeBroadcast:
      return 1;
    default:
      return static_cast<std::uint32_t>(members.size());
  }
}

std::unique_ptr<CollectiveGenerator> make_generator(const CollectiveSpec& spec,
                                                    std::span<const Bytes> bytes) {
  GRADWIRE_ASSERT(bytes.size() == spec.byte_slots());
  switch (spec.kind) {
    case CollectiveKind::kPush:
    case CollectiveKind::kPull:
      return make_server(spec, bytes);
    case CollectiveKind::kRingAllReduce:
    case CollectiveKind::kRingReduceScatter:
    case CollectiveKind::kRingAllGather:
      return make_ring(spec, bytes);
    case CollectiveKind::kInNetworkAllReduce:
      return make_in_network(spec);
    default:
      return make_scheduled(spec, bytes);
  }
}

ChunkRange hop_range(const CollectiveSpec& spec, const HopTransfer& hop, Bytes message) {
  const auto ranks = static_cast<int>(spec.members.size());
  switch (spec.kind) {
    case CollectiveKind::kRingAllReduce:
    case CollectiveKind::kRingReduceScatter:
      return chunk_range(spec.elements, ranks, hop.block);
    case CollectiveKind::kTreeAllReduce:
      return {0, spec.elements};
    case CollectiveKind::kHalvingDoublingAllReduce:
      return halving_doubling_range(spec, hop);
    case CollectiveKind::kTwoLevelAllReduce:
      return two_level_range(spec, hop);
    case CollectiveKind::kInNetworkAllReduce:
      return chunk_range(spec.elements, in_network_chunks(spec), hop.block);
    case CollectiveKind::kAllToAll:
      return chunk_range(message.count(), ranks, hop.destination_rank);
    default:
      return {};
  }
}

Bytes total_payload(const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  GRADWIRE_ASSERT(bytes.size() == spec.byte_slots());
  const auto ranks = static_cast<int>(spec.members.size());
  Bytes total{0};
  switch (spec.kind) {
    case CollectiveKind::kRingAllReduce:
    case CollectiveKind::kRingReduceScatter: {
      const bool whole = spec.kind == CollectiveKind::kRingAllReduce;
      for (int chunk = 0; chunk < ranks; ++chunk) {
        const std::int64_t count = chunk_range(spec.elements, ranks, chunk).count;
        for (int hop = 0; hop < ranks - 1; ++hop) {
          total += packed_bytes(count, width_of(spec, hop + 1));
        }
        if (whole) total += packed_bytes(count, width_of(spec, ranks)) * (ranks - 1);
      }
      return total;
    }
    case CollectiveKind::kRingAllGather:
    case CollectiveKind::kPush:
    case CollectiveKind::kPull:
      for (const Bytes message : bytes) total += message;
      return spec.kind == CollectiveKind::kRingAllGather ? total * (ranks - 1) : total;
    case CollectiveKind::kInNetworkAllReduce:
      return in_network_payload(spec);
    default:
      break;
  }
  const ScheduledPtr schedule = make_scheduled(spec, bytes);
  std::vector<HopTransfer> list;
  for (int rank = 0; rank < ranks; ++rank) {
    list.clear();
    for (const HopTransfer& hop : schedule->all_sends(rank, list)) total += hop.bytes;
  }
  return total;
}

std::vector<std::int32_t> destinations_of(const CollectiveSpec& spec, int rank) {
  const auto ranks = static_cast<std::int32_t>(spec.members.size());
  std::vector<std::int32_t> list;
  switch (spec.kind) {
    case CollectiveKind::kRingAllReduce:
    case CollectiveKind::kRingReduceScatter:
    case CollectiveKind::kRingAllGather:
      if (rank >= 0 && ranks > 1) list.push_back((rank + 1) % ranks);
      return list;
    case CollectiveKind::kPush:
      if (rank >= 0) list.push_back(-1);
      return list;
    case CollectiveKind::kPull:
      for (std::int32_t r = 0; rank < 0 && r < ranks; ++r) list.push_back(r);
      return list;
    default:
      break;
  }
  if (rank < 0) return list;
  if (spec.kind == CollectiveKind::kInNetworkAllReduce) {
    list = in_network_children(spec)[static_cast<std::size_t>(rank)];
    const std::int32_t parent = spec.parent[static_cast<std::size_t>(rank)];
    if (parent >= 0) list.push_back(parent);
    return list;
  }
  const std::vector<Bytes> no_bytes(spec.byte_slots());
  const ScheduledPtr schedule = make_scheduled(spec, no_bytes);
  for (std::int32_t i = 0; i < schedule->sends(rank); ++i) {
    list.push_back(schedule->send(rank, i).destination);
  }
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

ChunkRange chunk_range(std::int64_t elements, int ranks, int chunk) {
  const std::int64_t first = elements / ranks * chunk + elements % ranks * chunk / ranks;
  const std::int64_t next = elements / ranks * (chunk + 1) + elements % ranks * (chunk + 1) / ranks;
  return {first, next - first};
}

}  // namespace gradwire::sim
