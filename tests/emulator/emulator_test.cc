#include <catch2/catch.hpp>
#include <cstdlib>
#include <set>

#include "emulator_fixture.h"
#include "tests/quantities.h"

namespace gradwire::emulator {
namespace {

using sim::CollectiveKind;
using sim::CollectiveSpec;
using sim::Lane;
using sim::OpIndex;
using sim::OpKind;

constexpr double kClockResolution = 1e-9;  // s; see emulator/clock.h

TEST_CASE("a parameter server's step and a ring really move what the graph charges",
          "[net][needs-namespaces]") {
  // Workers 0-2, server 3.
  const auto emulator =
      emulator_or_skip(sim::Cluster::star(3, link_of(1e9), true), quick_options());
  sim::GraphBuilder builder;
  std::vector<OpIndex> computed;
  for (int worker = 0; worker < 3; ++worker)
    computed.push_back(builder.add_operation(OpKind::kCompute, Lane::kCompute, worker, "backward"));
  CollectiveSpec spec;
  spec.members = {0, 1, 2};
  spec.elements = 10'000;
  const auto ring = builder.add_collective(spec, "ring", computed);
  spec.kind = CollectiveKind::kPush;
  spec.server = 3;
  const auto push = builder.add_collective(spec, "push", computed);
  const auto sum =
      builder.add_operation(OpKind::kAggregate, Lane::kCodec, 3, "sum", std::vector{push});
  spec.kind = CollectiveKind::kPull;
  const auto pull = builder.add_collective(spec, "pull", std::vector{sum});
  spec.kind = CollectiveKind::kRingAllGather;
  const auto gather = builder.add_collective(spec, "gather", std::vector{pull, ring});
  const auto move = builder.add_transfer(2, 0, "move", {}, std::vector{gather});
  const auto empty = builder.add_transfer(0, 1, "empty", {}, std::vector{move});
  const sim::GraphPtr graph = builder.finish();
  // Push, pull and gather read 3 sizes each, the transfers one each.
  const std::vector<Bytes> bytes = {Bytes(100),    Bytes(200),    Bytes(300), Bytes(50'000),
                                    Bytes(50'000), Bytes(1),      Bytes(7),   Bytes(3'000),
                                    Bytes(0),      Bytes(70'000), Bytes(0)};
  std::vector<Seconds> seconds(graph->size());
  for (const OpIndex op : computed) seconds[op] = Seconds(2e-3);
  seconds[sum] = Seconds(1e-3);
  for (int step = 0; step < 3; ++step) {
    const auto id = submit(*emulator, graph, bytes, seconds);
    const sim::Timeline& timeline = sim::run_to_end(*emulator, id);
    // 10,000 elements of 4 bytes: each rank sends 4 chunks of a third: 2 * 2/3 * 40,000 * 3 ranks.
    CHECK(timeline.ops[ring].payload.count() == 160'000);
    CHECK(timeline.ops[ring].transfers == 12);
    CHECK(timeline.ops[push].payload.count() == 600);
    CHECK(timeline.ops[pull].payload.count() == 100'001);
    CHECK(timeline.ops[gather].payload.count() == 2 * (7 + 3'000 + 0));
    CHECK(timeline.ops[move].payload.count() == 70'000);
    CHECK(timeline.ops[move].wire > Bytes(70'000));
    CHECK(timeline.ops[empty].payload.count() == 0);
    for (OpIndex op = 0; op < graph->size(); ++op) {
      // To the clock's resolution: the instants are rounded when the emulator's epoch is taken off.
      const Seconds took = timeline.ops[op].end - timeline.ops[op].start;
      CHECK(took.value() >= seconds[op].value() - kClockResolution);
      for (const OpIndex before : graph->dependencies(op))
        if (graph->kind[op] != OpKind::kCollective && graph->kind[before] != OpKind::kCollective)
          CHECK(timeline.ops[op].start >= timeline.ops[before].end);
    }
    CHECK(timeline.ops[sum].start >= timeline.ops[push].end);
    CHECK(timeline.ops[move].start >= timeline.rank_done[3][2]);  // gather, at the sender
    emulator->forget(id);
  }
  // What the up channels carried is at least what the three steps charged.
  Bytes up{0};
  const auto channels = emulator->channels();
  REQUIRE(channels.size() == 8);
  for (std::size_t link = 0; link < 4; ++link) up += channels[2 * link].wire;
  CHECK(up.count() > 3 * (160'000 + 600 + 100'001 + 6'014 + 70'000));
}

TEST_CASE("events come in order of time, and tell ranks, operations and the graph",
          "[net][needs-namespaces]") {
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, link_of(1e9)), quick_options());
  sim::GraphBuilder builder;
  CollectiveSpec spec;
  spec.members = {0, 1};
  spec.elements = 1000;
  builder.add_collective(spec, "ring");
  const sim::GraphPtr graph = builder.finish();
  const auto first = submit(*emulator, graph, {});
  const auto second = submit(*emulator, graph, {}, {}, {{{first, 0}, 0}});
  std::vector<sim::Event> events;
  while (emulator->advance(sim::kForever, events)) {
  }
  std::map<std::pair<sim::GraphId, sim::EventKind>, int> count;
  for (std::size_t i = 0; i < events.size(); ++i) {
    ++count[{events[i].op.graph, events[i].kind}];
    if (i > 0) CHECK(events[i].time >= events[i - 1].time);
  }
  for (const auto graph_id : {first, second}) {
    CHECK(count[{graph_id, sim::EventKind::kRankDone}] == 2);
    CHECK(count[{graph_id, sim::EventKind::kOperationEnded}] == 1);
    CHECK(count[{graph_id, sim::EventKind::kGraphEnded}] == 1);
  }
  // The edge lets each rank of the second wait for its own rank of the first.
  CHECK(emulator->timeline(second).ops[0].start >=
        std::min(emulator->timeline(first).rank_done[0][0],
                 emulator->timeline(first).rank_done[0][1]));
  CHECK(emulator->report().base_rtt.size() == 2);
  CHECK(emulator->report().median_base_rtt > Seconds(0));
}

TEST_CASE("edges between graphs cross hosts without a transfer, and cancelling satisfies them",
          "[net][needs-namespaces]") {
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, link_of(1e9)), quick_options());
  sim::GraphBuilder builder;
  builder.add_operation(OpKind::kCompute, Lane::kCompute, 0, "a");
  builder.add_operation(OpKind::kCompute, Lane::kCompute, 1, "b");
  const sim::GraphPtr graph = builder.finish();
  const auto first = submit(*emulator, graph, {}, {Seconds(0.05), Seconds(0)});
  // b of the second graph, on host 1, waits for a of the first, on host 0.
  const auto second = submit(*emulator, graph, {}, {}, {{{first, 0}, 1}});
  sim::run_to_end(*emulator, second);
  sim::run_to_end(*emulator, first);
  CHECK(emulator->timeline(second).ops[1].start >= emulator->timeline(first).ops[0].end);
  CHECK(emulator->timeline(second).ops[0].end >= emulator->timeline(first).ops[0].end);  // the lane
  const auto stuck = submit(*emulator, graph, {}, {Seconds(1000), Seconds(0)});
  const auto freed = submit(*emulator, graph, {}, {}, {{{stuck, 0}, 1}});
  std::vector<sim::Event> events;
  const Seconds until = emulator->now() + Seconds(0.1);
  while (emulator->advance(until, events)) {
  }
  CHECK(emulator->now() >= until);
  CHECK(emulator->timeline(freed).end == Seconds(0));  // neither gate nor lane is free
  emulator->cancel(stuck);
  sim::run_to_end(*emulator, freed);
  CHECK(emulator->timeline(freed).ops[1].end >= until);
  CHECK(emulator->timeline(stuck).ops[0].end < Seconds(0));
}

TEST_CASE("a link lets no more through than its rate", "[net][needs-namespaces]") {
  // 500,000 bytes are 346 segments: 531,000 bytes on the wire, 106 ms at 40 Mbps. A bucket is 1.6
  // kB at each end and a GSO packet may run it into debt: 1 ms of credit in all.
  const auto emulator = emulator_or_skip(sim::Cluster::star(2, link_of(4e7)), quick_options());
  sim::GraphBuilder builder;
  const auto move = builder.add_transfer(0, 1, "move", {});
  const sim::GraphPtr graph = builder.finish();
  const auto record =
      sim::run_to_end(*emulator, submit(*emulator, graph, {Bytes(500'000)})).ops[move];
  CHECK(record.end - record.start >= Seconds(0.104));
}

TEST_CASE("nftables loses packets, and TCP sends them again", "[net][needs-namespaces]") {
  // 700 segments over two lossy links: none lost has probability 0.98^1400 = 5e-13.
  for (const double loss : {0.0, 0.02}) {
    const auto emulator =
        emulator_or_skip(sim::Cluster::star(2, link_of(2e8, loss)), quick_options());
    CHECK(emulator->report().loss_by == (loss > 0 ? "nftables" : "none"));
    sim::GraphBuilder builder;
    for (int i = 0; i < 10; ++i) builder.add_transfer(0, 1, "move", {});
    const sim::GraphPtr graph = builder.finish();
    // Counted at the end of an operation: a second graph collects what the first left.
    std::int64_t again = 0;
    for (int round = 0; round < 2; ++round) {
      const auto id = submit(*emulator, graph, std::vector<Bytes>(10, Bytes(100'000)));
      for (const sim::OpRecord& record : sim::run_to_end(*emulator, id).ops)
        again += record.retransmissions;
    }
    if (loss > 0) CHECK(again > 0);
    CHECK(again < 1000);
  }
}

}  // namespace
}  // namespace gradwire::emulator
