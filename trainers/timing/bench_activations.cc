#include "trainers/timing/bench_activations.h"

#include <algorithm>

#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/bench_parts.h"
#include "trainers/timing/heap.h"

namespace gradwire::trainers {
namespace {

constexpr std::size_t kSamples = 2000;
constexpr int kWarmUp = 8;  ///< steps, in which bounds are chosen for the first times

/// One worker's steps.
class Steps {
 public:
  Steps(const ActivationsBenchSettings& settings, const char* method) {
    scenarios::Scenario scenario;
    scenario.name = "bench";
    scenario.workload.model = settings.model;
    scenario.workload.batch_per_worker = settings.batch;
    scenario.workload.steps = 1 << 30;
    scenario.workload.learning_rate = 0.01;
    scenario.workload.momentum = 0.9;
    scenario.method.name = method;
    scenario.cluster.workers = 1;
    scenario.seed = settings.seed;
    auto data = std::make_unique<DataSet>(made_up_images(kSamples, settings.seed));
    auto model = make_model(settings.model, *data, "cpu");
    trainer_ = std::make_unique<SynchronousTrainer>(scenario, scenarios::TrainerOptions{},
                                                    std::move(data), std::move(model));
    scenarios::ComputeProfile nothing;  // virtual times are not asked for
    for (const BucketSlot& bucket : trainer_->layout().buckets())
      nothing.buckets.emplace_back().elements = bucket.count;
    trainer_->use_profile(nothing);
    run(kWarmUp);
  }

  void run(int steps) {
    for (int i = 0; i < steps; ++i) {
      trainer_->next(plan_);
      trainer_->on_submitted(plan_, ++graph_);
    }
  }
  double kept_bytes() const {
    for (const scenarios::Figure& figure : trainer_->figures())
      if (figure.name == "memory_activations_bytes") return figure.value;
    return 0;
  }

 private:
  std::unique_ptr<SynchronousTrainer> trainer_;
  scenarios::StepPlan plan_;
  sim::GraphId graph_ = 0;
};

ActivationsBenchResult bench_activations(const ActivationsBenchSettings& settings) {
  keep_heap();
  Steps plain(settings, "none"), packed(settings, "comet");
  const MachineLock alone;
  const auto time_steps = [&](Steps& steps) {
    return time_of([&] { steps.run(settings.steps); }).value() / settings.steps;
  };
  const PairedTimes times = time_pairs(
      settings.pairs, [&] { return time_steps(plain); }, [&] { return time_steps(packed); });
  const PairedRatios ratios = ratios_of(times);
  return {.ratio = ratios.median,
          .ratio_low = ratios.low,
          .ratio_high = ratios.high,
          .plain_step_s = spread_of(times.first).median,
          .packed_step_s = spread_of(times.second).median,
          .plain_bytes = plain.kept_bytes(),
          .packed_bytes = packed.kept_bytes()};
}

}  // namespace
}  // namespace gradwire::trainers

extern "C" __attribute__((visibility("default"))) void gradwire_bench_activations(
    const gradwire::trainers::ActivationsBenchSettings& settings,
    gradwire::trainers::ActivationsBenchResult& result) {
  result = gradwire::trainers::bench_activations(settings);
}
