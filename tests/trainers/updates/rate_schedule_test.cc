#include "trainers/updates/rate_schedule.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace gradwire::trainers {
namespace {

constexpr RunShape kRun{.steps = 100, .epochs = 8, .batch = 32, .workers = 4};

double at_step(const RateSchedule& schedule, std::int64_t step, double rate = 0.1) {
  return rate_at(completed(schedule, rate, kRun), {.step = step});
}

RateSchedule of(const char* shape) {
  RateSchedule schedule;
  schedule.shape = shape_of(shape);
  return schedule;
}

TEST_CASE("a constant rate is the rate, to the bit") {
  for (const std::int64_t step : {0, 1, 99, 100000}) CHECK(at_step({}, step, 0.1) == 0.1);
}

TEST_CASE("warm-up is a line from a share of the rate to all of it") {
  RateSchedule schedule;
  schedule.warm_up = 10;
  // 0.1 t / 10.
  CHECK(at_step(schedule, 0) == 0);
  CHECK(at_step(schedule, 4) == Approx(0.04));
  CHECK(at_step(schedule, 10) == 0.1);
  schedule.warm_up_from = 0.5;  // 0.1 (0.5 + 0.5 t / 10)
  CHECK(at_step(schedule, 0) == Approx(0.05));
  CHECK(at_step(schedule, 4) == Approx(0.07));
  CHECK(at_step(schedule, 50) == 0.1);
}

TEST_CASE("a rate scaled with the batch is warmed up to from the rate itself") {
  // 4 workers of 32 samples: k = 4 against a worker's own batch. lr 0.1: peak 0.4, from 0.1.
  RateSchedule schedule;
  schedule.scaling = RateSchedule::Scaling::kLinear;
  schedule.warm_up = 10;
  CHECK(at_step(schedule, 0) == Approx(0.1));
  CHECK(at_step(schedule, 5) == Approx(0.25));
  CHECK(at_step(schedule, 10) == Approx(0.4));
  // Against a batch of 64: k = 2.
  schedule.reference_batch = 64;
  CHECK(at_step(schedule, 10) == Approx(0.2));
  schedule.scaling = RateSchedule::Scaling::kSquareRoot;
  CHECK(at_step(schedule, 10) == Approx(0.1 * std::sqrt(2.0)));
  CHECK(at_step(schedule, 0) == Approx(0.1));
  // Without a scaling, k counts nothing.
  schedule.scaling = RateSchedule::Scaling::kNone;
  CHECK(at_step(schedule, 10) == 0.1);
}

TEST_CASE("steps down at milestones") {
  RateSchedule schedule = of("step");
  schedule.milestones = {30, 60};
  CHECK(at_step(schedule, 29) == 0.1);
  CHECK(at_step(schedule, 30) == Approx(0.01));
  CHECK(at_step(schedule, 59) == Approx(0.01));
  CHECK(at_step(schedule, 60) == Approx(0.001));
  schedule.factor = 0.5;
  CHECK(at_step(schedule, 60) == Approx(0.025));
}

TEST_CASE("a cosine falls from the rate to its end") {
  RateSchedule schedule = of("cosine");
  CHECK(at_step(schedule, 0) == 0.1);
  CHECK(at_step(schedule, 50) == Approx(0.05));
  CHECK(at_step(schedule, 25) == Approx(0.1 * (1 + std::sqrt(0.5)) / 2));  // cos(pi / 4)
  CHECK(std::abs(at_step(schedule, 100)) < 1e-17);
  CHECK(at_step(schedule, 1000) == at_step(schedule, 100));
  schedule.final = 0.2;
  CHECK(at_step(schedule, 50) == Approx(0.06));  // half-way from 0.1 to 0.02
  CHECK(at_step(schedule, 100) == Approx(0.02));
  schedule.over = 50;
  CHECK(at_step(schedule, 50) == Approx(0.02));
  // After a warm-up of 10, half-way is at 10 + (50 - 10) / 2.
  schedule.warm_up = 10;
  CHECK(at_step(schedule, 30) == Approx(0.06));
}

TEST_CASE("a polynomial falls to its end") {
  RateSchedule schedule = of("polynomial");
  CHECK(at_step(schedule, 0) == 0.1);
  CHECK(at_step(schedule, 75) == Approx(0.025));  // power 1: a line
  schedule.power = 2;
  CHECK(at_step(schedule, 75) == Approx(0.1 / 16));
  CHECK(at_step(schedule, 100) == 0);
  schedule.final = 0.5;
  CHECK(at_step(schedule, 50) == Approx(0.1 * (0.5 + 0.5 * 0.25)));
}

TEST_CASE("a rate of inverse time") {
  RateSchedule schedule = of("inverse-time");
  schedule.time = 20;
  CHECK(at_step(schedule, 0) == 0.1);
  CHECK(at_step(schedule, 20) == Approx(0.05));
  CHECK(at_step(schedule, 60) == Approx(0.025));
  schedule.warm_up = 10;  // counted from its end
  CHECK(at_step(schedule, 30) == Approx(0.05));
}

TEST_CASE("a schedule may count epochs") {
  // The run has 8: half-way is epoch 4, whatever the step.
  RateSchedule schedule = of("cosine");
  schedule.in_epochs = true;
  const RateSchedule whole = completed(schedule, 0.1, kRun);
  CHECK(rate_at(whole, {.step = 3, .epoch = 4}) == Approx(0.05));
  // Negative control: the same schedule in steps takes the step.
  CHECK(at_step(of("cosine"), 3) > 0.09);
}

TEST_CASE("every schedule goes on from its warm-up without a jump") {
  for (const char* shape : {"constant", "cosine", "polynomial", "inverse-time"}) {
    INFO(shape);
    RateSchedule schedule = of(shape);
    schedule.in_epochs = true;
    schedule.time = 3;
    schedule.warm_up = 2;
    const RateSchedule whole = completed(schedule, 0.1, kRun);
    const double before = rate_at(whole, {.epoch = 2 - 1e-9});
    CHECK(before == Approx(0.1));
    CHECK(rate_at(whole, {.epoch = 2}) == Approx(before));
  }
}

}  // namespace
}  // namespace gradwire::trainers
