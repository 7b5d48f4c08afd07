#include <catch2/catch.hpp>

#include "sim/cluster/topologies/topologies.h"
#include "sim/packet/packet_estimate.h"
#include "tests/sim/packet/helpers.h"

using namespace packet_test;

namespace {

PacketWork work_of(const Cluster& cluster, const GraphPtr& graph, const std::vector<Bytes>& bytes) {
  const std::vector<Seconds> seconds(graph->size());
  return packet_work(cluster, {}, {.graph = graph, .bytes = bytes, .seconds = seconds});
}

double events_of(const Cluster& cluster, const GraphPtr& graph, const std::vector<Bytes>& bytes) {
  const auto executor = make_packet_executor(cluster, {});
  run(*executor, graph, bytes);
  return static_cast<double>(packet_statistics(*executor).events);
}

}  // namespace

TEST_CASE("the work of a graph counts every segment of its collectives over its links") {
  // A ring of 4 and 1 MB: 2 * 3 hops of 250,000 bytes from each of 4 workers, 173 segments each,
  // over two links, with half as many acknowledgements.
  const PacketWork ring = work_of(Cluster::star(4, link(1e9, 50e-6)), ring_graph(4, 250'000), {});
  CHECK(ring.transfers == 24);
  CHECK(ring.segments == 24 * 173);
  CHECK(ring.hops == 24 * 173 * 1.5 * 2);
  CHECK(ring.events == Approx(24 * (173 * (1.5 * 2 * kEventsPerPlainHop + kEventsPerSegment) +
                                    kEventsPerTransfer)));
  // A tenth of all packets is lost on each of two links: 1 / 0.81 copies of a segment.
  const PacketWork lossy = work_of(Cluster::star(2, link(1e9, 50e-6, 0.1)),
                                   transfer_graph({{0, 1}}), {Bytes(1448 * 81)});
  CHECK(lossy.segments == Approx(100));
}

TEST_CASE("of more than ten million transfers the first ten million stand for all") {
  // 2 * 2,399 hops of each of 2,400 workers, 1,000 bytes each: one segment over two links.
  const int workers = 2'400;
  const std::int64_t transfers = 2LL * (workers - 1) * workers;
  REQUIRE(transfers > 10'000'000);
  const PacketWork ring =
      work_of(Cluster::star(workers, link(1e9, 50e-6)), ring_graph(workers, 600'000), {});
  CHECK(ring.transfers == transfers);
  CHECK(ring.segments == Approx(static_cast<double>(transfers)));
  CHECK(ring.events ==
        Approx(static_cast<double>(transfers) *
               (1.5 * 2 * kEventsPerPlainHop + kEventsPerSegment + kEventsPerTransfer)));
}

TEST_CASE("a forecast of events is right within a factor of two, mostly within a fifth",
          "[needs-packet]") {
  require_packet_program();
  const LinkSpec lan = link(1e9, 50e-6);
  LinkSpec trace = link(1e7, 10e-3);
  trace.schedule = trace.schedule_back = RateSchedule::from_mahimahi("t", "1\n2\n3\n");
  struct Case {
    Cluster cluster;
    GraphPtr graph;
    std::vector<Bytes> bytes;
    double factor;
  };
  const std::vector<Case> cases = {
      {Cluster::star(8, lan), ring_graph(8, 100'000), {}, 1.2},
      {Cluster::star(8, lan), ring_graph(8, 1'000), {}, 1.2},
      {fat_tree({8, 4, lan, lan}), ring_graph(8, 50'000), {}, 1.2},
      {Cluster::star(2, link(1e8, 20e-3)), transfer_graph({{0, 1}}), {Bytes(2'000'000)}, 1.3},
      {Cluster::star(2, link(1e8, 5e-3, 0.02)), transfer_graph({{0, 1}}), {Bytes(500'000)}, 2},
      {Cluster::star(2, trace), transfer_graph({{0, 1}}), {Bytes(2'000'000)}, 1.3},
      {cell_of(Cell::Kind::kWifi, {{10, 0}, {20, 0}, {30, 0}}),
       transfer_graph({{0, 3}, {1, 3}, {3, 2}}), std::vector<Bytes>(3, Bytes(1'000'000)), 2},
      {cell_of(Cell::Kind::kLte, {{20, 0}, {100, 0}, {200, 0}}),
       transfer_graph({{0, 3}, {1, 3}, {3, 2}}), std::vector<Bytes>(3, Bytes(500'000)), 2}};
  for (const Case& c : cases) {
    const double ratio =
        work_of(c.cluster, c.graph, c.bytes).events / events_of(c.cluster, c.graph, c.bytes);
    CHECK(ratio > 1 / c.factor);
    CHECK(ratio < c.factor);
  }
}

TEST_CASE("the speed of this machine is measured, not assumed", "[needs-packet]") {
  require_packet_program();
  const double speed = measure_packet_speed({});
  CHECK(speed > 1e4);
  CHECK(speed < 1e8);
}
