#include "sim/collective.h"

#include <algorithm>

#include "base/error.h"
#include "sim/collectives/in_network.h"
#include "sim/collectives/scheduled.h"

namespace gradwire::sim {
namespace {

/// Bytes of a chunk's partial sum: whole bytes, so that hops can be packed independently.
Bytes packed_bytes(std::int64_t count, int width) {
  return Bytes((count * width + 7) / 8);
}

/// All three rings: rank r may send hop h as soon as it is ready and h hops have reached it,
/// because the block of its hop h (h > 0) is the one that hop h - 1 brought.
class RingGenerator final : public CollectiveGenerator {
 public:
  RingGenerator(const CollectiveSpec& spec, std::span<const Bytes> bytes)
      : spec_(spec),
        ranks_(static_cast<int>(spec.members.size())),
        hops_(spec.kind == CollectiveKind::kRingAllReduce ? 2 * (ranks_ - 1) : ranks_ - 1),
        gathers_(spec.kind == CollectiveKind::kRingAllGather),
        blocks_(bytes.begin(), bytes.end()),
        rank_(static_cast<std::size_t>(ranks_)) {
    for (int c = 0; !gathers_ && c < ranks_; ++c) {
      counts_.push_back(chunk_range(spec.elements, ranks_, c).count);
    }
  }

  std::int64_t transfers_total() const override {
    return static_cast<std::int64_t>(hops_) * ranks_;
  }
  std::int64_t incoming(int rank) const override { return rank < 0 ? 0 : hops_; }

  void on_ready(int rank, std::vector<HopTransfer>& start) override {
    if (rank < 0) return;
    rank_[static_cast<std::size_t>(rank)].ready = true;
    send_what_may(rank, start);
  }

  void on_delivered(const HopTransfer& hop, std::vector<HopTransfer>& start) override {
    RankState& state = rank_[static_cast<std::size_t>(hop.destination_rank)];
    if (hop.hop != state.received) {  // an empty hop overtook one that takes time
      early_.push_back({hop.destination_rank, hop.hop});
      return;
    }
    do {
      ++state.received;
    } while (!early_.empty() && take_early(hop.destination_rank, state.received));
    send_what_may(hop.destination_rank, start);
  }

  bool rank_done(int rank) const override {
    if (rank < 0) return true;
    const RankState& state = rank_[static_cast<std::size_t>(rank)];
    return state.ready && state.received == hops_;
  }

 private:
  struct RankState {
    std::int32_t received = 0;
    std::int32_t sent = 0;
    bool ready = false;
  };

  struct EarlyHop {
    std::int32_t rank = 0;
    std::int32_t hop = 0;
  };

  bool take_early(int rank, int hop) {
    for (EarlyHop& early : early_) {
      if (early.rank != rank || early.hop != hop) continue;
      early = early_.back();
      early_.pop_back();
      return true;
    }
    return false;
  }

  void send_what_may(int rank, std::vector<HopTransfer>& start) {
    RankState& state = rank_[static_cast<std::size_t>(rank)];
    while (state.ready && state.sent < hops_ && state.sent <= state.received) {
      start.push_back(hop_of(rank, state.sent++));
    }
  }

  HopTransfer hop_of(int rank, int hop) const {
    HopTransfer transfer;
    transfer.source_rank = rank;
    transfer.destination_rank = rank + 1 == ranks_ ? 0 : rank + 1;
    transfer.hop = hop;
    // hop < 2 ranks, so at most two turns around the ring.
    int block = rank - hop;
    while (block < 0) block += ranks_;
    transfer.block = block;
    if (gathers_) {
      transfer.bytes = blocks_[static_cast<std::size_t>(block)];
      return transfer;
    }
    transfer.reduce = hop < ranks_ - 1;
    transfer.contributors = transfer.reduce ? hop + 1 : ranks_;
    transfer.bytes = packed_bytes(counts_[static_cast<std::size_t>(block)],
                                  width_of(spec_, transfer.contributors));
    return transfer;
  }

  const CollectiveSpec& spec_;
  int ranks_;
  int hops_;
  bool gathers_;
  std::vector<Bytes> blocks_;         // of a gather, by rank
  std::vector<std::int64_t> counts_;  // of a reduction: elements by chunk
  std::vector<RankState> rank_;
  std::vector<EarlyHop> early_;
};

/// Push: each rank sends its message to the server; pull: the server sends each rank its message.
/// A sender is done when its message has arrived.
class ServerGenerator final : public CollectiveGenerator {
 public:
  ServerGenerator(const CollectiveSpec& spec, std::span<const Bytes> bytes)
      : push_(spec.kind == CollectiveKind::kPush),
        messages_(bytes.begin(), bytes.end()),
        ready_(messages_.size(), false),
        arrived_(messages_.size(), false) {}

  std::int64_t transfers_total() const override { return ranks(); }
  std::int64_t incoming(int rank) const override {
    if (rank < 0) return push_ ? ranks() : 0;
    return push_ ? 0 : 1;
  }

  void on_ready(int rank, std::vector<HopTransfer>& start) override {
    if (rank >= 0) {
      ready_[static_cast<std::size_t>(rank)] = true;
      if (push_) start.push_back(message(rank));
      return;
    }
    server_ready_ = true;
    for (int r = 0; !push_ && r < ranks(); ++r) start.push_back(message(r));
  }

  void on_delivered(const HopTransfer& hop, std::vector<HopTransfer>&) override {
    const int rank = push_ ? hop.source_rank : hop.destination_rank;
    arrived_[static_cast<std::size_t>(rank)] = true;
    ++arrivals_;
  }

  bool rank_done(int rank) const override {
    if (rank < 0) return server_ready_ && arrivals_ == ranks();
    return ready_[static_cast<std::size_t>(rank)] && arrived_[static_cast<std::size_t>(rank)];
  }

 private:
  int ranks() const { return static_cast<int>(messages_.size()); }
  HopTransfer message(int rank) const {
    HopTransfer transfer;
    transfer.source_rank = push_ ? rank : -1;
    transfer.destination_rank = push_ ? -1 : rank;
    transfer.block = rank;
    transfer.bytes = messages_[static_cast<std::size_t>(rank)];
    return transfer;
  }

  bool push_;
  std::vector<Bytes> messages_;
  std::vector<bool> ready_;
  std::vector<bool> arrived_;
  int arrivals_ = 0;
  bool server_ready_ = false;
};

}  // namespace

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
      return std::make_unique<ServerGenerator>(spec, bytes);
    case CollectiveKind::kRingAllReduce:
    case CollectiveKind::kRingReduceScatter:
    case CollectiveKind::kRingAllGather:
      return std::make_unique<RingGenerator>(spec, bytes);
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

int width_of(const CollectiveSpec& spec, int contributors) {
  const std::size_t last = spec.width_bits.size();
  return spec.width_bits[std::min(static_cast<std::size_t>(contributors), last) - 1];
}

}  // namespace gradwire::sim
