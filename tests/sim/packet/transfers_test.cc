#include <catch2/catch.hpp>

#include "tests/sim/packet/helpers.h"

using namespace packet_test;

TEST_CASE("a clean transfer takes the time of its bytes on Ethernet", "[needs-packet]") {
  require_packet_program();
  // 10 MB = 6,906 segments of 1,448 bytes and one of 112: 10,000,000 + 6,907 * 90 = 10,621,630
  // bytes, 84.97 ms at 1 Gbps; and 0.1 ms of delay one way. RTT 0.2 ms.
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6)), {});
  const Timeline timeline = run(*executor, transfer_graph({{0, 1}}), {Bytes(10'000'000)});
  const OpRecord& op = timeline.ops[0];
  CHECK(op.start.value() == 0);
  CHECK(op.payload.count() == 10'000'000);
  CHECK(op.wire.count() == 10'621'630);
  CHECK(op.wire == wire_bytes(Bytes(10'000'000), TransportSettings{}));
  CHECK(op.retransmissions == 0);
  CHECK(op.end.value() > 0.08497);
  CHECK(op.end.value() == Approx(0.08507).epsilon(0.02));

  SECTION("and on a link of 0.95 Gbps it is outside the band") {
    const auto slower = make_packet_executor(Cluster::star(2, link(0.95e9, 50e-6)), {});
    const Timeline other = run(*slower, transfer_graph({{0, 1}}), {Bytes(10'000'000)});
    CHECK(other.ops[0].end.value() > 0.08507 * 1.02);
  }
}

TEST_CASE("delay counts both ways of a path and the clock stands still at set-up",
          "[needs-packet]") {
  require_packet_program();
  // One segment: 2 hops of 20 ms and 2 * 0.0123 ms of serialisation. A handshake would add 80 ms.
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 20e-3)), {});
  const Timeline timeline = run(*executor, transfer_graph({{0, 1}}), {Bytes(1448)});
  CHECK(timeline.ops[0].end.value() == Approx(0.040).margin(50e-6));
}

TEST_CASE("a ring all-reduce finishes and its connections stay warm", "[needs-packet]") {
  require_packet_program();
  const auto executor = make_packet_executor(Cluster::star(4, link(1e9, 50e-6)), {});
  const GraphPtr graph = ring_graph(4, 250'000);  // 1 MB
  const Timeline cold = run(*executor, graph, {});
  const Timeline warm = run(*executor, graph, {});
  // 2 (N - 1) = 6 hops of 250,000 bytes from each of 4 workers.
  const std::int64_t hop = wire_bytes(Bytes(250'000), TransportSettings{}).count();
  for (const Timeline* timeline : {&cold, &warm}) {
    CHECK(timeline->ops[0].transfers == 24);
    CHECK(timeline->ops[0].payload.count() == 24 * 250'000);
    CHECK(timeline->ops[0].wire.count() == 24 * hop);
  }
  const Seconds first = cold.end - cold.start, second = warm.end - warm.start;
  CHECK(second <= first);
  // No hop can beat its wire time: 6 * 265,570 * 8 / 1e9 = 12.75 ms; 6 delays of 0.1 ms.
  CHECK(second.value() > 6 * (static_cast<double>(hop) * 8 / 1e9 + 100e-6));
  CHECK(second.value() < 6 * (static_cast<double>(hop) * 8 / 1e9 + 100e-6) * 1.1);
}

TEST_CASE("losses cost retransmissions, the same for the same seed", "[needs-packet]") {
  require_packet_program();
  const auto timeline_for = [](std::uint64_t seed) {
    ExecutorOptions options;
    options.seed = seed;
    const auto executor = make_packet_executor(Cluster::star(4, link(1e9, 50e-6, 0.005)), options);
    return run(*executor, ring_graph(4, 250'000), {});
  };
  const Timeline one = timeline_for(1), again = timeline_for(1), other = timeline_for(2);
  CHECK(one.ops[0].retransmissions > 0);
  CHECK(other.ops[0].retransmissions > 0);
  CHECK(one.end.value() == again.end.value());
  CHECK(one.ops[0].wire == again.ops[0].wire);
  CHECK(one.rank_done == again.rank_done);
  CHECK(one.rank_done != other.rank_done);
}

TEST_CASE("what links carried is what transfers were charged", "[needs-packet]") {
  require_packet_program();
  const double loss = GENERATE(0.0, 0.01);
  const auto executor = make_packet_executor(Cluster::star(3, link(1e8, 1e-3, loss)), {});
  // Worker 0 only sends, workers 1 and 2 only acknowledge: all that worker 0's link carries upwards
  // (channel 0) is data, but for four packets of two handshakes of 90 to 110 bytes.
  const Timeline timeline = run(*executor, transfer_graph({{0, 1}, {0, 2}, {0, 1}}),
                                {Bytes(1'000'000), Bytes(500'000), Bytes(3'000)});
  std::int64_t charged = 0, retransmissions = 0;
  for (const OpRecord& op : timeline.ops) {
    charged += op.wire.count();
    retransmissions += op.retransmissions;
  }
  // Messages of a pair that follow each other share segments: 1,003,000 and 500,000 bytes in all.
  const Bytes least = wire_bytes(Bytes(1'003'000), {}) + wire_bytes(Bytes(500'000), {});
  if (loss == 0) CHECK(charged == least.count());
  if (loss > 0) CHECK(charged == Approx(least.count() + retransmissions * 1538).margin(1538));
  const std::int64_t carried = executor->channels()[0].wire.count();
  // Copies that were sent after a message had been read belong to the link alone.
  const std::int64_t spare = loss > 0 ? 3 * 1538 : 0;
  CHECK(carried - charged >= 4 * 90);
  CHECK(carried - charged <= 4 * 110 + spare);
  CHECK((retransmissions > 0) == (loss > 0));
  // Time on the wire is bytes over rate.
  CHECK(executor->channels()[0].busy.value() ==
        Approx(static_cast<double>(carried) * 8 / 1e8).epsilon(1e-9));
}

TEST_CASE("a small drop-tail queue overflows where the automatic one does not", "[needs-packet]") {
  require_packet_program();
  const auto retransmissions = [](Bytes queue) {
    Cluster cluster;
    const NodeId fast = cluster.add_host("fast"), slow = cluster.add_host("slow");
    const NodeId middle = cluster.add_switch("switch");
    cluster.add_link(fast, middle, link(1e9, 1e-3));
    LinkSpec last = link(1e8, 1e-3);
    last.queue = queue;
    cluster.add_link(slow, middle, last);
    cluster.finish();
    const auto executor = make_packet_executor(cluster, {});
    return run(*executor, transfer_graph({{0, 1}}), {Bytes(2'000'000)}).ops[0].retransmissions;
  };
  CHECK(retransmissions(Bytes(15'000)) > 0);
  CHECK(retransmissions(Bytes(0)) == 0);
}

TEST_CASE("transfers of a pair arrive in order and share one connection", "[needs-packet]") {
  require_packet_program();
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6)), {});
  const Timeline timeline = run(*executor, transfer_graph({{0, 1}, {0, 1}, {1, 0}}),
                                {Bytes(1'000'000), Bytes(1), Bytes(1'000'000)});
  CHECK(timeline.ops[0].end <= timeline.ops[1].end);
  // The last byte rides behind the megabyte of its own direction, 8.5 ms.
  CHECK(timeline.ops[1].end.value() > 0.0085);
  // The other direction does not wait: 17 ms if it did.
  CHECK(timeline.ops[2].end.value() < 0.0130);
}

TEST_CASE("compute and idle time pass on the virtual clock", "[needs-packet]") {
  require_packet_program();
  const auto executor = make_packet_executor(Cluster::star(2, link(1e9, 50e-6)), {});
  GraphBuilder builder;
  const OpIndex compute = builder.add_operation(OpKind::kCompute, Lane::kCompute, 0, "backward");
  const OpIndex after[] = {compute};
  builder.add_transfer(0, 1, "gradient", TransferMeaning{}, after);
  const GraphPtr graph = builder.finish();
  const std::vector<Bytes> bytes = {Bytes(1448)};
  const std::vector<Seconds> seconds = {Seconds(1.5), Seconds(0)};
  Submission submission;
  submission.graph = graph;
  submission.bytes = bytes;
  submission.seconds = seconds;
  submission.not_before = Seconds(10);
  const GraphId id = executor->submit(submission);
  std::vector<Event> events;
  CHECK_FALSE(executor->advance(Seconds(5), events));
  CHECK(events.empty());
  CHECK(executor->now().value() == 5);
  events_until(*executor);
  const Timeline& timeline = executor->timeline(id);
  CHECK(timeline.ops[0].start.value() == 10);
  CHECK(timeline.ops[1].start.value() == 11.5);
  CHECK(timeline.ops[1].end.value() == Approx(11.500125).margin(20e-6));
}
