#include "sim/packet/wire_format.h"
#include "sim/graph/host_pairs.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "sim/cluster/topologies/topologies.h"
#include "tests/sim/packet/helpers.h"

using namespace packet_test;
using nlohmann::json;

namespace {

/// What the other end reads.
json carried(const json& value) {
  const std::vector<std::byte> frame = encode_frame(value);
  REQUIRE(frame.size() == 4 + frame_length(frame.data()));
  const auto* begin = reinterpret_cast<const std::uint8_t*>(frame.data()) + 4;
  return json::from_cbor(begin, begin + frame.size() - 4);
}

}  // namespace

TEST_CASE("a message that is too long for a frame is refused with its length") {
  const nlohmann::json value = std::string(100, 'x');  // 102 bytes of CBOR
  CHECK(encode_frame(value, 103).size() == 4 + 102);
  try {
    encode_frame(value, 102);
    FAIL("it was passed");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kCapability);
    CHECK_THAT(error.what(), Catch::Matchers::Contains("102 bytes"));
  }
}

TEST_CASE("a cluster survives the pipe, routes included") {
  Cluster cluster;
  const NodeId a = cluster.add_host("a"), left = cluster.add_switch("left");
  const NodeId right = cluster.add_switch("right"), b = cluster.add_host("b");
  LinkSpec spec = link(1.25e9, 1.0 / 3, 0.01);
  spec.queue = Bytes(123'456);
  cluster.add_link(a, left, spec);
  cluster.add_link(right, left, link(1e8, 2e-3));
  cluster.add_link(right, b, spec);
  cluster.finish(true);
  const Cluster copy = decode_cluster(carried(encode_cluster(cluster)));
  CHECK(copy.workers() == 1);
  CHECK(copy.has_server());
  CHECK(copy.node_names()[3] == "b");
  CHECK(copy.channel(0).delay.value() == spec.delay.value());
  CHECK(copy.channel(5).queue == spec.queue);
  CHECK(copy.channel(1).loss == 0.01);
  std::vector<ChannelId> expected, route;
  cluster.route(0, 1, expected);
  copy.route(0, 1, route);
  CHECK(route == expected);
  CHECK(route == std::vector<ChannelId>{0, 3, 4});
}

TEST_CASE("every field of a link survives the pipe, and schedules are shared as before") {
  LinkSpec spec = link(1e7, 1e-3, 0.01);
  spec.jitter = Seconds(1.0 / 3);
  spec.burst = {0.1, 0.2, 0.3};
  spec.outages = {{Seconds(1), Seconds(2)}, {Seconds(3), Seconds(4.5)}};
  spec.schedule = RateSchedule::from_mahimahi("up", "1\n5\n5\n9\n");
  spec.schedule_back = RateSchedule::from_pieces(
      "down", {{Seconds(0), BitsPerSecond(1e6)}, {Seconds(0.1), BitsPerSecond(0)}}, Seconds(0.7));
  LinkSpec shared = link(1e7, 1e-3);
  shared.half_duplex = true;
  Cluster cluster;
  for (const char* name : {"a", "b", "c", "d"}) cluster.add_host(name);
  cluster.add_link(0, 1, spec);
  cluster.add_link(1, 2, spec);
  cluster.add_link(2, 3, shared);
  cluster.finish();
  const Cluster copy = decode_cluster(carried(encode_cluster(cluster)));
  const LinkSpec& first = copy.links()[0].spec;
  CHECK(first.jitter.value() == 1.0 / 3);
  CHECK(first.burst.enter == 0.1);
  CHECK(first.burst.leave == 0.2);
  CHECK(first.burst.loss == 0.3);
  REQUIRE(first.outages.size() == 2);
  CHECK(first.outages[1].end.value() == 4.5);
  CHECK(first.schedule->name() == "up");
  CHECK(first.schedule->opportunities() == spec.schedule->opportunities());
  CHECK(first.schedule->mean_rate() == spec.schedule->mean_rate());
  CHECK(first.schedule_back->period().value() == 0.7);
  CHECK(first.schedule_back->pieces()[1].begin.value() == 0.1);
  CHECK_FALSE(first.half_duplex);
  CHECK(copy.links()[1].spec.schedule == first.schedule);
  CHECK(copy.links()[2].spec.half_duplex);
  CHECK_FALSE(copy.links()[2].spec.schedule);
}

TEST_CASE("radio cells survive the pipe, their links in place") {
  Cluster cluster;
  for (const char* name : {"a", "b", "c", "server"}) cluster.add_host(name);
  const NodeId base = cluster.add_switch("base"), middle = cluster.add_switch("middle");
  cluster.add_link(2, base, link(1e8, 1e-3));
  cluster.add_cell({Cell::Kind::kWifi, base, {{0, 5, 0}, {1, 20, -1.5}}, 40e6, 2.8});
  LinkSpec wire = link(1e9, 1e-3);
  wire.schedule = RateSchedule::from_mahimahi("t", "1\n5\n");
  wire.schedule_offset = Seconds(1.0 / 3);
  cluster.add_link(base, middle, wire);
  cluster.add_link(middle, 3, link(1e9, 1e-3));
  cluster.finish(true);
  const Cluster copy = decode_cluster(carried(encode_cluster(cluster)));
  REQUIRE(copy.links().size() == cluster.links().size());
  for (std::size_t i = 0; i < copy.links().size(); ++i) {
    CHECK(copy.links()[i].cell == cluster.links()[i].cell);
    CHECK(copy.links()[i].a == cluster.links()[i].a);
  }
  REQUIRE(copy.cells().size() == 1);
  CHECK(copy.cells()[0].stations[1].distance == 20);
  CHECK(copy.cells()[0].stations[1].speed == -1.5);
  CHECK(copy.cells()[0].width == 40e6);
  CHECK(copy.cells()[0].exponent == 2.8);
  CHECK(copy.nominal_rate(4) == cluster.nominal_rate(4));
  CHECK(copy.links()[3].spec.schedule_offset.value() == 1.0 / 3);
}

TEST_CASE("routes by flow hash, by dimension and as written survive the pipe") {
  Cluster written = two_tier({6, 3, 1, {}, {}});  // hosts 0-5, leaves 6-8, the spine 9
  written.add_route({0, 5, {6, 9, 8}});
  written.finish();
  for (const Cluster& cluster :
       {fat_tree({16, 4, {}, {}}), torus(15, 5, 3, {}), host_ring(7, {}), std::move(written)}) {
    const Cluster copy = decode_cluster(carried(encode_cluster(cluster)));
    CHECK(copy.fixed_routes().size() == cluster.fixed_routes().size());
    int different = 0;
    for (int from = 0; from < cluster.host_count(); ++from) {
      for (int to = 0; to < cluster.host_count(); ++to) {
        std::vector<ChannelId> expected, route;
        cluster.route(from, to, expected);
        copy.route(from, to, route);
        different += route != expected;
      }
    }
    CHECK(different == 0);
  }
}

TEST_CASE("options survive the pipe") {
  ExecutorOptions options;
  options.seed = 0xFFFF'FFFF'FFFF'FFFFull;
  options.transfer_limit = Seconds(0.1);
  options.transport.congestion_control = TransportSettings::CongestionControl::kBbr;
  options.transport.buffer = Bytes(std::int64_t{1} << 33);
  const ExecutorOptions copy = decode_options(carried(encode_options(options)));
  CHECK(copy.seed == options.seed);
  CHECK(copy.transfer_limit.value() == 0.1);
  CHECK(copy.transport.congestion_control == options.transport.congestion_control);
  CHECK(copy.transport.buffer == options.transport.buffer);
}

TEST_CASE("a graph survives the pipe and names the pairs that talk") {
  GraphBuilder builder;
  const OpIndex first = builder.add_operation(OpKind::kEncode, Lane::kCodec, 1, "encode");
  const OpIndex after[] = {first};
  builder.add_transfer(3, 0, "scale", TransferMeaning{}, after);
  builder.add_collective(ring_spec(3, 10), "reduce", after);
  CollectiveSpec pull = ring_spec(2, 0);
  pull.kind = CollectiveKind::kPull;
  pull.server = 3;
  builder.add_collective(pull, "pull");
  const GraphPtr graph = builder.finish();
  const GraphPtr copy = decode_graph(carried(encode_graph(*graph)));
  CHECK(copy->kind == graph->kind);
  CHECK(copy->lane == graph->lane);
  CHECK(copy->dependency == graph->dependency);
  CHECK(copy->bytes_begin == graph->bytes_begin);
  CHECK(copy->labels == graph->labels);
  CHECK(copy->collectives[1].server == 3);
  CHECK(copy->collectives[0].members == graph->collectives[0].members);
  // Ring 0-1-2-0; the server's pulls 3-0 (a transfer too: listed once) and 3-1.
  std::vector<std::pair<int, int>> pairs;
  for (const HostPair& pair : pairs_of(*copy)) pairs.emplace_back(pair.source, pair.destination);
  CHECK(pairs == std::vector<std::pair<int, int>>{{0, 1}, {1, 2}, {2, 0}, {3, 0}, {3, 1}});
}

TEST_CASE("events and timelines survive the pipe to the last bit") {
  const std::vector<Event> events = {
      {Seconds(0.1), EventKind::kRankDone, OpRef{7, 2}, 5},
      {Seconds(1.0 / 3), EventKind::kTransferFailed, OpRef{std::uint64_t{1} << 40, 0}, -1}};
  std::vector<Event> copy;
  decode_events(carried(encode_events(events)), copy);
  REQUIRE(copy.size() == 2);
  CHECK(copy[1].time.value() == 1.0 / 3);
  CHECK(copy[1].op.graph == std::uint64_t{1} << 40);
  CHECK(copy[0].kind == EventKind::kRankDone);
  CHECK(copy[0].host == 5);
  Timeline timeline;
  timeline.graph = 9;
  timeline.ops.resize(3);
  timeline.ops[2].end = Seconds(1e-9 / 3);
  timeline.ops[2].retransmissions = 4;
  timeline.rank_done = {{Seconds(1), Seconds(2)}, {}};
  timeline.end = Seconds(2);
  const Timeline other = decode_timeline(carried(encode_timeline(timeline)));
  CHECK(other.ops[2].end.value() == 1e-9 / 3);
  CHECK(other.ops[2].retransmissions == 4);
  CHECK(other.rank_done == timeline.rank_done);
  CHECK(other.end.value() == 2);
}
