#include <catch2/catch.hpp>

#include "bench/emulation/draw_case.h"
#include "bench/emulation/steps.h"

namespace gradwire::bench {
namespace {

TEST_CASE("Cases of bench emulation are within what they are said to be drawn from", "[unit]") {
  bool tree_seen = false, star_seen = false;
  for (int number = 0; number < 12; ++number) {
    const EmulationCase c = draw_emulation_case(3, number);
    INFO(c.name);
    CHECK(c.lossy == (number % 2 == 1));
    CHECK(c.cluster.workers() >= 2);
    CHECK(c.cluster.workers() <= 8);
    double together = 0;
    for (const sim::Link& link : c.cluster.links()) {
      together += link.spec.rate.value();
      CHECK(link.spec.rate >= BitsPerSecond(10e6));
      CHECK(link.spec.delay >= Seconds(1e-3));
      CHECK(link.spec.delay <= Seconds(40e-3));
      CHECK((link.spec.loss > 0) == c.lossy);
      CHECK(link.spec.loss <= 0.02);
    }
    CHECK(together <= 1e9 * (1 + 1e-9));
    const bool star = c.cluster.links().size() == static_cast<std::size_t>(c.cluster.host_count());
    (star ? star_seen : tree_seen) = true;
  }
  CHECK(star_seen);
  CHECK(tree_seen);
}

TEST_CASE("A case of bench emulation is drawn again alike, and its steps take what bytes take",
          "[unit]") {
  const EmulationCase c = draw_emulation_case(3, 0), again = draw_emulation_case(3, 0);
  CHECK(c.name == again.name);
  CHECK(c.bytes == again.bytes);
  const auto steps = flow_steps(c, c.cluster, 3, 1);
  REQUIRE(steps.size() == 3);
  CHECK(steps == flow_steps(again, again.cluster, 3, 1));
  // Nothing arrives sooner than over two links.
  for (const double step : steps) CHECK(step > 2 * c.cluster.links()[0].spec.delay.value());
}

}  // namespace
}  // namespace gradwire::bench
