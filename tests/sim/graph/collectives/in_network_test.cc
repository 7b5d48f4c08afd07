#include "sim/cluster/topologies/topologies.h"
#include "tests/sim/graph/collectives/support.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

/// Workers below one aggregator each rack, those below a root.
CollectiveSpec in_network(int workers, int racks, std::int64_t elements) {
  const Aggregation tree =
      racks > 0 ? two_tier_aggregation({workers, racks, 1, {}, {}}) : star_aggregation(workers);
  CollectiveSpec spec = ring_spec(CollectiveKind::kInNetworkAllReduce,
                                  static_cast<int>(tree.parent.size()), elements);
  spec.parent = tree.parent;
  return spec;
}

/// Aggregators start with nothing.
class SwitchHandler : public CountHandler {
 public:
  explicit SwitchHandler(const CollectiveSpec& spec) : CountHandler(spec) {
    for (std::size_t r = 0; r < spec.members.size(); ++r) {
      const auto rank = static_cast<std::int32_t>(r);
      if (std::find(spec.parent.begin(), spec.parent.end(), rank) == spec.parent.end()) continue;
      std::fill(held[spec.members[r]].begin(), held[spec.members[r]].end(), 0u);
    }
  }
  std::span<const std::byte> send(int host, OpIndex op, const HopTransfer& hop,
                                  ChunkRange chunk) override {
    const auto payload = CountHandler::send(host, op, hop, chunk);
    sent[host] += static_cast<std::int64_t>(payload.size());
    return payload;
  }
  void receive(int host, OpIndex op, const HopTransfer& hop, ChunkRange chunk,
               std::span<const std::byte> payload) override {
    got[host] += static_cast<std::int64_t>(payload.size());
    CountHandler::receive(host, op, hop, chunk, payload);
  }
  std::map<int, std::int64_t> sent, got;
};

}  // namespace

TEST_CASE("in-network: workers send E and receive E, and have the sum") {
  for (const int workers : {1, 2, 3, 5, 6, 13}) {
    for (const int racks : {0, 1, 2}) {
      if (racks > workers) continue;
      for (const std::int64_t elements : {0, 7, 100'003}) {  // 7 chunks of 64 KiB
        CAPTURE(workers, racks, elements);
        const CollectiveSpec spec = in_network(workers, racks, elements);
        SwitchHandler handler(spec);
        interpret(*graph_of(spec), 0, {}, handler);
        CHECK(handler.wrong == 0);
        std::int64_t all = 0;
        for (const auto& [host, bytes] : handler.sent) all += bytes;
        for (int w = 0; w < workers; ++w) {
          const std::vector<std::uint32_t> sum(static_cast<std::size_t>(elements),
                                               static_cast<std::uint32_t>(workers));
          CHECK(handler.held[w] == sum);
          CHECK(handler.sent[w] == 4 * elements);
          CHECK(handler.got[w] == 4 * elements);
        }
        CHECK(total_payload(spec, {}).count() == all);
      }
    }
  }
}

TEST_CASE("in-network: hosts in threads, and partial sums as wide as they must be") {
  CollectiveSpec spec = in_network(5, 2, 1003);
  SwitchHandler threads(spec);
  for (int host = 0; host < 8; ++host) threads.sent[host] = threads.got[host] = 0;
  play_hosts(*graph_of(spec), {}, 8, threads);
  for (int w = 0; w < 5; ++w) CHECK(threads.held[w] == std::vector<std::uint32_t>(1003, 5));
  // 3 and 2 workers a rack: 5 x 8 bits up, 12 + 12 bits to the root, 16 bits down 7 links.
  spec.width_bits = {8, 12, 12, 16, 16};
  CHECK(total_payload(spec, {}).count() == 5 * 1003 + 2 * 1505 + 7 * 2006);
}

TEST_CASE("in-network: a vector's time, not two, and less than a ring's") {
  // 10 MB at 1 Gbps are 0.08497 s on the wire; 64 chunks follow one another, the first of them
  // twice over the link: 65/64, and acknowledgements cost 2.9 % while both directions are busy.
  const double whole = 0.08497;
  const CollectiveSpec spec = in_network(6, 0, 2'500'000);
  const Cluster star = aggregating_star(6, link(1e9, 1e-6));
  CHECK(star.workers() == 6);
  const double flow = seconds("flow", star, spec);
  CHECK(flow == Approx(whole * 65 / 64 * 1.029).epsilon(0.03));
  CHECK(seconds("model", star, spec) == Approx(flow).epsilon(0.05));
  const CollectiveSpec ring = ring_spec(CollectiveKind::kRingAllReduce, 6, 2'500'000);
  CHECK(flow < 0.7 * seconds("flow", star, ring));
  // Two racks whose uplinks are as fast as one worker's link: still about one vector's time.
  const Cluster tiers = aggregating_two_tier({6, 2, 1, link(1e9, 1e-6), link(1e9, 1e-6)});
  CHECK(seconds("flow", tiers, in_network(6, 2, 2'500'000)) < 1.1 * flow);
}

TEST_CASE("in-network: what is no tree is refused") {
  CollectiveSpec spec = in_network(3, 0, 10);
  spec.parent = {3, 3, 3};
  CHECK_THROWS_AS(graph_of(spec), SimError);
  spec.parent = {3, 3, 2, -1};
  CHECK_THROWS_AS(graph_of(spec), SimError);
  spec.parent = {1, -1, 3, -1};
  CHECK_THROWS_AS(graph_of(spec), SimError);
}
