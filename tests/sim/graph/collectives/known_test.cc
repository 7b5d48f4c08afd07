#include <set>
#include <string_view>

#include "tests/sim/graph/collectives/support.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

TEST_CASE("the payload of rings is known beforehand, at any width") {
  for (const int ranks : {1, 2, 5, 8}) {
    for (const CollectiveKind kind :
         {CollectiveKind::kRingAllReduce, CollectiveKind::kRingReduceScatter}) {
      CollectiveSpec spec = ring_spec(kind, ranks, 1003);
      spec.width_bits = {3, 5, 9};
      payload_in_flow(spec, {});
    }
    payload_in_flow(ring_spec(CollectiveKind::kRingAllGather, ranks, 0),
                    std::vector<std::int64_t>(static_cast<std::size_t>(ranks), 77));
  }
}

TEST_CASE("who sends to whom is known beforehand") {
  for (const CollectiveKind kind :
       {CollectiveKind::kRingAllReduce, CollectiveKind::kTreeAllReduce,
        CollectiveKind::kHalvingDoublingAllReduce, CollectiveKind::kTwoLevelAllReduce}) {
    const CollectiveSpec spec = ring_spec(kind, 11, 44);
    struct Pairs : CountHandler {
      using CountHandler::CountHandler;
      std::span<const std::byte> send(int host, OpIndex op, const HopTransfer& hop,
                                      ChunkRange chunk) override {
        seen[hop.source_rank].insert(hop.destination_rank);
        return CountHandler::send(host, op, hop, chunk);
      }
      std::map<int, std::set<std::int32_t>> seen;
    } pairs(spec);
    interpret(*graph_of(spec), 0, {}, pairs);
    for (int rank = 0; rank < 11; ++rank) {
      const std::vector<std::int32_t> known = destinations_of(spec, rank);
      CHECK(std::set<std::int32_t>(known.begin(), known.end()) == pairs.seen[rank]);
    }
    CHECK(destinations_of(spec, -1).empty());
  }
}

TEST_CASE("every kind of collective is known by its name and by its number") {
  std::set<std::string_view> names;
  int number = 0;
  for (const CollectiveKind kind : collective_kinds()) {
    INFO(name_of(kind));
    names.insert(name_of(kind));
    CHECK(number_of(kind) == number);
    CHECK(collective_numbered(static_cast<std::uint8_t>(number)) == kind);
    CHECK(collective_named(name_of(kind)) == kind);
    CHECK(kind->generator != nullptr);
    CHECK(kind->payload != nullptr);
    CHECK(kind->destinations != nullptr);
    ++number;
  }
  CHECK(names.size() == 13);
  // Stored graphs count by these.
  CHECK(number_of(CollectiveKind::kRingAllReduce) == 0);
  CHECK(number_of(CollectiveKind::kPull) == 4);
  CHECK(number_of(CollectiveKind::kInNetworkAllReduce) == 12);
  CHECK_FALSE(collective_named("ring"));
  CHECK_THROWS_AS(collective_numbered(13), SimError);
}
