#pragma once
// What tests of collectives share. Sizes are taken over ranks that are powers of two and that are
// not.
#include <cstring>
#include <map>

#include "tests/sim/handlers.h"

namespace gradwire::sim::testing {

inline const std::vector<int> kSizes = {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 16};
inline constexpr CollectiveKind kAllReduces[] = {
    CollectiveKind::kRingAllReduce, CollectiveKind::kTreeAllReduce,
    CollectiveKind::kHalvingDoublingAllReduce, CollectiveKind::kTwoLevelAllReduce};

inline CollectiveSpec reduction(CollectiveKind kind, int ranks, std::int64_t elements,
                                int group = 3) {
  CollectiveSpec spec = ring_spec(kind, ranks, elements);
  std::reverse(spec.members.begin(), spec.members.end());  // ranks are not hosts
  spec.group = group;
  return spec;
}

/// Every host starts with ones: a sum is the number of workers in it.
class CountHandler : public DataHandler {
 public:
  explicit CountHandler(const CollectiveSpec& spec) {
    for (const std::int32_t host : spec.members) {
      held[host].assign(static_cast<std::size_t>(spec.elements), 1);
    }
  }
  std::span<const std::byte> send(int host, OpIndex, const HopTransfer& hop,
                                  ChunkRange chunk) override {
    const auto part =
        std::span(held.at(host))
            .subspan(static_cast<std::size_t>(chunk.first), static_cast<std::size_t>(chunk.count));
    for (const std::uint32_t count : part)
      wrong += count != static_cast<std::uint32_t>(hop.contributors);
    return std::as_bytes(part);
  }
  void receive(int host, OpIndex, const HopTransfer& hop, ChunkRange chunk,
               std::span<const std::byte> payload) override {
    for (std::int64_t e = 0; e < chunk.count; ++e) {
      std::uint32_t value = 0;
      std::memcpy(&value, payload.data() + 4 * e, 4);
      std::uint32_t& mine = held.at(host)[static_cast<std::size_t>(chunk.first + e)];
      mine = hop.reduce ? mine + value : value;
    }
  }
  std::map<int, std::vector<std::uint32_t>> held;
  int wrong = 0;
};

/// What flow charges, which must be what total_payload says.
inline std::int64_t payload_in_flow(const CollectiveSpec& spec,
                                    const std::vector<std::int64_t>& sizes) {
  const auto ranks = static_cast<int>(spec.members.size());
  const Step step(graph_of(spec), sizes);
  const Bytes payload = run(*make("flow", Cluster::star(ranks, {})), step).ops[0].payload;
  CHECK(total_payload(spec, step.bytes) == payload);
  return payload.count();
}

inline double seconds(std::string_view executor, const Cluster& cluster, const CollectiveSpec& spec,
                      const std::vector<std::int64_t>& sizes = {}) {
  return run(*make(executor, cluster), Step(graph_of(spec), sizes)).end.value();
}

}  // namespace gradwire::sim::testing
