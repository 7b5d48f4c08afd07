#include <catch2/catch.hpp>
#include <cmath>
#include <iostream>

#include "scenarios/methods.h"
#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// Small tasks on generated data, whose dense results are known from a prototype.
namespace gradwire::trainers {
namespace {

struct Outcome {
  double accuracy;  ///< percent, held out
  double loss;      ///< mean training loss of the last 40 steps
  scenarios::Evaluation held_out;
};

Outcome train(const scenarios::Scenario& scenario) {
  const auto trainer = make_trainer(scenario, {2, true});
  trainer->use_profile(fixed_profile({trainer->parameters()}));
  scenarios::StepPlan plan;
  double loss = 0;
  while (trainer->next(plan))
    if (plan.step >= scenario.workload.steps - 40) loss += plan.loss / 40;
  const scenarios::Evaluation held_out = trainer->evaluate();
  std::cout << scenario.workload.model << " on " << scenario.workload.data_set << ", seed "
            << scenario.seed << ": " << 100 * held_out.accuracy << " %, loss " << loss
            << ", held out " << held_out.loss << "\n";
  return {100 * held_out.accuracy, loss, held_out};
}

scenarios::Scenario task(const std::string& model, const std::string& data_set) {
  scenarios::Scenario scenario = digits_scenario(model);
  scenario.workload.data_set = data_set;
  scenario.workload.batch_per_worker = 32;
  return scenario;
}

TEST_CASE("gaussian-clusters: 64-256-128-10 with 4 workers ends where a prototype does") {
  scenarios::Scenario scenario = task("mlp", "gaussian-clusters");
  scenario.workload.hidden = {256, 128};
  scenario.workload.steps = 1240;  // 1240 * 4 * 32 = 19.84 epochs of 8000
  double mean = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5}) {
    scenario.seed = seed;
    scenario.workload.data_seed = seed;
    const Outcome outcome = train(scenario);
    mean += outcome.accuracy / 5;
    CHECK(outcome.loss < 0.01);  // the prototype: 0.0015
  }
  // The prototype's three seeds: 93.4, 93.7, 93.9 %. Accuracy depends on how near the drawn centres
  // lie: seeds 1 to 13 of the data give 92.9 to 95.5 %, 94.05 % on average.
  CHECK(mean > 92.5);
  CHECK(mean < 95);
}

TEST_CASE("gaussian-clusters: what a run learns varies with its seed, and with the data's") {
  scenarios::Scenario scenario = task("mlp", "gaussian-clusters");
  scenario.workload.hidden = {64};
  scenario.workload.data_options = {{"samples", "4000"}};
  scenario.workload.steps = 30;
  const auto loss = [&](std::uint64_t seed, std::optional<std::uint64_t> data_seed) {
    scenario.seed = seed;
    scenario.workload.data_seed = data_seed;
    return train(scenario).held_out.loss;
  };
  const double once = loss(1, {});
  CHECK(loss(1, {}) == once);
  CHECK(loss(1, 1) == once);
  CHECK(loss(2, {}) != once);
  CHECK(loss(1, 2) != once);
}

TEST_CASE("sparse-linear: binary logistic regression with one weight a feature") {
  scenarios::Scenario scenario = task("logistic", "sparse-linear");
  scenario.workload.bias = false;
  scenario.workload.momentum = 0;
  scenario.workload.learning_rate = 10;
  scenario.workload.steps = 300;
  CHECK(make_trainer(scenario, {})->parameters() == 16384);
  double mean = 0;
  for (const std::uint64_t seed : {1, 2}) {
    scenario.workload.data_seed = seed;
    mean += train(scenario).accuracy / 2;
  }
  // The prototype, 600 steps at a rate that falls from 20 to 5: 85.2 and 90.7 % on two draws.
  CHECK(mean > 80);
  CHECK(mean < 96);
}

TEST_CASE("glyph and markov are learnt by their models") {
  scenarios::Scenario glyph = task("mlp", "glyph");
  glyph.workload.hidden = {128, 64};
  glyph.workload.steps = 150;
  glyph.workload.learning_rate = 0.02;
  CHECK(train(glyph).accuracy > 95);
  scenarios::Scenario markov = task("char-lstm", "markov");
  markov.workload.embedding = 64;
  markov.workload.hidden = {96};
  markov.workload.optimizer = "adam";
  markov.workload.learning_rate = 0.01;
  markov.workload.batch_per_worker = 8;
  markov.workload.steps = 150;
  // Without context the perplexity is about 48, the source's own is 5.2.
  CHECK(std::exp(train(markov).held_out.loss) < 20);
}

}  // namespace
}  // namespace gradwire::trainers
