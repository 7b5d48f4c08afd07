#include <dlfcn.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "tests/trainers/support.h"
#include "trainers/timing/bench_training.h"

namespace gradwire::trainers {
namespace {

/// Loads the module as `gradwire` does. It stays loaded: exceptions' code lies in it.
void* symbol_of(const char* name, const char* path = GRADWIRE_TRAINERS_MODULE) {
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  INFO((module ? "" : dlerror()));
  REQUIRE(module != nullptr);
  void* symbol = dlsym(module, name);
  REQUIRE(symbol != nullptr);
  return symbol;
}

scenarios::TrainerFactory factory() {
  return reinterpret_cast<scenarios::TrainerFactory>(symbol_of(scenarios::kTrainerFactorySymbol));
}

TEST_CASE("a program without LibTorch trains through the module") {
  scenarios::Scenario scenario = digits_scenario("logistic", "fp16");
  scenario.workload.steps = 30;
  const std::unique_ptr<scenarios::Trainer> trainer(factory()(scenario, {}));
  CHECK(trainer->parameters() == 650);
  CHECK(trainer->prepare().repetitions > 0);
  scenarios::StepPlan plan;
  int steps = 0;
  while (trainer->next(plan)) ++steps;
  CHECK(steps == 30);
  CHECK(trainer->evaluate().accuracy > 0.8);
}

TEST_CASE("errors cross the module's border as gradwire::Error, with their kind") {
  scenarios::Scenario scenario = digits_scenario("lenet5");
  scenario.workload.data_set = "mnist";
  scenario.workload.data_path = "/nowhere/at/all";
  try {
    factory()(scenario, {});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::kFailure);
    CHECK_THAT(error.what(), Catch::Contains("/nowhere/at/all"));
  }
  scenario = digits_scenario("mlp", "topkk");
  CHECK_THROWS_AS(factory()(scenario, {}), Error);
  scenario = digits_scenario("mlp");
  scenario.cluster.device = "no-such-profile";
  const std::unique_ptr<scenarios::Trainer> trainer(factory()(scenario, {}));
  CHECK_THROWS_AS(trainer->prepare(), Error);
}

TEST_CASE("the benchmark runs through its module") {
  const auto bench = reinterpret_cast<TrainingBench>(
      symbol_of(kTrainingBenchSymbol, GRADWIRE_BENCH_TRAINING_MODULE));
  TrainingBenchSettings settings;
  settings.batch_per_worker = 2;
  settings.steps = 1;
  settings.pairs = 2;
  TrainingBenchResult result;
  bench(settings, result);
  CHECK(result.pairs == 2);
  CHECK(result.parameters == 431080);
  CHECK(result.ratio > 0);
  CHECK(result.ratio_low <= result.ratio_high);
}

}  // namespace
}  // namespace gradwire::trainers
