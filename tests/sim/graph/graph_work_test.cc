#include "sim/graph/graph_work.h"

#include <catch2/catch.hpp>

#include "tests/sim/graphs.h"

using namespace gradwire;
using namespace gradwire::sim;
using namespace gradwire::sim::testing;

namespace {

GraphWork work_of(CollectiveSpec spec, const std::vector<std::int64_t>& sizes) {
  GraphBuilder builder;
  builder.add_collective(std::move(spec), "exchange");
  const Step step(builder.finish(), sizes);
  return graph_work(*step.graph, step.bytes);
}

}  // namespace

TEST_CASE("graph work: a collective counts all of its hops") {
  // 4 ranks, 2 x 3 hops each of a quarter of 1,000 fp32.
  const GraphWork ring = work_of(ring_spec(CollectiveKind::kRingAllReduce, 4, 1000), {});
  CHECK(ring.transfers == 24);
  CHECK(ring.at_once == 4);
  CHECK(ring.bytes == 24 * 250 * 4);
  // Everybody to everybody: 4 x 3, all at once, 25 of 100 bytes each.
  const GraphWork all = work_of(ring_spec(CollectiveKind::kAllToAll, 4, 0), {100, 100, 100, 100});
  CHECK(all.transfers == 12);
  CHECK(all.at_once == 12);
  CHECK(all.bytes == 12 * 25);
}

TEST_CASE("graph work: a server sends to all at once, transfers count one by one") {
  CollectiveSpec pull = ring_spec(CollectiveKind::kPull, 5, 0);
  pull.server = 5;
  const GraphWork server = work_of(pull, {10, 10, 10, 10, 10});
  CHECK(server.transfers == 5);
  CHECK(server.at_once == 5);
  CHECK(server.bytes == 50);

  const Step own = transfers({{0, 1, 300}, {1, 2, 700}});
  const GraphWork explicit_ones = graph_work(*own.graph, own.bytes);
  CHECK(explicit_ones.transfers == 2);
  CHECK(explicit_ones.at_once == 0);
  CHECK(explicit_ones.bytes == 1000);
}

TEST_CASE("graph work: of 65,536 ranks it is known at once") {
  const GraphWork ring = work_of(ring_spec(CollectiveKind::kRingAllReduce, 65536, 1 << 20), {});
  CHECK(ring.transfers == 2.0 * 65535 * 65536);
  CHECK(ring.at_once == 65536);
}
