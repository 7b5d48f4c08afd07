#include "tests/sim/graph/collectives/support.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

TEST_CASE("broadcast: rank 0's message reaches everybody, N - 1 copies in all") {
  for (const int ranks : kSizes) {
    CollectiveSpec spec = ring_spec(CollectiveKind::kTreeBroadcast, ranks, 0);
    std::reverse(spec.members.begin(), spec.members.end());
    const GraphPtr graph = graph_of(spec);
    const std::vector<Bytes> sizes = {Bytes(1000)};
    for (const bool threads : {false, true}) {
      MessageHandler handler;
      for (int host = 0; host < ranks; ++host) handler.held[host];
      handler.held[ranks - 1][0] = message_of(0, 1000);  // the host of rank 0
      threads ? play_hosts(*graph, sizes, ranks, handler) : interpret(*graph, 0, sizes, handler);
      for (int host = 0; host < ranks; ++host) CHECK(handler.held[host][0] == message_of(0, 1000));
    }
    CHECK(payload_in_flow(spec, {1000}) == 1000 * (ranks - 1));
  }
}

TEST_CASE("gossip: every rank has its neighbours' messages and no others") {
  // Ranks on a line, and rank 0 also hears from the last.
  for (const int ranks : {2, 3, 5, 8}) {
    CollectiveSpec spec = ring_spec(CollectiveKind::kGossip, ranks, 0);
    std::vector<std::int64_t> counts;
    std::vector<Bytes> sizes;
    for (int r = 0; r < ranks; ++r) {
      spec.neighbour_begin.push_back(static_cast<std::int32_t>(spec.neighbour.size()));
      if (r > 0) spec.neighbour.push_back(r - 1);
      if (r + 1 < ranks) spec.neighbour.push_back(r + 1);
      if (r + 1 == ranks && ranks > 2) spec.neighbour.push_back(0);
      counts.push_back(100 + r);
      sizes.emplace_back(100 + r);
    }
    spec.neighbour_begin.push_back(static_cast<std::int32_t>(spec.neighbour.size()));
    const GraphPtr graph = graph_of(spec);
    MessageHandler handler;
    for (int r = 0; r < ranks; ++r) handler.held[r][r] = message_of(r, 100 + r);
    play_hosts(*graph, sizes, ranks, handler);
    for (int r = 0; r < ranks; ++r) {
      std::vector<int> expected = {r};
      for (int other = 0; other < ranks; ++other) {
        const bool line = std::abs(r - other) == 1;
        if (line || (ranks > 2 && r == 0 && other == ranks - 1)) expected.push_back(other);
      }
      std::sort(expected.begin(), expected.end());
      std::vector<int> heard;
      for (const auto& [owner, message] : handler.held[r]) heard.push_back(owner);
      CHECK(heard == expected);
    }
    CHECK(run(*make("flow", Cluster::star(ranks, {})), Step(graph, counts)).ops[0].transfers ==
          static_cast<std::int64_t>(spec.neighbour.size()));
  }
}

TEST_CASE("gossip over something that is no graph of ranks is refused") {
  const auto refused = [](std::vector<std::int32_t> begin, std::vector<std::int32_t> neighbour) {
    CollectiveSpec spec = ring_spec(CollectiveKind::kGossip, 3, 0);
    spec.neighbour_begin = std::move(begin);
    spec.neighbour = std::move(neighbour);
    CHECK_THROWS_AS(graph_of(spec), SimError);
  };
  refused({}, {});
  refused({0, 1, 2}, {1, 0});
  refused({0, 2, 1, 2}, {1, 0});
  refused({0, 1, 2, 3}, {1, 0, 3});
  refused({0, 1, 2, 3}, {0, 0, 1});
  refused({0, 2, 2, 2}, {1, 1});
}
