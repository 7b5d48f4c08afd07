// Background traffic, hosts that vary and go away, and datagrams, on ns-3.
#include <catch2/catch.hpp>
#include <numeric>

#include "sim/executors.h"
#include "sim/packet/packet_executor.h"
#include "tests/sim/packet/helpers.h"

using namespace packet_test;

namespace {

std::unique_ptr<Executor> executor_of(const std::string& name, const Cluster& cluster,
                                      const TransportSettings& transport = {}) {
  ExecutorOptions options;
  options.transport = transport;
  return make_executor(name, cluster, options);
}

double time_of(Executor& executor, std::int64_t bytes, Pair pair = {0, 1}) {
  return run(executor, transfer_graph({pair}), {Bytes(bytes)}).end.value();
}

TransportSettings datagrams() {
  TransportSettings transport;
  transport.protocol = TransportSettings::Protocol::kUdpLossy;
  return transport;
}

std::int64_t missing_bytes(std::span<const MissingData> missing) {
  std::int64_t sum = 0;
  for (const MissingData& each : missing)
    for (const ByteRange& range : each.ranges) sum += range.count;
  return sum;
}

}  // namespace

TEST_CASE("packet: background traffic takes its share", "[needs-packet]") {
  require_packet_program();
  // 5 MB at 100 Mbps: 0.42 s alone. From 2 to the same host 1 come 1 MB transfers, 60 Mbps in the
  // mean: while one is under way each has half.
  Cluster cluster = Cluster::star(3, link(1e8, 1e-3));
  const double alone = time_of(*executor_of("packet", cluster), 5'000'000);
  CHECK(alone == Approx(0.43).epsilon(0.05));
  cluster.add_background(
      {.source = 2, .destination = 1, .rate = BitsPerSecond(6e7), .size = Bytes(1'000'000)});
  const auto packet = executor_of("packet", cluster), flow = executor_of("flow", cluster);
  double on_packet = 0, on_flow = 0;
  for (int i = 0; i < 6; ++i) {
    const double before_packet = packet->now().value(), before_flow = flow->now().value();
    on_packet += time_of(*packet, 5'000'000) - before_packet;
    on_flow += time_of(*flow, 5'000'000) - before_flow;
  }
  CHECK(on_packet > 6 * alone * 1.2);
  CHECK(on_packet == Approx(on_flow).epsilon(0.25));  // the same transfers start at the same times
}

TEST_CASE("packet: connections of background traffic are open before the run", "[needs-packet]") {
  require_packet_program();
  // 800 kB share a queue of 555 kB with transfers of 467 kB from 3.3 ms on. A handshake that had
  // waited behind 16 segments told the sender of a least round trip of 4 ms, and its slow start
  // went on: 0.41 s in place of 0.2355.
  LinkSpec slow = link(53.3e6, 150e-6);
  slow.queue = Bytes(555'000);
  Cluster cluster;
  const std::vector<NodeId> hosts = {cluster.add_host("a"), cluster.add_host("b"),
                                     cluster.add_host("c")};
  const NodeId middle = cluster.add_switch("s");
  cluster.add_link(hosts[0], middle, slow);
  cluster.add_link(hosts[1], middle, link(53.3e6, 150e-6));
  cluster.add_link(hosts[2], middle, link(2.7e9, 30.8e-6));
  cluster.add_background({.source = 0,
                          .destination = 1,
                          .pattern = BackgroundTraffic::Pattern::kOnOff,
                          .rate = BitsPerSecond(112e6),
                          .size = Bytes(467'000),
                          .on = Seconds(15.3e-3),
                          .off = Seconds(37.1e-3)});
  cluster.finish(1);
  for (const int connections : {1, 2}) {
    ExecutorOptions options;
    options.transport.connections = connections;
    options.seed = 1;
    double times[2];
    for (const bool packet : {false, true}) {
      const auto executor = make_executor(packet ? "packet" : "flow", cluster, options);
      times[packet] =
          run(*executor, transfer_graph({{0, 2}}), {Bytes(800'000)}).ops.front().end.value();
    }
    CHECK(times[1] == Approx(times[0]).epsilon(1e-3));
  }
}

TEST_CASE("packet: what a handshake measures hangs on no other one", "[needs-packet]") {
  require_packet_program();
  // A packet without payload takes 8 x 94 / 10 kbps = 75 ms on each of two links: a round trip of
  // 0.25 s, and a first timeout of three of them. A segment of 590 B takes 0.47 s a link: its
  // acknowledgement comes after 1.1 s, and it is sent again before that. With eight handshakes at
  // once the last one measured 0.8 s, and nothing was.
  const Cluster cluster = Cluster::star(9, link(1e4, 1e-3));
  const auto retransmissions = [&](int connections) {
    std::vector<Pair> pairs;
    for (int i = 9 - connections; i < 9; ++i) pairs.push_back({0, i});
    std::vector<Bytes> bytes(pairs.size(), Bytes(0));
    bytes.back() = Bytes(500);
    const auto executor = executor_of("packet", cluster);
    return run(*executor, transfer_graph(pairs), bytes).ops.back().retransmissions;
  };
  CHECK(retransmissions(1) == 1);
  CHECK(retransmissions(8) == 1);
}

TEST_CASE("packet: a host that is away neither works nor sends", "[needs-packet]") {
  require_packet_program();
  Cluster cluster = Cluster::star(2, link(1e8, 1e-3));
  cluster.set_host_plan(1, {0, {{Seconds(0.1), Seconds(0.6)}}});
  GraphBuilder builder;
  builder.add_operation(OpKind::kCompute, Lane::kCompute, 1, "work");
  builder.add_transfer(0, 1, "send", {});
  const GraphPtr graph = builder.finish();
  const auto executor = executor_of("packet", cluster);
  const std::vector<Seconds> seconds = {Seconds(0.3), Seconds(0)};
  const std::vector<Bytes> bytes = {Bytes(5'000'000)};
  const Timeline& timeline = run_to_end(*executor, executor->submit({graph, bytes, seconds}));
  CHECK(timeline.ops[0].end.value() == Approx(0.8));  // 0.1 s, away 0.5 s, 0.2 s
  // 0.42 s of bytes and 0.5 s of absence, then what TCP needs to find out: a time-out doubles, so
  // that it is back 0.6 s late at most.
  CHECK(timeline.ops[1].end.value() > 0.92);
  CHECK(timeline.ops[1].end.value() < 1.8);
}

TEST_CASE("packet: a host's times vary as they do on flow", "[needs-packet]") {
  require_packet_program();
  Cluster cluster = Cluster::star(2, link(1e8, 1e-3));
  cluster.set_host_plan(0, {0.5, {}});
  GraphBuilder builder;
  for (int i = 0; i < 5; ++i) builder.add_operation(OpKind::kCompute, Lane::kCompute, 0, "work");
  const GraphPtr graph = builder.finish();
  const std::vector<Seconds> seconds(5, Seconds(1));
  const auto packet = executor_of("packet", cluster), flow = executor_of("flow", cluster);
  const Timeline a = run_to_end(*packet, packet->submit({graph, {}, seconds}));
  const Timeline b = run_to_end(*flow, flow->submit({graph, {}, seconds}));
  for (OpIndex op = 0; op < 5; ++op) CHECK(a.ops[op].end.value() == Approx(b.ops[op].end.value()));
  CHECK(a.end.value() != Approx(5.0).epsilon(1e-6));
}

TEST_CASE("packet: datagrams without loss fill the link, and all arrives", "[needs-packet]") {
  require_packet_program();
  // 1,448,000 B are 1,000 segments of 1,538 B: 0.123 s at 100 Mbps, and 2 ms on the way.
  const auto executor = executor_of("packet", Cluster::star(3, link(1e8, 1e-3)), datagrams());
  const GraphPtr one = transfer_graph({{0, 1}});
  const Timeline timeline = run(*executor, one, {Bytes(1'448'000)});
  CHECK(timeline.end.value() == Approx(0.12304 + 0.002).epsilon(0.01));
  CHECK(timeline.ops[0].wire == Bytes(1'538'000));
  CHECK(timeline.ops[0].retransmissions == 0);
  CHECK(executor->missing(timeline.graph).empty());
  // Two that leave one host share its link.
  const double before = executor->now().value();
  const Timeline two =
      run(*executor, transfer_graph({{0, 1}, {0, 2}}), {Bytes(1'448'000), Bytes(1'448'000)});
  CHECK(two.end.value() - before == Approx(2 * 0.12304 + 0.002).epsilon(0.02));
  CHECK(executor->missing(two.graph).empty());
}

TEST_CASE("packet: what datagrams lose is missing, segment by segment, and time is bounded",
          "[needs-packet]") {
  require_packet_program();
  // Two links that lose 3 % each: 1 - 0.97^2 = 5.9 % of 5,000 segments, +- 0.33 %.
  const auto lossy = [] {
    return executor_of("packet", Cluster::star(2, link(1e8, 1e-3, 0.03)), datagrams());
  };
  const auto executor = lossy();
  const std::int64_t bytes = 5'000 * 1'448;
  const Timeline timeline = run(*executor, transfer_graph({{0, 1}}), {Bytes(bytes)});
  const auto missing = executor->missing(timeline.graph);
  REQUIRE(missing.size() == 1);
  for (const ByteRange& range : missing[0].ranges) {
    CHECK(range.first % 1448 == 0);
    CHECK(range.count % 1448 == 0);
  }
  CHECK(static_cast<double>(missing_bytes(missing)) / static_cast<double>(bytes) ==
        Approx(0.0591).margin(0.012));
  CHECK(timeline.end.value() < 0.6152 + 0.25);  // the link's time, and 0.1 s for each queue
  const auto again = lossy();
  const Timeline same = run(*again, transfer_graph({{0, 1}}), {Bytes(bytes)});
  CHECK(missing_bytes(again->missing(same.graph)) == missing_bytes(missing));
}

TEST_CASE("packet: datagrams that meet in a small queue are lost there", "[needs-packet]") {
  require_packet_program();
  // Three hosts send at 100 Mbps each to one whose link takes 100: two thirds do not fit but for
  // what the queue of 20 segments holds.
  LinkSpec small = link(1e8, 1e-4);
  small.queue = Bytes(20 * 1538);
  const auto executor = executor_of("packet", Cluster::star(4, small), datagrams());
  const std::int64_t bytes = 500 * 1448;
  const Timeline timeline = run(*executor, transfer_graph({{0, 3}, {1, 3}, {2, 3}}),
                                {Bytes(bytes), Bytes(bytes), Bytes(bytes)});
  const double share = static_cast<double>(missing_bytes(executor->missing(timeline.graph))) /
                       static_cast<double>(3 * bytes);
  CHECK(share > 0.55);
  CHECK(share < 0.68);
}

TEST_CASE("packet: who has the last datagram waits for none before it", "[needs-packet]") {
  require_packet_program();
  // 100 segments of 0.123 ms through two links of 1 ms that lose 20 % each: one is missing in every
  // message, but only where the last one is does the receiver wait, as long as its deadline says.
  TransportSettings transport = datagrams();
  transport.deadline = Seconds(0.07);
  const auto executor = executor_of("packet", Cluster::star(2, link(1e8, 1e-3, 0.2)), transport);
  const double segment = 1538 * 8 / 1e8;
  const double all = 101 * segment + 2e-3;
  int waited = 0;
  for (int i = 0; i < 30; ++i) {
    const double begin = executor->now().value();
    const Timeline timeline = run(*executor, transfer_graph({{0, 1}}), {Bytes(144'800)});
    const auto missing = executor->missing(timeline.graph);
    REQUIRE(missing.size() == 1);
    const ByteRange last = missing[0].ranges.back();
    const bool waits = last.first + last.count == 144'800;
    waited += waits;
    // A receiver that waits adds a segment for the first of its links.
    CHECK(timeline.end.value() - begin == Approx(all + (waits ? 0.07 : 0)).margin(2 * segment));
  }
  CHECK(waited > 3);  // 11 of 30, with a standard deviation of 2.6
  CHECK(waited < 20);
}

TEST_CASE("packet: a ring of datagrams takes as long as on flow", "[needs-packet]") {
  require_packet_program();
  // Each of 6 hops a worker loses one segment in 17, of 69: of its last ones it waits for those
  // that nothing follows.
  TransportSettings transport = datagrams();
  transport.deadline = Seconds(0.02);
  const Cluster cluster = Cluster::star(4, link(1e8, 1e-3, 0.03));
  const auto mean = [&](const std::string& name) {
    const auto executor = executor_of(name, cluster, transport);
    double sum = 0;
    for (int i = 0; i < 40; ++i) {
      const double begin = executor->now().value();
      sum += run(*executor, ring_graph(4, 100'000), {}).end.value() - begin;
    }
    return sum / 40;
  };
  const double packet = mean("packet"), flow = mean("flow");
  // 6 hops of 8.5 ms and 2.1 ms of way each, without a wait.
  CHECK(flow > 0.065);
  CHECK(flow == Approx(packet).epsilon(0.1));
}
