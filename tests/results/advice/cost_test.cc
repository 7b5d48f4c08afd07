#include "results/advice/cost.h"

#include <catch2/catch.hpp>

#include "tests/results/advice/candidates.h"

using namespace gradwire::results;

TEST_CASE("The cost of a step by hand") {
  // 8 workers for 0.45 s = 3.6 s = 0.001 h: GPUs at 2.5 an hour 0.0025; two ports each at 0.1 an
  // hour 0.0002; a ring of 100 MB sends 2 x 7 x 100 MB = 1.4 GB at 0.01.
  const StepSummary step = candidate("none", 8, 100).step;
  CHECK(bytes_moved(step) == Approx(1.4e9));
  const StepCost cost = cost_of_step(
      step, 0.45, {.gpu_hour = 2.5, .port_hour = 0.1, .gigabyte = 0.01, .ports_per_worker = 2});
  CHECK(cost.compute == Approx(0.0025));
  CHECK(cost.ports == Approx(0.0002));
  CHECK(cost.traffic == Approx(0.014));
  CHECK(cost.total() == Approx(0.0167));
  CHECK(cost_of_step(step, 0.45, {}).total() == 0);
  CHECK_FALSE(Prices{}.any());
}

TEST_CASE("What goes before the gradients is moved too") {
  // Scales of 1 kB gathered by 8: 8 x 7 kB.
  StepSummary step = candidate("small", 8, 100).step;
  step.buckets[0].prelude_bytes = 1000;
  CHECK(bytes_moved(step) == Approx(1.4e9 + 56e3));
}

TEST_CASE("Steps of an epoch") {
  // 1,281,167 images in batches of 8 x 32 = 256: 5,004.6.
  CHECK(steps_per_epoch(1281167, 8, 32) == 5005);
  CHECK(steps_per_epoch(256, 8, 32) == 1);
}

TEST_CASE("The front of time and cost") {
  const std::vector<PricedPlan> plans = {{1, 10}, {2, 5}, {2, 6}, {3, 7}, {4, 1}, {1, 11}};
  CHECK(cheapest_front(plans) == std::vector<std::size_t>{0, 1, 4});
}
