// udp-lossy on `flow` and on ns-3: the same packets in the same queues, to the nanosecond.
#include <catch2/catch.hpp>
#include <cmath>

#include "sim/cluster/topologies/topologies.h"
#include "sim/executors.h"
#include "tests/sim/packet/helpers.h"

using namespace packet_test;

namespace {

ExecutorOptions datagrams() {
  ExecutorOptions options;
  options.transport.protocol = TransportSettings::Protocol::kUdpLossy;
  options.seed = 3;
  return options;
}

struct Outcome {
  std::vector<double> ends;  ///< s, of each transfer, or of each rank
  std::int64_t missing = 0;  ///< bytes
};

Outcome outcome_of(const std::string& name, const Cluster& cluster, const GraphPtr& graph,
                   const std::vector<Bytes>& bytes) {
  const auto executor = make_executor(name, cluster, datagrams());
  Outcome outcome;
  for (int step = 0; step < 2; ++step) {
    const GraphId id = submit(*executor, graph, bytes, executor->now());
    events_until(*executor);
    const Timeline& timeline = executor->timeline(id);
    for (const OpRecord& op : timeline.ops) outcome.ends.push_back(op.end.value());
    for (const auto& ranks : timeline.rank_done)
      for (const Seconds done : ranks) outcome.ends.push_back(done.value());
    for (const MissingData& each : executor->missing(id))
      for (const ByteRange& range : each.ranges) outcome.missing += range.count;
  }
  return outcome;
}

/// Checks that all ends are the same to 2 ns, and all bytes; gives how many are missing.
std::int64_t check_equal(const Cluster& cluster, const GraphPtr& graph,
                         const std::vector<Bytes>& bytes = {}) {
  const Outcome flow = outcome_of("flow", cluster, graph, bytes),
                packet = outcome_of("packet", cluster, graph, bytes);
  REQUIRE(flow.ends.size() == packet.ends.size());
  for (std::size_t i = 0; i < flow.ends.size(); ++i)
    CHECK(std::abs(flow.ends[i] - packet.ends[i]) <= 2e-9);
  CHECK(flow.missing == packet.missing);
  return packet.missing;
}

/// All hosts but the last send it so much each.
std::int64_t check_incast(int senders, const LinkSpec& spec, std::int64_t bytes) {
  std::vector<Pair> pairs;
  for (int i = 0; i < senders; ++i) pairs.push_back({i, senders});
  return check_equal(Cluster::star(senders + 1, spec), transfer_graph(pairs),
                     std::vector<Bytes>(pairs.size(), Bytes(bytes)));
}

LinkSpec with_queue(LinkSpec spec, std::int64_t bytes) {
  spec.queue = Bytes(bytes);
  return spec;
}

}  // namespace

TEST_CASE("datagrams: incasts wait, and lose, as on ns-3", "[needs-packet]") {
  require_packet_program();
  for (const int senders : {2, 3, 7, 16}) {
    CHECK(check_incast(senders, link(1e8, 1e-3), 40'000) == 0);
    CHECK(check_incast(senders, with_queue(link(1e8, 1e-3), 20'000), 40'000) > 0);
  }
  // CoDel drops of what waits for longer than its target.
  CHECK(check_incast(64, link(1e8, 1e-3), 40'000) > 0);
  CHECK(check_incast(16, link(1e8, 1e-3), 400'000) > 0);
  // More than 10,240 packets.
  CHECK(check_incast(32, link(1e9, 1e-3), 800'000) > 0);
}

TEST_CASE("datagrams: a server that sends to many takes turns as on ns-3", "[needs-packet]") {
  require_packet_program();
  std::vector<Pair> pairs;
  std::vector<Bytes> bytes;
  for (int i = 0; i < 20; ++i) {
    pairs.push_back({20, i});
    bytes.emplace_back(5'000 + 3'000 * (i % 4));
  }
  CHECK(check_equal(Cluster::star(21, link(5e7, 2e-3)), transfer_graph(pairs), bytes) == 0);
}

TEST_CASE("datagrams: links that jitter, lose, change or go out are ns-3's", "[needs-packet]") {
  require_packet_program();
  LinkSpec jitters = link(1e8, 1e-3);
  jitters.jitter = Seconds(2e-3);
  check_incast(5, jitters, 60'000);
  LinkSpec loses = link(1e8, 1e-3);
  loses.loss = 0.05;
  CHECK(check_incast(5, loses, 60'000) > 0);
  loses.burst = {0.02, 0.3, 0.8};
  CHECK(check_incast(5, loses, 60'000) > 0);
  LinkSpec out = with_queue(link(1e8, 1e-3), 30'000);
  out.outages = {{Seconds(2e-3), Seconds(9e-3)}};
  CHECK(check_incast(5, out, 60'000) > 0);
}

TEST_CASE("datagrams: both directions of a medium take turns as on ns-3", "[needs-packet]") {
  require_packet_program();
  LinkSpec half = link(2e7, 1e-3);
  half.half_duplex = true;
  const GraphPtr crossing = transfer_graph({{0, 1}, {1, 0}, {2, 0}, {0, 2}});
  const std::vector<Bytes> bytes(4, Bytes(50'000));
  check_equal(Cluster::star(3, half), crossing, bytes);
  check_equal(Cluster::star(3, with_queue(half, 10'000)), crossing, bytes);
}

TEST_CASE("datagrams: rings and fat trees carry collectives as on ns-3", "[needs-packet]") {
  require_packet_program();
  const LinkSpec wire = link(1e8, 0.2e-3);
  check_equal(host_ring(6, wire), ring_graph(6, 60'000));
  check_equal(Cluster::star(8, wire), ring_graph(8, 60'000));
  std::vector<Pair> pairs;
  for (int i = 0; i < 16; ++i)
    for (int k = 1; k < 4; ++k) pairs.push_back({i, (i + 5 * k) % 16});
  check_equal(fat_tree({16, 4, with_queue(wire, 15'000), with_queue(wire, 15'000)}),
              transfer_graph(pairs), std::vector<Bytes>(pairs.size(), Bytes(40'000)));
}
