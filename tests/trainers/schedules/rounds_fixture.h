#pragma once
#include <catch2/catch.hpp>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "tests/trainers/support.h"
#include "trainers/schedules/rounds/rounds_trainer.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/event_driver.h"

/// Federated rounds on the digits, without a runner.
namespace gradwire::trainers::rounds {

/// Digits on a small network, plain sgd, no schedule yet.
inline scenarios::Scenario base(int workers) {
  scenarios::Scenario scenario = digits_scenario("logistic");
  scenario.cluster.workers = workers;
  scenario.workload.momentum = 0;
  scenario.exchange.collective = "parameter-server";
  return scenario;
}

inline scenarios::Scenario in_rounds(int workers, int rounds, int local_steps) {
  scenarios::Scenario scenario = base(workers);
  scenario.schedule.kind = "rounds";
  scenario.schedule.local_steps = local_steps;
  scenario.workload.steps = rounds;
  scenario.workload.evaluate_every = rounds;
  return scenario;
}

inline std::unique_ptr<scenarios::Trainer> prepared(const scenarios::Scenario& scenario,
                                                    const scenarios::TrainerOptions& options) {
  auto trainer = make_trainer(scenario, options);
  trainer->use_profile(fixed_profile({trainer->parameters()}));
  return trainer;
}

inline std::unique_ptr<scenarios::Trainer> prepared(const scenarios::Scenario& scenario,
                                                    int threads = 1) {
  return prepared(scenario, scenarios::TrainerOptions{.threads = threads});
}

inline std::vector<float> weights_of(const scenarios::Trainer& trainer) {
  const auto* rounds = dynamic_cast<const RoundsTrainer*>(&trainer);
  const auto own =
      rounds ? rounds->weights() : dynamic_cast<const SynchronousTrainer&>(trainer).weights();
  return {own.begin(), own.end()};
}

struct Outcome {
  std::vector<float> weights;
  std::uint64_t hash = 0;
  std::vector<scenarios::StepReport> rows;
  std::vector<std::int32_t> states_of;  ///< clients whose codec remembers something
  std::size_t open = 0;
};

inline Outcome run(const scenarios::Scenario& scenario, int threads = 1,
                   const char* executor = "flow") {
  const auto trainer = prepared(scenario, threads);
  EventDriver driver(scenario.cluster.workers, {}, executor);
  driver.run(*trainer);
  return {weights_of(*trainer), trainer->learning_hash(), std::move(driver.rows),
          dynamic_cast<const RoundsTrainer&>(*trainer).clients().heard(), driver.open()};
}

inline std::vector<float> in_lockstep(scenarios::Scenario scenario, int steps) {
  scenario.schedule = {};
  scenario.workload.steps = steps;
  const auto trainer = prepared(scenario);
  scenarios::StepPlan plan;
  while (trainer->next(plan)) {
  }
  return weights_of(*trainer);
}

inline double figure(const scenarios::StepReport& row, const std::string& name) {
  for (const scenarios::Figure& figure : row.figures)
    if (figure.name == name) return figure.value;
  FAIL("no figure " << name);
  return 0;
}

struct Resumed {
  std::uint64_t saved_hash = 0, loaded_hash = 0;  ///< of the two trainers, when one loads
  std::uint64_t hash = 0;                         ///< of the second, at the end
  std::size_t open = 0;
};

/// Saves after that many instants; another trainer loads that and goes on.
inline Resumed resumed_after(int instants, const scenarios::Scenario& scenario, int threads,
                             int later_threads) {
  const auto first = prepared(scenario, threads), second = prepared(scenario, later_threads);
  EventDriver driver(scenario.cluster.workers);
  driver.start(*first);
  for (int i = 0; i < instants; ++i) REQUIRE(driver.step(*first));
  std::stringstream checkpoint;
  first->save(checkpoint);
  second->load(checkpoint);
  Resumed resumed{first->learning_hash(), second->learning_hash(), 0, 0};
  driver.finish(*second);
  resumed.hash = second->learning_hash();
  resumed.open = driver.open();
  return resumed;
}

/// Topk with error feedback.
inline void send_largest(scenarios::Scenario& scenario, const char* ratio) {
  scenario.method.name = "topk";
  scenario.method.error_feedback = true;
  scenario.method.options = {{"ratio", ratio}};
}

}  // namespace gradwire::trainers::rounds
