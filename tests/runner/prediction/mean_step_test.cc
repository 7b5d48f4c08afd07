#include "runner/prediction/mean_step.h"

#include <catch2/catch.hpp>
#include <numeric>

#include "tests/runner/ring_scenario.h"

using namespace gradwire;
using namespace gradwire::runner;

namespace {

/// A ring of 1 MB among three on 1 Gbps, 1 ms a link.
scenarios::Scenario ring(double loss) {
  return testing::ring_scenario("1MB", 3, "1ms", loss, 9);
}

double mean(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("Settled steps are the second half of those on warm connections") {
  // 20 ms a link: windows still open in the first half.
  const scenarios::Scenario far = testing::ring_scenario("1MB", 3, "20ms", 0, 9);
  const std::vector<double> warm = time_steps(far).warm();
  REQUIRE(warm.size() == 8);
  CHECK(mean(warm) > 1.05 * mean(std::span(warm).subspan(4)));
  StepSampling sampling;
  sampling.steps = 9;
  CHECK(mean_step(far, sampling).seconds == Approx(mean(std::span(warm).subspan(4))));
  CHECK(mean_step(far, sampling).steps == 4);
  sampling.settled = false;
  CHECK(mean_step(far, sampling).seconds == Approx(mean(warm)));
}

TEST_CASE("Seeds are added until the mean is known, or there are no more") {
  StepSampling sampling;
  sampling.steps = 5;
  sampling.settled = false;
  sampling.most_seeds = 6;
  CHECK(mean_step(ring(0), sampling).steps == 4);  // known at once
  sampling.least_seeds = 3;
  CHECK(mean_step(ring(0), sampling).steps == 3 * 4);
  sampling.wanted_error = 1e-9;
  CHECK(mean_step(ring(0.01), sampling).steps == 6 * 4);
  sampling.most_work = 0;
  CHECK(mean_step(ring(0.01), sampling).steps == 4);  // one is always simulated
}

TEST_CASE("How well a mean is known goes by seeds, whose steps have their timeouts in common") {
  // Two seeds of four steps each: their means' half difference, by Student's t of one degree.
  StepSampling sampling;
  sampling.steps = 5;
  sampling.settled = false;
  const double one = mean_step(ring(0.01), sampling).seconds;
  sampling.first_seed = 2;
  const double two = mean_step(ring(0.01), sampling).seconds;
  sampling.first_seed = 1;
  sampling.least_seeds = sampling.most_seeds = 2;
  const results::StepPoint both = mean_step(ring(0.01), sampling);
  CHECK(both.seconds == Approx((one + two) / 2));
  CHECK(both.relative_error ==
        Approx(6.3138 / 1.645 * std::abs(one - two) / 2 / both.seconds).epsilon(1e-3));
  CHECK(both.steps == 8);
}

TEST_CASE("What simulations took is counted, and decides how many there are") {
  // 9 steps of 2 (3 - 1) rounds of 3 transfers, each of a third of 1 MB: 230 full segments of 1448
  // B and their headers, about 240 times 1448 B.
  const StepTimes simulated = time_steps(ring(0));
  CHECK(simulated.transfers == 9 * 4 * 3);
  CHECK(simulated.packets == Approx(9 * 4 * 3 * 240).epsilon(0.02));
  CHECK(work_of(simulated) == Approx(108 + 2592).epsilon(0.02));
  StepSampling sampling;
  sampling.steps = 9;
  sampling.settled = false;
  sampling.wanted_error = 1e-9;
  sampling.most_seeds = 100;
  sampling.most_work = 2.5 * work_of(time_steps(ring(0.01)));  // enough after the third
  CHECK(mean_step(ring(0.01), sampling).steps == 3 * 8);
}

TEST_CASE("Where chance decides, more is simulated") {
  results::StepSummary step;
  step.workers = 8;
  CHECK(sampling_of(step).most_seeds == 1);
  CHECK(sampling_of(step).settled);
  step.loss = 0.01;
  CHECK(sampling_of(step).most_seeds > 1);
  CHECK_FALSE(sampling_of(step).settled);
  step.loss = 0;
  step.compute_spread = 0.1;
  CHECK(sampling_of(step).most_seeds > 1);
}
