#include <catch2/catch.hpp>

#include "sim/executors.h"
#include "tests/sim/packet/helpers.h"

using namespace packet_test;

namespace {

GraphPtr uploads(int stations) {
  std::vector<Pair> pairs;
  for (int station = 0; station < stations; ++station) pairs.push_back({station, stations});
  return transfer_graph(pairs);
}

GraphPtr downloads(int stations) {
  std::vector<Pair> pairs;
  for (int station = 0; station < stations; ++station) pairs.push_back({stations, station});
  return transfer_graph(pairs);
}

double megabits_per_second(const Timeline& timeline, std::int64_t bytes) {
  return 8e-6 * static_cast<double>(bytes) / (timeline.end - timeline.start).value();
}

ExecutorOptions seeded(std::uint64_t seed) {
  ExecutorOptions options;
  options.seed = seed;
  return options;
}

}  // namespace

TEST_CASE("eight stations share the air of a Wi-Fi cell, up and down", "[needs-packet]") {
  require_packet_program();
  const Cluster cluster =
      cell_of(Cell::Kind::kWifi, std::vector<std::pair<double, double>>(8, {10, 0}));
  const std::vector<Bytes> bytes(8, Bytes(500'000));
  const auto executor = make_packet_executor(cluster, seeded(GENERATE(1, 2)));
  const double up = megabits_per_second(run(*executor, uploads(8), bytes), 4'000'000);
  const double down = megabits_per_second(run(*executor, downloads(8), bytes), 4'000'000);
  // At 10 m the air carries 300-400 Mbps; access, preambles and TCP take their share.
  CHECK(up > 30);
  CHECK(up < 400);
  CHECK(down > 30);
  CHECK(down < 400);
  // What entered a station's channel is what it was charged, but for handshakes.
  CHECK(executor->channels()[0].wire > wire_bytes(Bytes(500'000), {}));
}

TEST_CASE("the first datagram over a Wi-Fi cell finds its neighbours known", "[needs-packet]") {
  require_packet_program();
  // One frame of 60 us at most behind a slot, and the wire, 1 ms and 4.7 us. Asking for the base's
  // hardware address first took up to 10 ms, agreeing upon block acknowledgements 0.4 ms.
  ExecutorOptions options = seeded(GENERATE(1, 2, 3));
  options.transport.protocol = TransportSettings::Protocol::kUdpLossy;
  const Cluster cluster = cell_of(Cell::Kind::kWifi, {{10, 0}});
  const auto first = [&](const GraphPtr& graph) {
    const auto executor = make_packet_executor(cluster, options);
    return run(*executor, graph, {Bytes(500)}).end.value();
  };
  CHECK(first(uploads(1)) < 1.1e-3);
  CHECK(first(downloads(1)) < 1.1e-3);
}

TEST_CASE("a Wi-Fi station far away is slower, and moves to and fro on the session's clock",
          "[needs-packet]") {
  require_packet_program();
  const GraphPtr graph = uploads(1);
  const auto seconds_at = [&](double distance) {
    const auto executor = make_packet_executor(cell_of(Cell::Kind::kWifi, {{distance, 0}}), {});
    return run(*executor, graph, {Bytes(2'000'000)}).end.value();
  };
  const double near = seconds_at(5), far = seconds_at(60);
  CHECK(far > 1.5 * near);
  // It walks from 5 m to 60 m in an hour that nobody simulates.
  const auto executor = make_packet_executor(cell_of(Cell::Kind::kWifi, {{5, 55.0 / 3600}}), {});
  const Timeline first = run(*executor, graph, {Bytes(2'000'000)});
  CHECK((first.end - first.start).value() == Approx(near).epsilon(0.25));
  const GraphId id = submit(*executor, graph, {Bytes(2'000'000)}, Seconds(3600));
  events_until(*executor);
  const Timeline later = executor->timeline(id);
  CHECK(later.start.value() == 3600);
  CHECK((later.end - later.start).value() == Approx(far).epsilon(0.25));
}

TEST_CASE("phones upload and download through an LTE cell and its core network", "[needs-packet]") {
  require_packet_program();
  const Cluster cluster = cell_of(Cell::Kind::kLte, {{50, 0}, {100, 0}, {150, 0}});
  const auto executor = make_packet_executor(cluster, {});
  const std::vector<Bytes> bytes(3, Bytes(300'000));
  const Timeline up = run(*executor, uploads(3), bytes);
  const Timeline down = run(*executor, downloads(3), bytes);
  // 10 MHz carry 36.7 Mbps at most: 900 kB take 0.2 s at least.
  CHECK((up.end - up.start).value() > 0.2);
  CHECK((up.end - up.start).value() < 2);
  CHECK((down.end - down.start).value() > 0.2);
  CHECK((down.end - down.start).value() < 2);
}

TEST_CASE("a transfer of a station that leaves its cell fails at the time limit",
          "[needs-packet]") {
  require_packet_program();
  ExecutorOptions options;
  options.transfer_limit = Seconds(20);
  // Out of range within a second or two.
  const auto executor = make_packet_executor(cell_of(Cell::Kind::kWifi, {{20, 50}}), options);
  submit(*executor, uploads(1), {Bytes(200'000'000)});
  int failed = 0;
  for (const Event& event : events_until(*executor))
    if (event.kind == EventKind::kTransferFailed) {
      ++failed;
      CHECK(event.time.value() <= 20.001);
    }
  CHECK(failed == 1);
}

TEST_CASE("two LTE cells, each with a gateway of its own, behind one switch", "[needs-packet]") {
  require_packet_program();
  Cluster cluster;
  std::vector<Cell> cells(2);
  for (std::size_t c = 0; c < 2; ++c) {
    cells[c].kind = Cell::Kind::kLte;
    cells[c].width = 10e6;
    for (int i = 0; i < 2; ++i)
      cells[c].stations.push_back(
          {cluster.add_host("phone" + std::to_string(2 * c) + std::to_string(i)), 50, 0});
  }
  const NodeId server = cluster.add_host("server"), hub = cluster.add_switch("hub");
  for (std::size_t c = 0; c < 2; ++c) {
    cells[c].base = cluster.add_switch("base" + std::to_string(c));
    cluster.add_cell(cells[c]);
    cluster.add_link(cells[c].base, hub, link(1e9, 1e-3));
  }
  cluster.add_link(hub, server, link(1e9, 1e-3));
  cluster.finish(true);
  // A phone's upload takes what its cell gives it: the two cells do not share their air, the two
  // phones of a cell do.
  const auto time_of = [&](const std::vector<Pair>& pairs) {
    const auto executor = make_executor("packet", cluster, ExecutorOptions{});
    return run(*executor, transfer_graph(pairs), std::vector<Bytes>(pairs.size(), Bytes(500'000)))
        .end.value();
  };
  const double one = time_of({{0, 4}}), apart = time_of({{0, 4}, {2, 4}}),
               together = time_of({{0, 4}, {1, 4}});
  CHECK(apart == Approx(one).epsilon(0.1));
  CHECK(together > 1.1 * one);
  // From one cell to the other, through both gateways.
  CHECK(time_of({{1, 2}}) > one);
}
