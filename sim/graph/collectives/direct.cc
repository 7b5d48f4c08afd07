// Every rank sends to its partners straight away: all-gather, all-to-all, gossip. Rank r begins
// with rank r + 1, so that not everybody sends to rank 0 first.
#include "sim/graph/collectives/scheduled.h"

namespace gradwire::sim {
namespace {

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
    if (spec_.kind != CollectiveKind::kAllToAll) return own;
    return Bytes(chunk_range(own.count(), ranks_, planned.destination).count);
  }
  std::int32_t window() const override { return spec_.window; }
};

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

}  // namespace

ScheduledPtr make_direct(const CollectiveSpec& spec, std::span<const Bytes> bytes) {
  if (spec.kind == CollectiveKind::kGossip) return std::make_unique<GossipGenerator>(spec, bytes);
  return std::make_unique<DirectGenerator>(spec, bytes);
}

}  // namespace gradwire::sim
