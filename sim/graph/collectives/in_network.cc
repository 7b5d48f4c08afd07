// Sums formed where packets pass: ranks without children are workers, the others aggregators, the
// last one the root (CollectiveSpec::parent). A worker sends its vector chunk by chunk to the
// aggregator above it; an aggregator that has a chunk from all its children sends their sum up, the
// root sends the whole sum down, and every aggregator passes it on. So a worker sends E and
// receives E, and chunks follow one another through the tree.
#include "sim/graph/collectives/in_network.h"

#include <algorithm>

namespace gradwire::sim {
namespace {

constexpr std::int64_t kSlot = 65536;  // bytes
constexpr std::int64_t kMostChunks = 64;

class InNetworkGenerator final : public CollectiveGenerator {
 public:
  explicit InNetworkGenerator(const CollectiveSpec& spec)
      : spec_(spec),
        chunks_(in_network_chunks(spec)),
        children_(in_network_children(spec)),
        place_(spec.members.size(), 0),
        summed_(spec.members.size(), 1),
        states_(spec.members.size()) {
    for (std::size_t r = 0; r < children_.size(); ++r) {
      const std::vector<std::int32_t>& own = children_[r];
      if (own.empty()) continue;
      summed_[r] = 0;
      for (std::size_t c = 0; c < own.size(); ++c) {
        place_[static_cast<std::size_t>(own[c])] = static_cast<std::int32_t>(c);
        summed_[r] += summed_[static_cast<std::size_t>(own[c])];
      }
      states_[r].arrived.assign(static_cast<std::size_t>(chunks_), 0);
    }
  }

  std::int64_t transfers_total() const override {
    return 2 * (static_cast<std::int64_t>(spec_.members.size()) - 1) * chunks_;
  }
  std::int64_t incoming(int rank) const override {
    if (rank < 0) return 0;
    const auto from = static_cast<std::int64_t>(children_[static_cast<std::size_t>(rank)].size());
    return (from + (is_root(rank) ? 0 : 1)) * chunks_;
  }

  void on_ready(int rank, std::vector<HopTransfer>& start) override {
    if (rank < 0) return;
    states_[static_cast<std::size_t>(rank)].ready = true;
    if (!children_[static_cast<std::size_t>(rank)].empty()) return;
    for (std::int32_t chunk = 0; chunk < chunks_; ++chunk) start.push_back(up(rank, chunk));
  }

  void on_delivered(const HopTransfer& hop, std::vector<HopTransfer>& start) override {
    const int rank = hop.destination_rank;
    State& state = states_[static_cast<std::size_t>(rank)];
    if (!hop.reduce) return pass_down(rank, hop.block, start);
    std::int32_t& arrived = state.arrived[static_cast<std::size_t>(hop.block)];
    const auto all = static_cast<std::int32_t>(children_[static_cast<std::size_t>(rank)].size());
    if (++arrived < all) return;
    if (is_root(rank)) return pass_down(rank, hop.block, start);
    start.push_back(up(rank, hop.block));
  }

  /// Children count in their order: sums are the same whoever is faster.
  bool expects(const HopTransfer& hop) const override {
    if (!hop.reduce) return true;
    const State& state = states_[static_cast<std::size_t>(hop.destination_rank)];
    return state.arrived[static_cast<std::size_t>(hop.block)] ==
           place_[static_cast<std::size_t>(hop.source_rank)];
  }

  bool rank_done(int rank) const override {
    if (rank < 0) return true;
    const State& state = states_[static_cast<std::size_t>(rank)];
    return state.ready && state.finished == chunks_;
  }

 private:
  struct State {
    std::vector<std::int32_t> arrived;  ///< of an aggregator, by chunk: children
    std::int32_t finished = 0;          ///< chunks whose whole sum is here
    bool ready = false;
  };

  bool is_root(int rank) const { return spec_.parent[static_cast<std::size_t>(rank)] < 0; }

  void pass_down(int rank, std::int32_t chunk, std::vector<HopTransfer>& start) {
    ++states_[static_cast<std::size_t>(rank)].finished;
    for (const std::int32_t child : children_[static_cast<std::size_t>(rank)]) {
      HopTransfer hop = hop_of(rank, child, chunk, summed_.back());
      hop.hop = 1;
      start.push_back(hop);
    }
  }

  HopTransfer up(int rank, std::int32_t chunk) const {
    const auto r = static_cast<std::size_t>(rank);
    HopTransfer hop = hop_of(rank, spec_.parent[r], chunk, summed_[r]);
    hop.reduce = true;
    return hop;
  }

  HopTransfer hop_of(int from, int to, std::int32_t chunk, std::int32_t contributors) const {
    HopTransfer hop;
    hop.source_rank = from;
    hop.destination_rank = to;
    hop.block = chunk;
    hop.contributors = contributors;
    const std::int64_t count = chunk_range(spec_.elements, chunks_, chunk).count;
    hop.bytes = packed_bytes(count, width_of(spec_, contributors));
    return hop;
  }

  const CollectiveSpec& spec_;
  std::int32_t chunks_;
  std::vector<std::vector<std::int32_t>> children_;  ///< by rank
  std::vector<std::int32_t> place_;                  ///< by rank: among its parent's children
  std::vector<std::int32_t> summed_;                 ///< by rank: workers in what it sends up
  std::vector<State> states_;
};

}  // namespace

std::int32_t in_network_chunks(const CollectiveSpec& spec) {
  const int widest = *std::max_element(spec.width_bits.begin(), spec.width_bits.end());
  const std::int64_t slots = (spec.elements * widest / 8 + kSlot - 1) / kSlot;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(slots, 1, kMostChunks));
}

std::vector<std::vector<std::int32_t>> in_network_children(const CollectiveSpec& spec) {
  std::vector<std::vector<std::int32_t>> children(spec.members.size());
  for (std::size_t r = 0; r + 1 < spec.parent.size(); ++r)
    children[static_cast<std::size_t>(spec.parent[r])].push_back(static_cast<std::int32_t>(r));
  return children;
}

namespace {

Bytes in_network_payload(const CollectiveSpec& spec, std::span<const Bytes>) {
  const std::int32_t chunks = in_network_chunks(spec);
  const auto children = in_network_children(spec);
  std::vector<std::int32_t> summed(spec.members.size(), 1);
  Bytes total{0};
  const auto vector_at = [&](std::int32_t contributors) {
    Bytes sum{0};
    for (std::int32_t chunk = 0; chunk < chunks; ++chunk) {
      const std::int64_t count = chunk_range(spec.elements, chunks, chunk).count;
      sum += packed_bytes(count, width_of(spec, contributors));
    }
    return sum;
  };
  for (std::size_t r = 0; r < children.size(); ++r) {
    if (children[r].empty()) continue;
    summed[r] = 0;
    for (const std::int32_t child : children[r]) {
      summed[r] += summed[static_cast<std::size_t>(child)];
      total += vector_at(summed[static_cast<std::size_t>(child)]);
    }
  }
  return total + vector_at(summed.back()) * (static_cast<std::int64_t>(spec.members.size()) - 1);
}

std::unique_ptr<CollectiveGenerator> in_network_generator(const CollectiveSpec& spec,
                                                          std::span<const Bytes>) {
  return std::make_unique<InNetworkGenerator>(spec);
}

ChunkRange in_network_range(const CollectiveSpec& spec, const HopTransfer& hop, Bytes) {
  return chunk_range(spec.elements, in_network_chunks(spec), hop.block);
}

std::vector<std::int32_t> in_network_destinations(const CollectiveSpec& spec, int rank) {
  if (rank < 0) return {};
  std::vector<std::int32_t> list = in_network_children(spec)[static_cast<std::size_t>(rank)];
  const std::int32_t parent = spec.parent[static_cast<std::size_t>(rank)];
  if (parent >= 0) list.push_back(parent);
  return list;
}

const char* problem_of_parents(const CollectiveSpec& spec) {
  const std::size_t ranks = spec.members.size();
  if (spec.parent.size() != ranks || spec.parent.back() >= 0)
    return "its aggregators are not listed by rank, the root last";
  std::vector<bool> has_child(ranks, false);
  for (std::size_t r = 0; r + 1 < ranks; ++r) {
    const auto parent = static_cast<std::size_t>(spec.parent[r]);
    if (spec.parent[r] < 0 || parent <= r || parent >= ranks)
      return "a rank's aggregator does not come after it";
    has_child[parent] = true;
  }
  if (!has_child.back()) return "nothing reaches its root";
  return nullptr;
}

}  // namespace

constexpr CollectiveDescriptor collectives::in_network{
    .name = "in-network-all-reduce",
    .cost = CollectiveDescriptor::Cost::kThroughTree,
    .generator = in_network_generator,
    .range = in_network_range,
    .payload = in_network_payload,
    .destinations = in_network_destinations,
    .problem = problem_of_parents};

}  // namespace gradwire::sim
