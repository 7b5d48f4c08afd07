#pragma once
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/trainers/support.h"
#include "trainers/schedules/gossip/gossip_trainer.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// Workers that gossip on the digits, without a runner.
namespace gradwire::trainers::gossip {

inline scenarios::Scenario scenario_of(int workers, const std::string& graph = "ring",
                                       const std::string& method = "none") {
  scenarios::Scenario scenario = digits_scenario("mlp", method);
  scenario.workload.hidden = {16};
  scenario.workload.momentum = 0;
  scenario.workload.steps = 12;
  scenario.cluster.workers = workers;
  scenario.exchange.collective = "gossip";
  scenario.schedule.kind = "gossip";
  scenario.schedule.graph = graph;
  return scenario;
}

inline std::unique_ptr<scenarios::Trainer> prepared(const scenarios::Scenario& scenario,
                                                    int threads = 1) {
  auto trainer = make_trainer(scenario, {.threads = threads});
  trainer->use_profile(fixed_profile({trainer->parameters()}));
  return trainer;
}

inline const GossipModels& models_of(const scenarios::Trainer& trainer) {
  return dynamic_cast<const GossipTrainer&>(trainer).models();
}

inline double figure(const std::vector<scenarios::Figure>& figures, const std::string& name) {
  for (const scenarios::Figure& figure : figures)
    if (figure.name == name) return figure.value;
  FAIL("no figure " << name);
  return 0;
}

struct Outcome {
  std::vector<std::vector<float>> weights;  ///< [worker]
  std::vector<double> losses;               ///< [step]
  std::vector<double> distances;            ///< [step]
  std::vector<Bytes> payloads;              ///< [step]
  std::vector<scenarios::Figure> figures;
  scenarios::Evaluation evaluation;
  std::uint64_t hash = 0;
};

inline Outcome finish(scenarios::Trainer& trainer, int workers) {
  Outcome outcome;
  sim::Timeline nothing;
  for (scenarios::StepPlan plan; trainer.next(plan); plan = {}) {
    outcome.losses.push_back(plan.loss);
    outcome.payloads.push_back(plan.payload);
    const auto figures = trainer.on_step_ended(plan, {nothing, Seconds(0), {}});
    outcome.distances.push_back(figure(figures, "consensus_distance"));
  }
  outcome.evaluation = trainer.evaluate();
  outcome.figures = trainer.figures();
  for (int w = 0; w < workers; ++w) {
    const auto own = models_of(trainer).weights(w);
    outcome.weights.emplace_back(own.begin(), own.end());
  }
  outcome.hash = trainer.learning_hash();
  return outcome;
}

inline Outcome run(const scenarios::Scenario& scenario, int threads = 1) {
  const auto trainer = prepared(scenario, threads);
  return finish(*trainer, scenario.cluster.workers);
}

struct Lockstep {
  std::vector<float> weights;
  std::vector<double> losses;
  scenarios::Evaluation evaluation;
};

/// All workers take each step together, by a ring.
inline Lockstep in_lockstep(scenarios::Scenario scenario) {
  scenario.schedule = {};
  scenario.exchange.collective = "ring";
  const auto trainer = prepared(scenario);
  Lockstep result;
  for (scenarios::StepPlan plan; trainer->next(plan); plan = {}) result.losses.push_back(plan.loss);
  const auto own = dynamic_cast<const SynchronousTrainer&>(*trainer).weights();
  result.weights.assign(own.begin(), own.end());
  result.evaluation = trainer->evaluate();
  return result;
}

inline double most_apart(const std::vector<float>& a, const std::vector<float>& b) {
  REQUIRE(a.size() == b.size());
  double most = 0;
  for (std::size_t e = 0; e < a.size(); ++e)
    most = std::max(most, std::abs(static_cast<double>(a[e]) - static_cast<double>(b[e])));
  return most;
}

}  // namespace gradwire::trainers::gossip
