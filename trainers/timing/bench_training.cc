#include "trainers/timing/bench_training.h"

#include <ATen/Parallel.h>
#include <torch/optim/sgd.h>

#include <algorithm>

#include "sim/executors.h"
#include "trainers/passes/network.h"
#include "trainers/replays/client_sampling.h"
#include "trainers/schedules/asynchronous/asynchronous_trainer.h"
#include "trainers/schedules/rounds/rounds_trainer.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/bench_parts.h"
#include "trainers/timing/event_driver.h"
#include "trainers/timing/heap.h"
#include "trainers/timing/measure.h"

namespace gradwire::trainers {
namespace {

constexpr double kRate = 0.01, kMomentum = 0.9;
constexpr std::size_t kSamples = 2000;  ///< or two for each worker

DataSet images_for(const TrainingBenchSettings& settings) {
  return made_up_images(std::max(kSamples, 2 * static_cast<std::size_t>(settings.workers)),
                        settings.seed);
}

scenarios::Scenario scenario_of(const TrainingBenchSettings& settings) {
  scenarios::Scenario scenario;
  scenario.name = "bench";
  scenario.workload.model = "lenet5";
  scenario.workload.batch_per_worker = settings.batch_per_worker;
  scenario.workload.steps = 1 << 30;
  scenario.workload.learning_rate = kRate;
  scenario.workload.momentum = kMomentum;
  scenario.cluster.workers = settings.workers;
  scenario.seed = settings.seed;
  return scenario;
}

/// The loop that a user would write without Gradwire.
class BareLoop {
 public:
  explicit BareLoop(const TrainingBenchSettings& settings, double momentum = kMomentum)
      : settings_(settings),
        data_(images_for(settings)),
        network_(make_network("lenet5", data_)),
        sampler_(data_.train, settings.workers, settings.batch_per_worker, settings.seed),
        layout_(network_->parameters(), Bytes(25'000'000)),
        weights_(static_cast<std::size_t>(layout_.elements())),
        optimizer_(make_parameters(), torch::optim::SGDOptions(kRate).momentum(momentum)) {}

  void step() {
    for (int worker = 0; worker < settings_.workers; ++worker) pass(worker, step_);
    for (at::Tensor& parameter : parameters_) parameter.mutable_grad().div_(settings_.workers);
    optimizer_.step();
    optimizer_.zero_grad();
    ++step_;
  }

  /// Of one worker after the other.
  void update() {
    pass(static_cast<int>(step_ % settings_.workers), step_ / settings_.workers);
    optimizer_.step();
    optimizer_.zero_grad();
    ++step_;
  }

  /// `sample` workers, drawn as clients are, train by themselves for `local_steps` each, then their
  /// weights are averaged.
  void round(int local_steps, int sample) {
    const at::NoGradGuard no_gradients;
    std::vector<at::Tensor> model, sum;
    for (const at::Tensor& parameter : parameters_) {
      model.push_back(parameter.detach().clone());
      sum.push_back(at::zeros_like(parameter));
    }
    for (const int worker : sample_clients(settings_.workers, sample, settings_.seed, step_)) {
      for (std::size_t p = 0; p < model.size(); ++p) parameters_[p].copy_(model[p]);
      for (int h = 0; h < local_steps; ++h) {
        const at::AutoGradMode gradients(true);
        pass(worker, step_ * local_steps + h);
        optimizer_.step();
        optimizer_.zero_grad();
      }
      for (std::size_t p = 0; p < sum.size(); ++p) sum[p].add_(parameters_[p], 1.0 / sample);
    }
    for (std::size_t p = 0; p < sum.size(); ++p) parameters_[p].copy_(sum[p]);
    ++step_;
  }

 private:
  void pass(int worker, std::int64_t draw) {
    gather(data_, sampler_.batch(worker, draw), batch_);
    const at::Tensor input = at::from_blob(
        batch_.inputs.data(), {batch_.count, 1, data_.height, data_.width}, at::kFloat);
    const at::Tensor targets = at::from_blob(batch_.targets.data(), {batch_.count}, at::kLong);
    const at::Tensor loss =
        at::cross_entropy_loss(network_->forward(parameters_, input, {}), targets);
    loss.backward();
    loss_ = loss.item<float>();
  }

  std::vector<at::Tensor> make_parameters() {
    initialise(network_->parameters(), layout_, settings_.seed, weights_);
    for (const Parameter& parameter : network_->parameters()) {
      const TensorSlot& slot =
          layout_.tensors()[layout_.tensor_of(static_cast<int>(parameters_.size()))];
      parameters_.push_back(at::from_blob(weights_.data() + slot.first, parameter.shape, at::kFloat)
                                .clone()
                                .set_requires_grad(true));
    }
    return parameters_;
  }

  TrainingBenchSettings settings_;
  DataSet data_;
  std::unique_ptr<Network> network_;
  Sampler sampler_;
  Layout layout_;
  std::vector<float> weights_;
  std::vector<at::Tensor> parameters_;
  torch::optim::SGD optimizer_;
  Batch batch_;
  std::int64_t step_ = 0;
  double loss_ = 0;
};

/// The same training through the trainer, with its graphs run by the flow executor.
class SimulatedLoop {
 public:
  explicit SimulatedLoop(const TrainingBenchSettings& settings)
      : executor_(
            sim::make_executor("flow", sim::Cluster::star(settings.workers, sim::LinkSpec{}), {})) {
    auto data = std::make_unique<DataSet>(images_for(settings));
    auto model = make_model("lenet5", *data, "cpu");
    trainer_ = std::make_unique<SynchronousTrainer>(
        scenario_of(settings), scenarios::TrainerOptions{}, std::move(data), std::move(model));
    trainer_->prepare();
  }

  void step() {
    trainer_->next(plan_);
    const sim::GraphId graph =
        executor_->submit({plan_.graph, plan_.bytes, plan_.seconds, Seconds(0), plan_.after});
    trainer_->on_submitted(plan_, graph);
    sim::run_to_end(*executor_, graph);
    executor_->forget(graph);
  }
  std::int64_t parameters() const { return trainer_->parameters(); }

 private:
  std::unique_ptr<sim::Executor> executor_;
  std::unique_ptr<SynchronousTrainer> trainer_;
  scenarios::StepPlan plan_;
};

/// A schedule of events, whose steps are rows, with its graphs run by the flow executor.
template <typename EventTrainer>
class SimulatedEvents {
 public:
  SimulatedEvents(const TrainingBenchSettings& settings, const scenarios::ScheduleChoice& schedule,
                  double momentum, const scenarios::Method& method = {})
      : driver_(settings.workers) {
    scenarios::Scenario scenario = scenario_of(settings);
    scenario.workload.momentum = momentum;
    scenario.workload.evaluate_every = scenario.workload.steps;
    scenario.exchange.collective = "parameter-server";
    scenario.schedule = schedule;
    scenario.method = method;
    auto data = std::make_unique<DataSet>(images_for(settings));
    auto model = make_model("lenet5", *data, "cpu");
    trainer_ = std::make_unique<EventTrainer>(scenario, scenarios::TrainerOptions{},
                                              std::move(data), std::move(model));
    trainer_->prepare();
    driver_.start(*trainer_);
  }

  void step() {
    const std::size_t before = driver_.rows.size();
    while (driver_.rows.size() == before) driver_.step(*trainer_);
  }
  std::int64_t parameters() const { return trainer_->parameters(); }

 private:
  EventDriver driver_;
  std::unique_ptr<EventTrainer> trainer_;
};

template <typename Loop>
double time_steps(Loop& loop, int steps) {
  return time_of([&] {
           for (int i = 0; i < steps; ++i) loop.step();
         }).value() /
         steps;
}

template <typename Bare, typename Simulated>
TrainingBenchResult compare_loops(int pairs, Bare&& time_bare, Simulated&& time_simulated) {
  const PairedTimes times = time_pairs(pairs, time_bare, time_simulated);
  const PairedRatios ratios = ratios_of(times);
  TrainingBenchResult result;
  result.ratio = ratios.median;
  result.ratio_low = ratios.low;
  result.ratio_high = ratios.high;
  result.bare_step_s = spread_of(times.first).median;
  result.simulated_step_s = spread_of(times.second).median;
  result.pairs = pairs;
  return result;
}

}  // namespace

TrainingBenchResult bench_training(const TrainingBenchSettings& settings) {
  keep_heap();  // for both loops: runs have it too
  at::set_num_threads(1);
  BareLoop bare(settings);
  SimulatedLoop simulated(settings);
  const MachineLock alone;
  time_steps(bare, 2);
  time_steps(simulated, 2);
  TrainingBenchResult result = compare_loops(
      settings.pairs, [&] { return time_steps(bare, settings.steps); },
      [&] { return time_steps(simulated, settings.steps); });
  result.parameters = simulated.parameters();
  return result;
}

TrainingBenchResult bench_rounds(const RoundsBenchSettings& settings) {
  keep_heap();
  at::set_num_threads(1);
  const TrainingBenchSettings shape{
      .seed = settings.seed, .workers = settings.clients, .batch_per_worker = settings.batch};
  BareLoop bare(shape, 0);
  scenarios::ScheduleChoice schedule;
  schedule.kind = "rounds";
  schedule.local_steps = settings.local_steps;
  schedule.sample = settings.sample;
  scenarios::Method method;
  if (settings.compressed) {
    method.name = "topk";
    method.options = {{"ratio", "0.01"}};
    method.error_feedback = true;
  }
  SimulatedEvents<RoundsTrainer> simulated(shape, schedule, 0, method);
  const int sample = settings.sample > 0 ? settings.sample : settings.clients;
  const MachineLock alone;
  bare.round(settings.local_steps, sample);
  time_steps(simulated, 1);
  TrainingBenchResult result = compare_loops(
      settings.pairs,
      [&] { return time_of([&] { bare.round(settings.local_steps, sample); }).value(); },
      [&] { return time_steps(simulated, 1); });
  result.parameters = simulated.parameters();
  return result;
}

TrainingBenchResult bench_asynchronous(const TrainingBenchSettings& settings) {
  keep_heap();
  at::set_num_threads(1);
  BareLoop bare(settings);
  SimulatedEvents<AsynchronousTrainer> simulated(settings, {.kind = "asynchronous"}, kMomentum);
  const MachineLock alone;
  bare.update();
  // As many gradients as are computed side by side, so that each half computes what it uses.
  const int updates = settings.workers * settings.steps;
  time_steps(simulated, updates);
  TrainingBenchResult result = compare_loops(
      settings.pairs,
      [&] {
        return time_of([&] {
                 for (int i = 0; i < updates; ++i) bare.update();
               }).value() /
               updates;
      },
      [&] { return time_steps(simulated, updates); });
  result.parameters = simulated.parameters();
  return result;
}

}  // namespace gradwire::trainers

extern "C" __attribute__((visibility("default"))) void gradwire_bench_training(
    const gradwire::trainers::TrainingBenchSettings& settings,
    gradwire::trainers::TrainingBenchResult& result) {
  result = gradwire::trainers::bench_training(settings);
}

extern "C" __attribute__((visibility("default"))) void gradwire_bench_rounds(
    const gradwire::trainers::RoundsBenchSettings& settings,
    gradwire::trainers::TrainingBenchResult& result) {
  result = gradwire::trainers::bench_rounds(settings);
}

extern "C" __attribute__((visibility("default"))) void gradwire_bench_asynchronous(
    const gradwire::trainers::TrainingBenchSettings& settings,
    gradwire::trainers::TrainingBenchResult& result) {
  result = gradwire::trainers::bench_asynchronous(settings);
}
