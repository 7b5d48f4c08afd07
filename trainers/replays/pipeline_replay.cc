#include "trainers/replays/pipeline_replay.h"

#include "sim/graph/pipeline.h"
#include "trainers/replays/pipeline_figures.h"
#include "trainers/replays/repeated_step.h"

namespace gradwire::trainers {
namespace {

using scenarios::Figure;
using scenarios::StepOutcome;
using scenarios::StepPlan;

/// None where nothing is encoded.
std::optional<sim::PipelineCoding> coding_of(Seconds encode, Seconds decode) {
  if (encode == Seconds(0) && decode == Seconds(0)) return std::nullopt;
  return sim::PipelineCoding{encode, decode};
}

sim::PipelinePlan plan_of(const scenarios::Scenario& scenario) {
  const scenarios::Workload::Pipeline& pipeline = scenario.workload.pipeline;
  sim::PipelinePlan plan;
  plan.schedule = pipeline.schedule == "1f1b" ? sim::PipelineSchedule::kOneForwardOneBackward
                                              : sim::PipelineSchedule::kGpipe;
  plan.micro_batches = pipeline.micro_batches;
  const auto stages = static_cast<std::size_t>(scenario.cluster.workers);
  const std::vector<double>& slowdown = scenario.cluster.slowdown;
  for (std::size_t s = 0; s < stages; ++s) {
    const auto& stage = pipeline.stages.empty() ? pipeline.stage : pipeline.stages[s];
    const double factor = slowdown[s];
    plan.forward.push_back(stage.forward * factor);
    plan.backward.push_back(stage.backward * factor);
    plan.update.push_back(stage.update * factor);
    if (s + 1 == stages) continue;
    plan.boundary.push_back(stage.activations);
    plan.gradients.push_back(stage.gradients.value_or(stage.activations));
    plan.coding.push_back(coding_of(stage.encode * factor, stage.decode * slowdown[s + 1]));
    plan.gradient_coding.push_back(
        coding_of(stage.encode_gradients * slowdown[s + 1], stage.decode_gradients * factor));
  }
  return plan;
}

class PipelineReplay final : public RepeatedStep {
 public:
  PipelineReplay(StepPlan plan, std::int64_t repetitions, Chain chain, sim::PipelineStep step)
      : RepeatedStep(std::move(plan), repetitions, std::move(chain)), step_(std::move(step)) {
    set_given_compute(Seconds(0));  // of each stage: no closed form sees it
  }

  std::vector<Figure> on_step_ended(const StepPlan&, const StepOutcome& outcome) override {
    return pipeline_figures(*step_.graph, outcome.timeline, static_cast<int>(step_.first.size()));
  }

 private:
  sim::PipelineStep step_;
};

}  // namespace

std::unique_ptr<scenarios::Trainer> make_pipeline_replay(const scenarios::Scenario& scenario) {
  sim::PipelineStep step = sim::build_pipeline(plan_of(scenario));
  StepPlan plan;
  plan.graph = step.graph;
  plan.bytes = step.bytes;
  plan.seconds = step.seconds;
  for (const Bytes bytes : step.bytes) plan.payload += bytes;
  plan.dense_payload = plan.payload;
  Chain chain;
  for (std::size_t s = 0; s < step.first.size(); ++s)
    chain.emplace_back(step.update[s], step.first[s]);
  return std::make_unique<PipelineReplay>(std::move(plan), scenario.workload.repetitions,
                                          std::move(chain), std::move(step));
}

}  // namespace gradwire::trainers
