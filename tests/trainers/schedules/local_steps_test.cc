#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

namespace gradwire::trainers {
namespace {

scenarios::Scenario local(int workers, int steps, int local_steps) {
  scenarios::Scenario scenario = digits_scenario("logistic");
  scenario.cluster.workers = workers;
  scenario.workload.steps = steps;
  scenario.workload.momentum = 0;
  scenario.schedule.local_steps = local_steps;
  return scenario;
}

std::unique_ptr<scenarios::Trainer> prepared(const scenarios::Scenario& scenario, int threads = 1) {
  auto trainer = make_trainer(scenario, {threads, true});
  trainer->use_profile(fixed_profile({trainer->parameters()}));
  return trainer;
}

struct Outcome {
  std::vector<float> weights;
  std::uint64_t hash = 0;
  scenarios::StepPlan last;
};

Outcome run(const scenarios::Scenario& scenario, int threads = 1) {
  const auto trainer = prepared(scenario, threads);
  Outcome outcome;
  for (scenarios::StepPlan plan; trainer->next(plan); plan = {}) outcome.last = plan;
  const auto weights = dynamic_cast<SynchronousTrainer&>(*trainer).weights();
  outcome.weights.assign(weights.begin(), weights.end());
  outcome.hash = trainer->learning_hash();
  return outcome;
}

double relative_distance(const std::vector<float>& a, const std::vector<float>& b) {
  double apart = 0, norm = 0;
  for (std::size_t e = 0; e < a.size(); ++e) {
    apart += std::pow(static_cast<double>(a[e]) - static_cast<double>(b[e]), 2);
    norm += std::pow(static_cast<double>(b[e]), 2);
  }
  return std::sqrt(apart / norm);
}

}  // namespace

TEST_CASE("one local step is lockstep, bit for bit", "[local]") {
  scenarios::Scenario scenario = digits_scenario("mlp", "topk");
  scenario.method.error_feedback = true;
  scenario.workload.steps = 10;
  const Outcome without = run(scenario);
  scenario.schedule.kind = "lockstep";
  scenario.schedule.local_steps = 1;
  CHECK(run(scenario).hash == without.hash);
  scenario.schedule.local_steps = 2;  // negative control
  CHECK(run(scenario).hash != without.hash);
}

TEST_CASE("local steps of one worker are steps, but for rounding", "[local]") {
  // x - r (g_0 + g_1 + ...) and ((x - r g_0) - r g_1) - ... round otherwise.
  const double apart =
      relative_distance(run(local(1, 10, 4)).weights, run(local(1, 40, 1)).weights);
  CHECK(apart < 1e-5);
  // Negative control: as many exchanges of one step each are ten steps, not forty.
  CHECK(relative_distance(run(local(1, 10, 1)).weights, run(local(1, 40, 1)).weights) > 0.1);
}

TEST_CASE("local steps of several workers end at the mean of their weights", "[local]") {
  // The mean of two workers' own 4 steps, each worked out as a run of one worker would be: with
  // exchanges over a ring and over a server, and with any number of threads.
  scenarios::Scenario scenario = local(4, 6, 4);
  const Outcome ring = run(scenario);
  for (const int threads : {2, 4}) CHECK(run(scenario, threads).hash == ring.hash);
  scenario.exchange.collective = "parameter-server";
  CHECK(relative_distance(run(scenario).weights, ring.weights) < 1e-5);
  // Workers that wander alone for 24 steps end elsewhere (negative control).
  CHECK(relative_distance(run(local(4, 1, 24)).weights, ring.weights) > 1e-3);
}

TEST_CASE("of the steps between two exchanges only the last overlaps with one", "[local]") {
  // A pass of 1 ms forward and 1 ms backward, an update of 0.1 ms: 3 more steps take 6.3 ms.
  const auto forward = [](const Outcome& outcome) {
    Seconds longest{0};
    for (const Seconds time : outcome.last.seconds) longest = std::max(longest, time);
    return longest.value();
  };
  CHECK(forward(run(local(4, 1, 1))) == Approx(1e-3));
  CHECK(forward(run(local(4, 1, 4))) == Approx(7.3e-3));
  CHECK(run(local(4, 1, 4)).last.payload == run(local(4, 1, 1)).last.payload);
}

TEST_CASE("local steps go on from a checkpoint", "[local]") {
  const scenarios::Scenario scenario = local(4, 6, 3);
  const auto first = prepared(scenario), second = prepared(scenario);
  scenarios::StepPlan plan;
  for (int i = 0; i < 2; ++i) REQUIRE(first->next(plan));
  std::stringstream checkpoint;
  first->save(checkpoint);
  second->load(checkpoint);
  while (second->next(plan)) {
  }
  CHECK(second->learning_hash() == run(scenario).hash);
}

}  // namespace gradwire::trainers
