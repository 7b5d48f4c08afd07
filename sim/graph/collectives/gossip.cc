// Every rank sends its message to each of its neighbours straight away.
#include <algorithm>

#include "sim/graph/collectives/scheduled.h"

namespace gradwire::sim {
namespace {

class GossipGenerator final : public ScheduledGenerator {
 public:
  GossipGenerator(const CollectiveSpec& spec, std::span<const Bytes> bytes)
      : ScheduledGenerator(spec, bytes), receives_(spec.members.size(), 0) {
    for (const std::int32_t to : spec.neighbour) ++receives_[static_cast<std::size_t>(to)];
  }

  std::int32_t sends(std::int32_t rank) const override { return begin(rank + 1) - begin(rank); }
  std::int32_t receives(std::int32_t rank) const override {
    return receives_[static_cast<std::size_t>(rank)];
  }

  PlannedSend send(std::int32_t rank, std::int32_t index) const override {
    PlannedSend planned;
    planned.destination = spec_.neighbour[static_cast<std::size_t>(begin(rank) + index)];
    planned.hop = index;
    planned.block = rank;
    return planned;
  }

 protected:
  std::int32_t window() const override { return spec_.window; }

 private:
  std::int32_t begin(std::int32_t rank) const {
    return spec_.neighbour_begin[static_cast<std::size_t>(rank)];
  }
  std::vector<std::int32_t> receives_;
};

const char* problem_of_neighbours(const CollectiveSpec& spec) {
  const auto ranks = static_cast<std::int32_t>(spec.members.size());
  const std::vector<std::int32_t>& begin = spec.neighbour_begin;
  if (begin.size() != spec.members.size() + 1 || begin.front() != 0 ||
      begin.back() != static_cast<std::int32_t>(spec.neighbour.size()) ||
      !std::is_sorted(begin.begin(), begin.end())) {
    return "its neighbours are not listed by rank";
  }
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::int32_t> own(
        spec.neighbour.begin() + begin[static_cast<std::size_t>(rank)],
        spec.neighbour.begin() + begin[static_cast<std::size_t>(rank) + 1]);
    std::sort(own.begin(), own.end());
    if (own.empty()) continue;
    if (own.front() < 0 || own.back() >= ranks) return "a neighbour is not a rank";
    if (std::adjacent_find(own.begin(), own.end()) != own.end() ||
        std::binary_search(own.begin(), own.end(), rank)) {
      return "a rank is its own neighbour, or another's twice";
    }
  }
  return nullptr;
}

using Gossip = Scheduled<GossipGenerator>;

}  // namespace

constexpr CollectiveDescriptor collectives::gossip{.name = "gossip",
                                                   .sizes = CollectiveDescriptor::Sizes::kByRank,
                                                   .cost = CollectiveDescriptor::Cost::kAtOnce,
                                                   .generator = Gossip::generator,
                                                   .payload = Gossip::payload,
                                                   .destinations = Gossip::destinations,
                                                   .problem = problem_of_neighbours};

}  // namespace gradwire::sim
