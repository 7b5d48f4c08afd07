// Rings: all-reduce, reduce-scatter, all-gather (Patarasuk and Yuan, "Bandwidth optimal all-reduce
// algorithms for clusters of workstations", 2009).
#include <algorithm>

#include "sim/graph/collective.h"

namespace gradwire::sim {
namespace {

/// All three rings: rank r may send hop h as soon as it is ready and h hops have reached it,
/// because the block of its hop h (h > 0) is the one that hop h - 1 brought.
class RingGenerator final : public CollectiveGenerator {
 public:
  /// `turns`: how often what a rank sends goes round; `bytes`: by rank, of a gather.
  RingGenerator(const CollectiveSpec& spec, std::span<const Bytes> bytes, int turns)
      : spec_(spec),
        ranks_(static_cast<int>(spec.members.size())),
        all_ranks_(spec.ranks()),
        hops_(turns * (all_ranks_ - 1)),
        gathers_(spec.byte_slots() > 0),
        is_even_(!gathers_ && spec.width_bits.size() == 1),
        blocks_(bytes.begin(), bytes.end()),
        rank_(static_cast<std::size_t>(ranks_)) {
    for (int r = ranks_; gathers_ && r < all_ranks_; ++r)
      blocks_.push_back(blocks_[static_cast<std::size_t>(r - ranks_)]);
    for (int c = 0; !gathers_ && c < all_ranks_; ++c) {
      counts_.push_back(chunk_range(spec.elements, all_ranks_, c).count);
      if (is_even_) blocks_.push_back(packed_bytes(counts_.back(), width_of(spec_, 1)));
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
      set_hop(rank, state.sent++, start.emplace_back());
    }
  }

  /// Fills in hop number `hop` of the rank.
  void set_hop(int rank, int hop, HopTransfer& transfer) const {
    transfer.source_rank = rank;
    transfer.destination_rank = rank + 1 == ranks_ ? 0 : rank + 1;
    transfer.hop = hop;
    // hop < 2 ranks, so at most two turns around the ring.
    int block = rank - hop;
    while (block < 0) block += all_ranks_;
    transfer.block = block;
    if (!gathers_) {
      transfer.reduce = hop < all_ranks_ - 1;
      transfer.contributors = transfer.reduce ? hop + 1 : all_ranks_;
    }
    if (gathers_ || is_even_) {
      transfer.bytes = blocks_[static_cast<std::size_t>(block)];
      return;
    }
    transfer.bytes = packed_bytes(counts_[static_cast<std::size_t>(block)],
                                  width_of(spec_, transfer.contributors));
  }

  const CollectiveSpec& spec_;
  int ranks_;
  int all_ranks_;  // of which these are a part, or those
  int hops_;
  bool gathers_;
  bool is_even_;                      // a reduction whose sums are of one width
  std::vector<Bytes> blocks_;         // of a gather, by rank; where is_even_, by chunk
  std::vector<std::int64_t> counts_;  // of a reduction: elements by chunk
  std::vector<RankState> rank_;
  std::vector<EarlyHop> early_;
};

template <int kTurns>
std::unique_ptr<CollectiveGenerator> ring_generator(const CollectiveSpec& spec,
                                                    std::span<const Bytes> bytes) {
  return std::make_unique<RingGenerator>(spec, bytes, kTurns);
}

ChunkRange ring_range(const CollectiveSpec& spec, const HopTransfer& hop, Bytes) {
  return chunk_range(spec.elements, spec.ranks(), hop.block);
}

/// Chunks repeat.
bool sums_repeat(const CollectiveSpec& spec, std::span<const Bytes>, std::int32_t rows) {
  const std::int64_t ranks = spec.ranks();
  return ranks % rows == 0 && spec.elements % ranks * rows % ranks == 0;
}

bool blocks_repeat(const CollectiveSpec& spec, std::span<const Bytes> bytes, std::int32_t rows) {
  return spec.ranks() % rows == 0 &&
         std::equal(bytes.begin() + rows, bytes.end(), bytes.begin(), bytes.end() - rows);
}

/// Partial sums on the first turn, full ones on the second. Chunks come in two sizes.
template <int kTurns>
Bytes ring_sums(const CollectiveSpec& spec, std::span<const Bytes>) {
  const auto ranks = static_cast<int>(spec.members.size());
  const std::int64_t whole = spec.elements / ranks, longer = spec.elements % ranks;
  const auto all_of = [&](std::int64_t count) {
    Bytes sum = packed_bytes(count, width_of(spec, ranks)) * ((kTurns - 1) * (ranks - 1));
    for (int hop = 0; hop < ranks - 1; ++hop) sum += packed_bytes(count, width_of(spec, hop + 1));
    return sum;
  };
  return all_of(whole) * (ranks - longer) + all_of(whole + 1) * longer;
}

Bytes ring_blocks(const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  Bytes total{0};
  for (const Bytes block : bytes) total += block;
  return total * (static_cast<std::int64_t>(spec.members.size()) - 1);
}

std::vector<std::int32_t> next_rank(const CollectiveSpec& spec, int rank) {
  const auto ranks = static_cast<std::int32_t>(spec.members.size());
  if (rank < 0 || ranks < 2) return {};
  return {(rank + 1) % ranks};
}

}  // namespace

namespace collectives {

constexpr CollectiveDescriptor ring_all_reduce{.name = "ring-all-reduce",
                                               .cost = CollectiveDescriptor::Cost::kRing,
                                               .generator = ring_generator<2>,
                                               .range = ring_range,
                                               .payload = ring_sums<2>,
                                               .destinations = next_rank,
                                               .repeats = sums_repeat};
constexpr CollectiveDescriptor ring_reduce_scatter{.name = "ring-reduce-scatter",
                                                   .cost = CollectiveDescriptor::Cost::kRing,
                                                   .generator = ring_generator<1>,
                                                   .range = ring_range,
                                                   .payload = ring_sums<1>,
                                                   .destinations = next_rank,
                                                   .repeats = sums_repeat};
constexpr CollectiveDescriptor ring_all_gather{.name = "ring-all-gather",
                                               .sizes = CollectiveDescriptor::Sizes::kByRank,
                                               .cost = CollectiveDescriptor::Cost::kRing,
                                               .generator = ring_generator<1>,
                                               .payload = ring_blocks,
                                               .destinations = next_rank,
                                               .repeats = blocks_repeat};

}  // namespace collectives
}  // namespace gradwire::sim
