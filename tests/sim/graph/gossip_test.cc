#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "sim/graph/gossip_graph.h"
#include "sim/sim_error.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

std::map<int, int> degrees(const GossipEdges& edges) {
  std::map<int, int> count;
  for (const auto& [a, b] : edges) ++count[a], ++count[b];
  return count;
}

void check_degrees(const GossipEdges& edges, int workers, int degree) {
  CHECK(edges.size() == static_cast<std::size_t>(workers * degree / 2));
  CHECK(std::set(edges.begin(), edges.end()).size() == edges.size());
  const auto count = degrees(edges);
  CHECK(count.size() == static_cast<std::size_t>(workers));
  for (const auto& [worker, neighbours] : count) CHECK(neighbours == degree);
  CHECK_NOTHROW(check_gossip_edges(workers, edges));
}

CollectiveSpec gossip_spec(int ranks, const GossipEdges& edges) {
  CollectiveSpec spec = ring_spec(CollectiveKind::kGossip, ranks, 0);
  set_neighbours(spec, edges);
  return spec;
}

}  // namespace

TEST_CASE("gossip graphs: every worker has as many neighbours as the graph says") {
  check_degrees(gossip_ring(7), 7, 2);
  CHECK(gossip_ring(2) == GossipEdges{{0, 1}});
  check_degrees(gossip_torus(12), 12, 4);  // 3 rows of 4
  check_degrees(gossip_torus(8), 8, 3);    // 2 rows of 4: above and below are the same worker
  check_degrees(gossip_complete(5), 5, 4);
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    check_degrees(gossip_random_regular(20, 3, seed), 20, 3);
    check_degrees(gossip_random_regular(21, 4, seed), 21, 4);
  }
  check_degrees(gossip_random_regular(6, 5, 1), 6, 5);  // nothing can be traded
}

TEST_CASE("gossip graphs: a seed draws one graph, another seed another") {
  CHECK(gossip_random_regular(40, 4, 7) == gossip_random_regular(40, 4, 7));
  CHECK(gossip_random_regular(40, 4, 7) != gossip_random_regular(40, 4, 8));
}

TEST_CASE("gossip graphs: what cannot be is refused") {
  CHECK_THROWS_WITH(gossip_torus(7), Catch::Contains("prime"));
  CHECK_THROWS_AS(gossip_random_regular(5, 3, 1), SimError);
  CHECK_THROWS_AS(gossip_random_regular(5, 5, 1), SimError);
  CHECK_THROWS_WITH(check_gossip_edges(3, {{0, 1}, {1, 0}}), Catch::Contains("stands twice"));
  CHECK_THROWS_WITH(check_gossip_edges(3, {{0, 3}}), Catch::Contains("no such worker"));
  CHECK_THROWS_WITH(check_gossip_edges(3, {{2, 2}}), Catch::Contains("to itself"));
}

TEST_CASE("gossip: each sends its own message to each of its neighbours") {
  const GossipEdges edges = {{0, 1}, {1, 2}, {1, 3}};
  const CollectiveSpec spec = gossip_spec(4, edges);
  // Degrees 1, 3, 1, 1 of messages of 10, 20, 30 and 40 bytes: 10 + 60 + 30 + 40.
  const std::vector<Bytes> bytes = {Bytes(10), Bytes(20), Bytes(30), Bytes(40)};
  CHECK(total_payload(spec, bytes) == Bytes(140));
  CHECK(destinations_of(spec, 1) == std::vector<std::int32_t>{0, 2, 3});
}

TEST_CASE("gossip: a worker goes on when its neighbours' messages are there, not all") {
  // A path 0-1-2-3; worker 3 computes for 1 s before each of two rounds, the others do not. Round
  // one holds up 2 (3's neighbour) until 1 s; 1 and 0 have theirs at once, and in round two 1 waits
  // for 2 at 1 s, but 0 waits for 1's second message alone, which 1 sends after round one.
  GraphBuilder builder;
  std::vector<double> seconds;
  std::vector<OpIndex> rounds;
  for (int round = 0; round < 2; ++round) {
    std::vector<OpIndex> ready;
    for (int w = 0; w < 4; ++w) {
      ready.push_back(builder.add_operation(OpKind::kCompute, Lane::kCompute, w, "work", rounds));
      seconds.push_back(w == 3 ? 1 : 0);
    }
    rounds = {builder.add_collective(gossip_spec(4, {{0, 1}, {1, 2}, {2, 3}}), "gossip", ready)};
    seconds.push_back(0);
  }
  const Step step(builder.finish(), std::vector<std::int64_t>(8, 1000), seconds);
  for (const char* name : {"flow", "model"}) {
    const Timeline timeline = run(*make(name, Cluster::star(4, link(1e9, 1e-5))), step);
    const auto done = [&](std::size_t round, std::size_t w) {
      return timeline.rank_done[round][w].value();
    };
    CHECK(done(0, 2) >= 1);
    CHECK(done(1, 3) >= 2);
    if (std::string_view(name) == "model") continue;  // no ranks of their own
    CHECK(done(0, 0) < 0.01);
    CHECK(done(0, 1) < 0.01);
    CHECK(done(1, 0) < 0.01);
    CHECK(done(1, 1) == Approx(1).margin(0.01));
    CHECK(done(1, 2) == Approx(2).margin(0.01));
  }
}
