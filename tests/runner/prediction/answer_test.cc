#include "runner/prediction/answer.h"

#include <catch2/catch.hpp>

#include "runner/prediction/step_times.h"
#include "tests/runner/ring_scenario.h"

using namespace gradwire;
using namespace gradwire::runner;
using results::SolveFor;

namespace {

/// A ring of 10 MB among four on 1 Gbps, 100 us a link.
scenarios::Scenario ring(double loss = 0) {
  return testing::ring_scenario("10MB", 4, "100us", loss, 2);
}

results::StepSummary summary(const scenarios::Scenario& scenario) {
  return *time_steps(scenario).summary;
}

double simulated(SolveFor quantity, double value) {
  return simulate_answer(ring(), summary(ring()), quantity, value).seconds;
}

}  // namespace

TEST_CASE("An answer changes what it is about") {
  const double there = simulated(SolveFor::kBandwidth, 125e6);
  CHECK(time_steps(ring()).warm().at(0) == Approx(there).epsilon(0.01));
  // 6 hops of .2 ms and 2.5 MB: 1.2 ms + 15 MB at 114.4 MB/s (headers, acknowledgements) =
  // 132.3 ms. Twice the rate, or half the bytes: 66.8 ms.
  CHECK(there == Approx(0.1323).epsilon(0.02));
  CHECK(simulated(SolveFor::kBandwidth, 250e6) == Approx(0.0668).epsilon(0.02));
  CHECK(simulated(SolveFor::kRatio, 0.5) == Approx(0.0668).epsilon(0.02));
  // 10 ms one way instead of .2: 59 ms more.
  CHECK(simulated(SolveFor::kLatency, 10e-3) == Approx(there + 6 * 9.8e-3).epsilon(0.02));
  // 8 workers: 14 hops of 1.25 MB.
  CHECK(simulated(SolveFor::kWorkers, 8) == Approx(14 * (2e-4 + 1.25e6 / 114.4e6)).epsilon(0.02));
}

TEST_CASE("Under loss the mean is known before it is told") {
  const auto scenario = ring(0.001);
  const auto point = simulate_answer(scenario, summary(scenario), SolveFor::kBandwidth, 125e6);
  CHECK(point.steps >= 3 * 24);
  CHECK(point.relative_error > 0);
  CHECK(point.seconds > simulated(SolveFor::kBandwidth, 125e6));
}

TEST_CASE("What would take hours to simulate says so") {
  auto step = summary(ring());
  CHECK(too_long_to_simulate(step).empty());
  step.workers = 2048;  // 2 x 2,048 x 2,047 transfers, 11 steps: 92 million
  CHECK(too_long_to_simulate(step).empty());
  step.workers = 65536;  // 8.6 thousand million, 5 steps
  CHECK(too_long_to_simulate(step) ==
        "steps of 65536 workers would take some 12 hours to simulate");
  step.exchange = results::ExchangeKind::kTreeAllReduce;
  CHECK(too_long_to_simulate(step).empty());
}

TEST_CASE("What cannot be simulated says why") {
  auto scenario = ring();
  auto step = summary(scenario);
  CHECK(cannot_simulate(scenario, step, SolveFor::kLatency).empty());
  step.rate_spread = 0.5;
  CHECK(cannot_simulate(scenario, step, SolveFor::kBandwidth).find("schedules") !=
        std::string::npos);
  CHECK(cannot_simulate(scenario, step, SolveFor::kWorkers).empty());
  step.delay_s = step.forwarding_s;
  step.rate_spread = 0;
  CHECK_FALSE(cannot_simulate(scenario, step, SolveFor::kLatency).empty());
  scenario.workload.kind = scenarios::WorkloadKind::kTraining;
  CHECK(cannot_simulate(scenario, step, SolveFor::kRatio).find("trained") != std::string::npos);
}
