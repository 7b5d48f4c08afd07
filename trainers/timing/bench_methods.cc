#include "trainers/timing/bench_methods.h"

#include <ATen/Parallel.h>
#include <ATen/ops/from_blob.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>

#include "base/options.h"
#include "base/philox.h"
#include "scenarios/methods.h"
#include "trainers/passes/network.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/bench_parts.h"
#include "trainers/timing/heap.h"
#include "trainers/timing/measure.h"
#include "trainers/timing/method_twins.h"

namespace gradwire::trainers {
namespace {

/// A method as the benchmark runs it, and the least ratio to LibTorch: where elements are selected,
/// or coded in signs, three values or a few bits.
struct MethodCase {
  const char* name;
  double bar = 0;
  const char* collective = "ring";
  const char* optimizer = "sgd";
  std::map<std::string, std::string> options = {};
  double momentum = 0.9;
};

const std::vector<MethodCase>& method_cases() {
  static const std::vector<MethodCase> cases = {
      {"dgc",
       3,
       "ring",
       "sgd",
       {{"ratio", "0.001"}, {"warmup_epochs", "0"}, {"clip", "2.8284271"}}},
      {"terngrad", 3},
      {"qsgd", 3},
      {"qsvrg", 3, "ring", "sgd", {}, 0},
      {"natural", 3, "parameter-server", "sgd", {{"down", "same"}}},
      {"dither", 3, "parameter-server", "sgd", {{"down", "same"}}},
      {"fastsgd", 3, "parameter-server"},
      {"cgx", 3},
      {"comp-ams", 3, "parameter-server", "amsgrad", {}, 0},
      {"qcmd", 3, "parameter-server", "adagrad-cmd", {}, 0},
      {"qrda", 3, "parameter-server", "adagrad-rda", {}, 0},
      {"mixed-precision", 0},
      {"qnn", 3, "ring", "sgd", {{"gradients", "log"}}},
      {"batch-augmentation", 0, "ring", "sgd", {{"copies", "4"}}},
      {"rigl", 0}};
  return cases;
}

constexpr std::int64_t kPixels = 784, kWidth = 2800, kClasses = 10;

std::vector<Parameter> parameters_of_bench() {
  return {{"fc1.weight", {kWidth, kPixels}},  {"fc1.bias", {kWidth}},
          {"fc2.weight", {kWidth, kWidth}},   {"fc2.bias", {kWidth}},
          {"fc3.weight", {kClasses, kWidth}}, {"fc3.bias", {kClasses}}};
}

/// Sums of four uniform numbers, of deviation 0.01 or so.
std::vector<float> drawn_gradient(std::uint64_t seed) {
  std::vector<float> values(static_cast<std::size_t>(kMethodBenchElements));
  const RandomStream stream{seed, 0, 0, 0};
  for (std::size_t e = 0; e < values.size(); ++e) {
    float sum = -2;
    for (std::size_t i = 0; i < 4; ++i) sum += uniform(stream, 4 * e + i);
    values[e] = 0.017f * sum;
  }
  return values;
}

/// A worker's: the same numbers, each at another place.
void draw_gradient(std::uint64_t seed, std::uint32_t worker, std::span<float> values) {
  static const std::vector<float> all = drawn_gradient(seed);
  const std::size_t first = std::size_t{1'234'567} * worker % all.size();
  const auto middle = std::ranges::copy(std::span(all).subspan(first), values.begin()).out;
  std::ranges::copy(std::span(all).first(first), middle);
}

/// Stays as it was drawn.
class DrawnGradients final : public Gradients {
 public:
  DrawnGradients(const Layout& layout, std::uint64_t seed, std::uint32_t worker)
      : values_(static_cast<std::size_t>(layout.elements())) {
    draw_gradient(seed, worker, values_);
    for (const TensorSlot& slot : layout.tensors())
      tensors_.push_back(slice(std::as_const(values_), slot));
  }

 private:
  std::vector<float> values_;
};

/// Passes that take no time.
class DrawnReplica final : public Replica {
 public:
  DrawnReplica(const Layout& layout, std::uint64_t seed) : layout_(layout), seed_(seed) {}
  std::unique_ptr<Gradients> make_gradients() const override {
    return std::make_unique<DrawnGradients>(layout_, seed_, drawn_++);
  }
  double train_pass(const Batch&, const PassOptions&, Gradients&) override { return 1; }
  PassTimes time_pass(const Batch&, const PassOptions&) override {
    return {.ready = std::vector<Seconds>(layout_.tensors().size(), Seconds(1e-6)),
            .backward = Seconds(1e-6)};
  }
  Score evaluate(const Batch&, const PassOptions&) override { return {.count = 1}; }

 private:
  const Layout& layout_;
  std::uint64_t seed_;
  mutable std::uint32_t drawn_ = 0;
};

class DrawnModel final : public Model {
 public:
  explicit DrawnModel(std::uint64_t seed) : seed_(seed), parameters_(parameters_of_bench()) {}
  std::span<const Parameter> parameters() const override { return parameters_; }
  std::vector<float> initial_statistics() const override { return {}; }
  std::unique_ptr<Replica> make_replica(const Layout& layout, std::span<float>,
                                        std::span<float>) const override {
    return std::make_unique<DrawnReplica>(layout, seed_);
  }
  std::string device_name() const override { return "drawn gradients"; }

 private:
  std::uint64_t seed_;
  std::vector<Parameter> parameters_;
};

constexpr std::size_t kSamples = 1000;

scenarios::Scenario scenario_of(const MethodCase& method, const MethodBenchSettings& settings) {
  scenarios::Scenario scenario;
  scenario.name = "bench";
  scenario.workload.batch_per_worker = settings.batch_per_worker;
  scenario.workload.steps = 1 << 30;
  scenario.workload.optimizer = method.optimizer;
  scenario.workload.learning_rate = 1e-6;  // so that weights stay finite under equal gradients
  scenario.workload.momentum = method.momentum;
  scenario.method.name = method.name;
  scenario.method.options = method.options;
  const methods::MethodRow* const row = methods::find_method(method.name);
  scenario.method.error_feedback = row && scenarios::feeds_back_by_default(*row);
  scenario.exchange.collective = method.collective;
  scenario.cluster.workers = settings.workers;
  scenario.seed = settings.seed;
  return scenario;
}

/// Steps of a trainer whose passes take no time.
class OwnWork {
 public:
  OwnWork(const MethodCase& method, const MethodBenchSettings& settings)
      : trainer_(scenario_of(method, settings), scenarios::TrainerOptions{},
                 std::make_unique<DataSet>(made_up_images(kSamples, settings.seed)),
                 std::make_unique<DrawnModel>(settings.seed)) {
    scenarios::ComputeProfile nothing;  // virtual times are not asked for
    for (const BucketSlot& bucket : trainer_.layout().buckets())
      nothing.buckets.emplace_back().elements = bucket.count;
    trainer_.use_profile(nothing);
  }
  void step() {
    trainer_.next(plan_);
    trainer_.on_submitted(plan_, ++graph_);
  }

 private:
  SynchronousTrainer trainer_;
  scenarios::StepPlan plan_;
  sim::GraphId graph_ = 0;
};

/// The same gradients as LibTorch sees them.
TwinGradients twin_gradients(const MethodBenchSettings& settings) {
  const Layout layout(parameters_of_bench(), Bytes(25'000'000));
  TwinGradients all;
  std::vector<float> values(static_cast<std::size_t>(layout.elements()));
  for (int w = 0; w < settings.workers; ++w) {
    draw_gradient(settings.seed, static_cast<std::uint32_t>(w), values);
    all.emplace_back();
    for (const TensorSlot& slot : layout.tensors())
      all.back().push_back(
          at::from_blob(values.data() + slot.first, slot.shape, at::kFloat).clone());
  }
  return all;
}

/// Of one worker: an mlp of the same tensors.
double pass_seconds(const MethodBenchSettings& settings) {
  const DataSet data = made_up_images(kSamples, settings.seed);
  ModelChoice choice("mlp");
  choice.hidden = {kWidth, kWidth};
  const auto model = make_model(choice, data, "cpu");
  const Layout layout(model->parameters(), Bytes(25'000'000));
  GRADWIRE_ASSERT(layout.elements() == kMethodBenchElements);
  std::vector<float> weights(static_cast<std::size_t>(layout.elements())), statistics;
  initialise(model->parameters(), layout, settings.seed, weights);
  const auto replica = model->make_replica(layout, weights, statistics);
  const auto gradients = replica->make_gradients();
  Batch batch;
  gather(data, std::span(data.train).first(static_cast<std::size_t>(settings.batch_per_worker)),
         batch);
  return median_time(5, [&] { replica->train_pass(batch, {}, *gradients); }).value();
}

MethodBenchResult bench_one(const MethodCase& method, const MethodBenchSettings& settings,
                            double pass_s) {
  const c10::InferenceMode inference;
  OwnWork own(method, settings);
  const auto twin = make_method_twin(method.name, twin_gradients(settings));
  GRADWIRE_ASSERT(twin != nullptr);
  const auto time_own = [&] { return time_of([&] { own.step(); }).value(); };
  const auto time_twin = [&] { return time_of([&] { twin->step(); }).value(); };
  time_own();
  time_twin();
  const PairedTimes times = time_pairs(settings.pairs, time_twin, time_own);
  std::vector<double> ratios;
  for (std::size_t pair = 0; pair < times.first.size(); ++pair)
    ratios.push_back(times.first[pair] / times.second[pair]);
  return {.method = method.name,
          .own_s = spread_of(times.second).median,
          .pass_s = pass_s * settings.workers,
          .torch_s = spread_of(times.first).median,
          .ratio = spread_of(ratios).median,
          .bar = method.bar};
}

void require_known_methods(const std::vector<std::string>& names) {
  const std::vector<std::string> all = benchmarked_methods();
  for (const std::string& name : names) {
    if (std::ranges::find(all, name) != all.end()) continue;
    const std::string nearest = nearest_name(name, all);
    throw Error(ErrorKind::kUsage, "measure the method", name, "there is none of that name",
                nearest.empty() ? "see gradwire methods" : "did you mean " + nearest + "?");
  }
}

}  // namespace

std::vector<std::string> benchmarked_methods() {
  std::vector<std::string> names;
  for (const MethodCase& method : method_cases()) names.emplace_back(method.name);
  return names;
}

std::vector<MethodBenchResult> bench_methods(const MethodBenchSettings& settings) {
  require_known_methods(settings.methods);
  keep_heap();
  at::set_num_threads(1);
  const MachineLock alone;
  const double pass_s = pass_seconds(settings);
  std::vector<MethodBenchResult> results;
  for (const MethodCase& method : method_cases())
    if (settings.methods.empty() ||
        std::ranges::find(settings.methods, method.name) != settings.methods.end())
      results.push_back(bench_one(method, settings, pass_s));
  return results;
}

}  // namespace gradwire::trainers

extern "C" __attribute__((visibility("default"))) void gradwire_bench_methods(
    const gradwire::trainers::MethodBenchSettings& settings,
    std::vector<gradwire::trainers::MethodBenchResult>& results) {
  results = gradwire::trainers::bench_methods(settings);
}
