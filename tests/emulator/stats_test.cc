#include <catch2/catch.hpp>

#include "emulator/exchange/exchange_stats.h"
#include "tests/quantities.h"

namespace gradwire::emulator {
namespace {

TEST_CASE("an exchange lasts from the first rank ready to the last rank done", "[unit]") {
  // Under `model`-like hand-made times: compute ends at 1 and 2 s; the ring's record says 1 to 5.
  sim::GraphBuilder builder;
  sim::CollectiveSpec spec;
  spec.members = {0, 1};
  builder.add_operation(sim::OpKind::kCompute, sim::Lane::kCompute, 0, "c");
  builder.add_collective(spec, "ring");
  const sim::GraphPtr graph = builder.finish();
  sim::Timeline timeline;
  timeline.ops.resize(2);
  timeline.ops[0] = {Seconds(0), Seconds(1)};
  timeline.ops[1] = {Seconds(1), Seconds(5)};
  const auto durations = exchange_durations(*graph, timeline);
  REQUIRE(durations.size() == 1);
  CHECK(durations[0] == Seconds(4));
}

TEST_CASE("medians", "[unit]") {
  CHECK(median_of(std::vector{Seconds(3), Seconds(1), Seconds(2)}) == Seconds(2));
  CHECK(median_of(std::vector{Seconds(4), Seconds(1), Seconds(2), Seconds(3)}) == Seconds(2.5));
}

TEST_CASE("a measured round trip crosses four link delays", "[unit]") {
  sim::LinkSpec link;
  link.delay = Seconds(1);
  link.loss = 0.25;
  const auto cluster = with_measured_delay(sim::Cluster::star(2, link, true), Seconds(80e-6));
  REQUIRE(cluster.links().size() == 3);
  CHECK(cluster.has_server());
  CHECK(cluster.workers() == 2);
  for (const sim::Link& each : cluster.links()) {
    CHECK(each.spec.delay.value() == Approx(20e-6));
    CHECK(each.spec.loss == 0.25);
  }
}

}  // namespace
}  // namespace gradwire::emulator
