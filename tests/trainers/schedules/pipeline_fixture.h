#pragma once
#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <vector>

#include "tests/trainers/support.h"
#include "trainers/schedules/pipeline/pipeline_trainer.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// Models cut into stages, without a runner.
namespace gradwire::trainers::pipelines {

/// Four layers on the digits (1,437 training samples).
inline scenarios::Scenario scenario_of(int workers, int micro_batches = 2,
                                       const std::string& order = "gpipe") {
  scenarios::Scenario scenario = digits_scenario("mlp");
  scenario.workload.hidden = {32, 24, 16};
  scenario.workload.activation = "tanh";
  scenario.workload.steps = 12;
  scenario.workload.micro_batches = micro_batches;
  scenario.cluster.workers = workers;
  scenario.schedule.kind = "pipeline";
  scenario.schedule.order = order;
  return scenario;
}

inline scenarios::Scenario aq_sgd(scenarios::Scenario scenario,
                                  std::map<std::string, std::string> options = {}) {
  scenario.method.name = "aq-sgd";
  scenario.method.options = std::move(options);
  return scenario;
}

/// So many samples, that batches of 16 end with epochs.
inline scenarios::Scenario on_clusters(scenarios::Scenario scenario, int samples = 160) {
  scenario.workload.data_set = "gaussian-clusters";
  scenario.workload.data_options = {{"samples", std::to_string(samples)}, {"held_out", "100"}};
  return scenario;
}

inline const Layout& layout_of(const scenarios::Trainer& trainer) {
  const auto* const pipeline = dynamic_cast<const PipelineTrainer*>(&trainer);
  return pipeline ? pipeline->layout() : dynamic_cast<const SynchronousTrainer&>(trainer).layout();
}

/// Frozen times: a millisecond forwards, and one backwards for each of `buckets`.
inline std::unique_ptr<scenarios::Trainer> prepared(const scenarios::Scenario& scenario,
                                                    const scenarios::TrainerOptions& options = {}) {
  auto trainer = make_trainer(scenario, options);
  std::vector<std::int64_t> elements;
  for (const BucketSlot& bucket : layout_of(*trainer).buckets()) elements.push_back(bucket.count);
  trainer->use_profile(fixed_profile(elements));
  return trainer;
}

inline const PipelineTrainer& pipeline_of(const scenarios::Trainer& trainer) {
  return dynamic_cast<const PipelineTrainer&>(trainer);
}

inline double figure(const std::vector<scenarios::Figure>& figures, const std::string& name) {
  for (const scenarios::Figure& figure : figures)
    if (figure.name == name) return figure.value;
  FAIL("no figure " << name);
  return 0;
}

/// By parameter: weights or gradients of layouts with other buckets in one order.
inline std::vector<float> in_forward_order(const Layout& layout, std::span<const float> flat) {
  std::vector<float> all;
  for (std::size_t p = 0; p < layout.tensors().size(); ++p) {
    const auto own = slice(flat, layout.tensors()[layout.tensor_of(static_cast<int>(p))]);
    all.insert(all.end(), own.begin(), own.end());
  }
  return all;
}

struct Outcome {
  std::vector<double> losses;             ///< [step]
  std::vector<std::vector<float>> means;  ///< [step], in forward order
  std::vector<float> weights;
  std::vector<Bytes> payloads;
  std::vector<double> activation_bytes, gradient_bytes;  ///< of pipelines
  std::vector<scenarios::Figure> figures;
  scenarios::Evaluation evaluation;
  std::uint64_t hash = 0;
};

inline Outcome finish(scenarios::Trainer& trainer) {
  Outcome outcome;
  const auto* const pipeline = dynamic_cast<const PipelineTrainer*>(&trainer);
  const auto* const plain = dynamic_cast<const SynchronousTrainer*>(&trainer);
  const Layout& layout = layout_of(trainer);
  const sim::Timeline nothing;
  for (scenarios::StepPlan plan; trainer.next(plan); plan = {}) {
    outcome.losses.push_back(plan.loss);
    outcome.payloads.push_back(plan.payload);
    outcome.means.push_back(in_forward_order(layout, pipeline ? pipeline->mean() : plain->mean()));
    const auto figures = trainer.on_step_ended(plan, {nothing, Seconds(0), {}});
    if (!pipeline) continue;
    outcome.activation_bytes.push_back(figure(figures, "activation_bytes"));
    outcome.gradient_bytes.push_back(figure(figures, "activation_gradient_bytes"));
  }
  outcome.weights = in_forward_order(layout, pipeline ? pipeline->weights() : plain->weights());
  outcome.evaluation = trainer.evaluate();
  outcome.figures = trainer.figures();
  outcome.hash = trainer.learning_hash();
  return outcome;
}

inline Outcome run(const scenarios::Scenario& scenario,
                   const scenarios::TrainerOptions& options = {}) {
  return finish(*prepared(scenario, options));
}

/// The same model, whole, on as many workers as there are replicas.
inline Outcome run_whole(scenarios::Scenario scenario, int replicas = 1) {
  scenario.schedule = {};
  scenario.cluster.workers = replicas;
  scenario.cluster.slowdown.clear();
  return run(scenario);
}

inline void check_equal(const Outcome& a, const Outcome& b) {
  CHECK(a.losses == b.losses);
  CHECK(a.means == b.means);
  CHECK(a.weights == b.weights);
  CHECK(a.evaluation.loss == b.evaluation.loss);
}

}  // namespace gradwire::trainers::pipelines
