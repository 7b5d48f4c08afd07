#include <catch2/catch.hpp>
#include <sstream>

#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous_trainer.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

std::unique_ptr<scenarios::Trainer> prepared(const scenarios::Scenario& scenario) {
  auto trainer = make_trainer(scenario, {});
  trainer->use_profile(fixed_profile({trainer->parameters()}));
  return trainer;
}

void run_steps(scenarios::Trainer& trainer, int steps) {
  scenarios::StepPlan plan;
  for (int i = 0; i < steps; ++i) REQUIRE(trainer.next(plan));
}

TEST_CASE("a resumed run ends with the hash of one that was never interrupted") {
  struct Case {
    const char* method;
    const char* optimizer;
    bool feedback;
  };
  for (const Case& c :
       {Case{"none", "sgd", false}, Case{"topk", "adam", true}, Case{"terngrad", "sgd", false},
        Case{"none", "amsgrad", false}, Case{"none", "adamax", false}, Case{"none", "lars", false},
        Case{"none", "lamb", false}}) {
    scenarios::Scenario scenario = digits_scenario("mlp", c.method);
    scenario.method.error_feedback = c.feedback;
    scenario.workload.optimizer = c.optimizer;
    scenario.workload.learning_rate = 0.002;
    scenario.workload.steps = 10;
    scenario.workload.rate_schedule.shape = RateSchedule::Shape::kCosine;
    const auto whole = prepared(scenario), first = prepared(scenario), second = prepared(scenario);
    run_steps(*whole, 10);
    run_steps(*first, 6);
    std::stringstream checkpoint;
    first->save(checkpoint);
    second->load(checkpoint);
    CHECK(second->learning_hash() == first->learning_hash());
    run_steps(*second, 4);
    scenarios::StepPlan plan;
    CHECK_FALSE(second->next(plan));
    INFO(c.method);
    CHECK(second->learning_hash() == whole->learning_hash());
    // Negative control: the same four steps on top of other weights end elsewhere.
    CHECK(first->learning_hash() != whole->learning_hash());
  }
}

TEST_CASE("damaged and foreign checkpoints are refused") {
  scenarios::Scenario scenario = digits_scenario("logistic");
  const auto trainer = prepared(scenario);
  run_steps(*trainer, 2);
  std::stringstream out;
  trainer->save(out);
  const std::string good = out.str();
  const auto refusal = [&](scenarios::Trainer& target, std::string bytes) {
    std::istringstream in(std::move(bytes));
    try {
      target.load(in);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  using Catch::Contains;
  CHECK_THAT(refusal(*trainer, good.substr(0, good.size() - 9)), Contains("ends too early"));
  std::string torn = good;
  torn[good.size() / 2] ^= 1;
  CHECK_THAT(refusal(*trainer, torn), Contains("check sum"));
  CHECK_THAT(refusal(*trainer, "something else entirely"), Contains("does not start as one"));
  std::string older = good;
  older[7] = '1';  // the last byte of the first word, which ends in the version
  CHECK_THAT(refusal(*trainer, older), Contains("version 1"));
  scenario.workload.optimizer = "adam";
  CHECK_THAT(refusal(*prepared(scenario), good), Contains("updated by sgd, not by adam"));
  scenario.workload.optimizer = "sgd";
  scenario.seed = 9;
  CHECK_THAT(refusal(*prepared(scenario), good), Contains("another seed or model"));
  CHECK_THAT(refusal(*trainer, good), Contains("no error"));
}

}  // namespace
}  // namespace gradwire::trainers
