// Lanes, dependencies, edges between graphs, cancelling: the rules of sim/session/session.h.
#include <catch2/catch.hpp>

#include "sim/graph/timeline_hash.h"
#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

OpIndex compute(GraphBuilder& builder, int worker, std::vector<OpIndex> after = {},
                Lane lane = Lane::kCompute) {
  return builder.add_operation(OpKind::kCompute, lane, worker, "work", after);
}

Cluster pair_of_hosts() {
  return Cluster::star(2, link(1e9, 50e-6));
}

void check_span(const OpRecord& record, double start, double end) {
  CHECK(record.start.value() == Approx(start).epsilon(1e-12));
  CHECK(record.end.value() == Approx(end).epsilon(1e-12));
}

}  // namespace

TEST_CASE("a lane runs one operation at a time, in order of readiness, ties by index") {
  // Worker 0: a (1 s) and b (2 s) are ready at 0; c (1 s) too, on the codec lane. d becomes ready
  // when c ends, at 1, and waits for b, ready since 0: a 0-1, b 1-3, c 0-1, d 3-4.
  GraphBuilder builder;
  compute(builder, 0);
  compute(builder, 0);
  const OpIndex c = compute(builder, 0, {}, Lane::kCodec);
  compute(builder, 0, {c});
  const auto executor = make("flow", pair_of_hosts());
  const Timeline t = run(*executor, Step(builder.finish(), {}, {1, 2, 1, 1}));
  check_span(t.ops[0], 0, 1);
  check_span(t.ops[1], 1, 3);
  check_span(t.ops[2], 0, 1);
  check_span(t.ops[3], 3, 4);
  CHECK(t.end == Seconds(4));
}

TEST_CASE("what became ready earlier starts earlier, whatever its index") {
  // On the compute lane: x runs 0-2. e (index 2) is ready at 0.5, d (index 1) at 1: e goes first.
  GraphBuilder builder;
  const OpIndex slow = compute(builder, 0, {}, Lane::kCodec);  // 0-1
  const OpIndex quick = compute(builder, 0, {}, Lane::kHost);  // 0-0.5
  compute(builder, 0);                                         // x: 0-2
  compute(builder, 0, {slow});                                 // d
  compute(builder, 0, {quick});                                // e
  const auto executor = make("model", pair_of_hosts());
  const Timeline t = run(*executor, Step(builder.finish(), {}, {1, 0.5, 2, 1, 1}));
  check_span(t.ops[4], 2, 3);
  check_span(t.ops[3], 3, 4);
}

TEST_CASE("lanes stay busy between graphs, and edges join them") {
  // Graph 1: a on worker 0, 0-2. Graph 2 (submitted beside it): b on worker 0 queues behind it,
  // 2-3; c on worker 1 waits for a by an edge between the graphs: 2-3; d on worker 1 is free: 0-1.
  GraphBuilder first;
  compute(first, 0);
  const Step one(first.finish(), {}, {2});
  GraphBuilder second;
  compute(second, 0);
  compute(second, 1);
  compute(second, 1);
  const Step two(second.finish(), {}, {1, 1, 1});
  const auto executor = make("flow", pair_of_hosts());
  const GraphId g1 = submit(*executor, one);
  const CrossEdge edge[] = {{{g1, 0}, 1}};
  const GraphId g2 = submit(*executor, two, Seconds(0), edge);
  const Timeline t = run_to_end(*executor, g2);
  check_span(t.ops[0], 2, 3);
  check_span(t.ops[1], 2, 3);
  check_span(t.ops[2], 0, 1);

  // An edge from an operation that has ended, or from a forgotten graph, is satisfied already.
  const GraphId g3 = submit(*executor, one, Seconds(0), std::vector<CrossEdge>{{{g1, 0}, 0}});
  CHECK(run_to_end(*executor, g3).ops[0].start == Seconds(3));
  executor->forget(g1);
  executor->forget(g2);
  const GraphId g4 = submit(*executor, one, Seconds(10), std::vector<CrossEdge>{{{g1, 0}, 0}});
  CHECK(run_to_end(*executor, g4).ops[0].start == Seconds(10));
}

TEST_CASE("an edge from a collective waits for the same worker's rank only") {
  // Rank 2 is ready at 1 s. A reduce-scatter needs every rank for its results, but a gather gives
  // rank 0 its last block when 1's block has gone round: here only order is checked, by rank times.
  GraphBuilder builder;
  const OpIndex late = compute(builder, 2);
  CollectiveSpec spec = ring_spec(CollectiveKind::kRingAllGather, 3, 0);
  const OpIndex gather = builder.add_collective(spec, "gather", std::vector<OpIndex>{late});
  const OpIndex after0 = compute(builder, 0, {gather});
  const OpIndex after2 = compute(builder, 2, {gather});
  const auto executor = make("flow", Cluster::star(4, link(1e9, 50e-6)));
  const Timeline t =
      run(*executor, Step(builder.finish(), {100000, 1000, 1000}, {1, 0, 0.25, 0.25}));
  CHECK(t.ops[gather].start == Seconds(0));
  CHECK(t.rank_done[0].size() == 3);
  CHECK(t.ops[after0].start == t.rank_done[0][0]);
  CHECK(t.ops[after2].start == t.rank_done[0][2]);
  CHECK(t.rank_done[0][0] != t.rank_done[0][2]);
  CHECK(t.ops[gather].end == std::max({t.rank_done[0][0], t.rank_done[0][1], t.rank_done[0][2]}));
  // Every rank gets rank 2's block, so none is done before it is ready.
  for (const Seconds done : t.rank_done[0]) CHECK(done >= Seconds(1));
}

TEST_CASE("an edge from a collective to a host outside it waits for all ranks") {
  GraphBuilder builder;
  const OpIndex reduce =
      builder.add_collective(ring_spec(CollectiveKind::kRingAllReduce, 3, 100001), "reduce");
  const OpIndex outside = compute(builder, 3, {reduce});
  const auto executor = make("flow", Cluster::star(4, link(1e9, 50e-6)));
  const Timeline t = run(*executor, Step(builder.finish(), {}));
  CHECK(t.ops[outside].start == t.ops[reduce].end);
}

TEST_CASE("hops that arrive early are added when their rank is ready, one after the other") {
  // Two ranks, E = 2: each sends one element (4 B), adds it in 0.5 s, sends the sum, done. Rank 1
  // is ready at 3 s: rank 0's hop has waited, is added by 3.5 and goes back. Rank 0 gets rank 1's
  // at 3 + l, adds until 3.5 + l, and the final sums arrive l later: all at 3.5 + 2 l on rank 1,
  // 3.5 + l on rank 0 (it has its own sum at 3.5 + l by adding, and receives the other at 3.5 + l).
  GraphBuilder builder;
  const OpIndex late = compute(builder, 1);
  CollectiveSpec spec = ring_spec(CollectiveKind::kRingAllReduce, 2, 2);
  spec.hop_fixed = Seconds(0.4);
  spec.hop_per_element = Seconds(0.1);
  builder.add_collective(spec, "reduce", std::vector<OpIndex>{late});
  const auto executor = make("flow", pair_of_hosts());
  const Timeline t = run(*executor, Step(builder.finish(), {}, {3, 0}));
  // l: 94 wire bytes over two 1 Gbps hops of 50 us: 100 us + 2 x 0.752 us, and full duplex costs
  // acknowledgements 90 / 3,076 of the bottleneck while both directions are busy.
  const double l = 100e-6 + 2 * 0.752e-6;
  CHECK(t.rank_done[0][0].value() == Approx(3.5 + l).margin(1e-6));
  CHECK(t.rank_done[0][1].value() == Approx(3.5 + 2 * l).margin(1e-6));
  CHECK(t.ops[1].transfers == 4);
  CHECK(t.ops[1].payload == Bytes(16));
}

TEST_CASE("empty chunks cost nothing and never block a ring") {
  // E = 3 over 8 ranks: five chunks are empty.
  const auto executor = make("flow", Cluster::star(8, link(1e9, 50e-6)));
  const Timeline t = run(*executor, ring(8, 3));
  CHECK(t.ops[0].payload == Bytes(2 * 7 * 3 * 4));
  CHECK(t.ops[0].transfers == 2 * 7 * 8);
  // E = 0: over at once.
  CHECK(run(*executor, ring(8, 0)).ops[0].end == t.end);
}

TEST_CASE("a single rank's collective ends when it is ready") {
  GraphBuilder builder;
  const OpIndex c = compute(builder, 0);
  builder.add_collective(ring_spec(CollectiveKind::kRingAllReduce, 1, 10), "alone",
                         std::vector<OpIndex>{c});
  for (const char* name : {"flow", "model"}) {
    const auto executor = make(name, pair_of_hosts());
    CHECK(run(*executor, Step(builder.finish(), {}, {2, 0})).end == Seconds(2));
    GraphBuilder again;
    const OpIndex op = compute(again, 0);
    again.add_collective(ring_spec(CollectiveKind::kRingAllReduce, 1, 10), "alone",
                         std::vector<OpIndex>{op});
    builder = std::move(again);
  }
}

TEST_CASE("cancelling frees lanes and the network, and satisfies edges to later graphs") {
  const auto executor = make("flow", pair_of_hosts());
  GraphBuilder builder;
  compute(builder, 0);
  builder.add_transfer(0, 1, "data", {});
  const Step long_one(builder.finish(), {1000000000}, {100, 0});
  GraphBuilder other;
  compute(other, 0);
  other.add_transfer(0, 1, "data", {});
  compute(other, 1);
  const Step short_one(other.finish(), {1448}, {1, 0, 1});
  const GraphId g1 = submit(*executor, long_one);
  const GraphId g2 = submit(*executor, short_one, Seconds(0), std::vector<CrossEdge>{{{g1, 0}, 2}});
  std::vector<Event> events;
  CHECK_FALSE(executor->advance(Seconds(2), events));  // everything waits behind g1
  CHECK(executor->now() == Seconds(2));
  executor->cancel(g1);
  const Timeline t = run_to_end(*executor, g2);
  check_span(t.ops[0], 2, 3);
  CHECK(t.ops[1].end.value() < 2.001);  // it had started at 0 and queued behind a gigabyte
  check_span(t.ops[2], 2, 3);
  CHECK(executor->timeline(g1).ops[0].end.value() < 0);
}

TEST_CASE("a graph that cannot finish says what has not ended") {
  ExecutorOptions options;
  options.transfer_limit = Seconds(1);
  const auto executor = make("flow", pair_of_hosts(), options);
  GraphBuilder builder;
  const OpIndex send = builder.add_transfer(0, 1, "gradients", {});  // 8 s at 1 Gbps
  builder.add_operation(OpKind::kDecode, Lane::kCodec, 1, "decode b0", std::vector<OpIndex>{send});
  const Step step(builder.finish(), {1000000000}, {0, 1});
  CHECK_THROWS_WITH(run(*executor, step), Catch::Contains("transfer failed") &&
                                              Catch::Contains("gradients") &&
                                              Catch::Contains("decode b0"));
  CHECK(executor->now() == Seconds(1));
  const std::vector<Event> events = drain(*executor);
  CHECK(events.empty());  // reported once
}

TEST_CASE("advance stops at `until`, and at each instant with an event") {
  GraphBuilder builder;
  compute(builder, 0);
  compute(builder, 1);
  compute(builder, 0);
  const Step step(builder.finish(), {}, {1, 1, 2});
  const auto executor = make("flow", pair_of_hosts());
  const GraphId graph = submit(*executor, step, Seconds(0.5));
  std::vector<Event> events;
  CHECK_FALSE(executor->advance(Seconds(1), events));
  CHECK(executor->now() == Seconds(1));
  CHECK(executor->advance(kForever, events));
  CHECK(executor->now() == Seconds(1.5));
  REQUIRE(events.size() == 2);  // both workers' at one instant
  CHECK(events[0].op.op == 0);
  CHECK(events[1].op.op == 1);
  events.clear();
  CHECK(executor->advance(Seconds(3.5), events));  // an event exactly at `until` counts
  REQUIRE(events.size() == 2);
  CHECK(events[1].kind == EventKind::kGraphEnded);
  CHECK(events[1].op.graph == graph);
  CHECK_FALSE(executor->advance(kForever, events));
  CHECK(executor->now() == Seconds(3.5));
}

TEST_CASE("graphs with mistakes are refused by name") {
  GraphBuilder builder;
  CHECK_THROWS_WITH(compute(builder, 0, {3}), Catch::Contains("operation 0 (work)"));
  CHECK_THROWS_AS(compute(builder, -1), SimError);
  CHECK_THROWS_AS(builder.add_transfer(1, 1, "self", {}), SimError);
  CHECK_THROWS_AS(builder.finish(), SimError);
  CollectiveSpec twice = ring_spec(CollectiveKind::kRingAllReduce, 3, 10);
  twice.members[2] = 0;
  CHECK_THROWS_WITH(builder.add_collective(twice, "sum"), Catch::Contains("takes part twice"));
  CollectiveSpec push = ring_spec(CollectiveKind::kPush, 3, 10);
  CHECK_THROWS_AS(builder.add_collective(push, "push"), SimError);  // no server

  const auto executor = make("flow", pair_of_hosts());
  CHECK_THROWS_WITH(submit(*executor, transfers({{0, 5, 10}})), Catch::Contains("6 hosts"));
  CHECK_THROWS_AS(submit(*executor, transfers({{0, 1, -10}})), SimError);
}

TEST_CASE("the same run twice gives bit-equal timelines, another one a different hash") {
  const Cluster cluster = Cluster::star(5, link(1e8, 1e-3, 0.01));
  const Step step = ring(5, 100003, 3);
  std::uint64_t hash[2];
  for (std::uint64_t& h : hash) {
    const auto executor = make("flow", cluster);
    h = timeline_hash(run(*executor, step));
  }
  CHECK(hash[0] == hash[1]);
  ExecutorOptions other;
  other.seed = 2;
  const auto executor = make("flow", cluster, other);
  CHECK(timeline_hash(run(*executor, step)) != hash[0]);
}
