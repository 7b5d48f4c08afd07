#include "results/runs/executor_comparison.h"

#include <catch2/catch.hpp>

namespace gradwire::results {
namespace {

StepRow step(double start, double end) {
  StepRow row;
  row.start_s = start;
  row.end_s = end;
  return row;
}

TEST_CASE("a step's time is from the end of the one before it to its own", "[unit]") {
  // The second begins before the first has ended: it takes 0.5 s more.
  const std::vector<StepRow> steps = {step(1, 2), step(1.5, 2.5), step(3, 4)};
  CHECK(step_times(steps) == std::vector<double>{1, 0.5, 1.5});
  CHECK(step_times({}).empty());
}

TEST_CASE("errors are of each step, and of all together", "[unit]") {
  const ExecutorTimes reference{"packet", {1, 2, 4}};
  const std::vector<ExecutorTimes> others = {{"flow", {1.1, 1.8, 4}}, {"model", {2, 4}}};
  const auto errors = errors_against(reference, others);
  REQUIRE(errors.size() == 2);
  CHECK(errors[0].executor == "flow");
  CHECK(errors[0].errors[0] == Approx(0.1));
  CHECK(errors[0].errors[1] == Approx(-0.1));
  CHECK(errors[0].median == Approx(0.1));  // of 0.1, 0.1, 0
  CHECK(errors[0].worst == Approx(0.1));
  CHECK(errors[0].total == Approx(6.9 / 7 - 1));
  REQUIRE(errors[1].errors.size() == 2);  // the steps that both have
  CHECK(errors[1].total == Approx(1));
}

TEST_CASE("the figure has a line an executor", "[unit]") {
  const std::vector<ExecutorTimes> all = {{"emulator", {1, 2}}, {"flow", {1, 2.1}}};
  const Figure figure = executor_figure(all, "lan", {"abc"});
  check(figure);
  REQUIRE(figure.series.size() == 2);
  CHECK(figure.series[1].y[1] == 2.1);
  CHECK(figure.provenance == "emulator, flow");
}

}  // namespace
}  // namespace gradwire::results
