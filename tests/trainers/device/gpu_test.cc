#include <catch2/catch.hpp>
#include <cstring>
#include <iostream>
#include <sstream>

#include "tests/skip.h"
#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/model_profile.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

/// Loss of each step; skips the case where there is no GPU.
std::vector<double> losses_on(const std::string& device, const std::string& method) {
  scenarios::Scenario scenario = digits_scenario("lenet5", method);
  scenario.cluster.device = device;
  scenario.workload.steps = 20;
  std::vector<double> losses;
  try {
    const auto trainer = make_trainer(scenario, {});
    const scenarios::ComputeProfile& profile = trainer->prepare();
    std::cout << method << " on " << profile.device << ": forward "
              << format_duration(profile.forward) << ", backward "
              << format_duration(profile.buckets[0].backward) << ", encode "
              << format_duration(profile.buckets[0].encode) << "\n";
    scenarios::StepPlan plan;
    while (trainer->next(plan)) losses.push_back(plan.loss);
  } catch (const TrainerError& error) {
    if (device == "cpu" || error.kind() != ErrorKind::kCapability) throw;
    testing::skip(error.what());
  }
  return losses;
}

// The GPU comes first: its libraries must be loaded before any training on the CPU.
TEST_CASE("a GPU learns what the CPU learns", "[gpu][needs-gpu]") {
  const std::vector<double> gpu = losses_on("cuda", "none");
  const std::vector<double> ternary = losses_on("cuda", "terngrad");
  const std::vector<double> cpu = losses_on("cpu", "none");
  // Equal weights and batches at step 0; rounding parts them slowly.
  CHECK(gpu.front() == Approx(cpu.front()).epsilon(1e-4));
  CHECK(gpu.back() == Approx(cpu.back()).epsilon(0.05));
  CHECK(ternary.back() < ternary.front());
}

/// Whole steps on the GPU, or passes alone with host codecs and optimiser; skips the case without a
/// GPU.
std::unique_ptr<SynchronousTrainer> trainer_on_gpu(const scenarios::Scenario& scenario,
                                                   bool keep_gradients) {
  try {
    auto data = std::make_unique<DataSet>(load_data_set("digits", "", scenario.seed));
    auto model = make_model(scenario.workload.model, *data, "cuda", keep_gradients);
    auto trainer = std::make_unique<SynchronousTrainer>(scenario, scenarios::TrainerOptions{},
                                                        std::move(data), std::move(model));
    trainer->prepare();
    return trainer;
  } catch (const TrainerError& error) {
    if (error.kind() != ErrorKind::kCapability) throw;
    testing::skip(error.what());
  }
}

scenarios::Scenario gpu_scenario(const char* method, bool error_feedback, const char* collective) {
  scenarios::Scenario scenario = digits_scenario("mlp", method);
  scenario.cluster.device = "cuda";
  scenario.method.error_feedback = error_feedback;
  scenario.exchange.collective = collective;
  scenario.workload.steps = 6;
  return scenario;
}

std::vector<scenarios::StepPlan> run(SynchronousTrainer& trainer, int steps) {
  std::vector<scenarios::StepPlan> plans(static_cast<std::size_t>(steps));
  for (auto& plan : plans) REQUIRE(trainer.next(plan));
  return plans;
}

bool same_weights(const SynchronousTrainer& a, const SynchronousTrainer& b) {
  const std::span<const float> x = a.weights(), y = b.weights();
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size_bytes()) == 0;
}

TEST_CASE("steps that stay on the GPU equal those with host codecs and optimiser, bit for bit",
          "[gpu][needs-gpu]") {
  for (const char* collective : {"ring", "parameter-server"}) {
    for (const char* optimizer : {"sgd", "adam"}) {
      for (const char* method : {"none", "fp16", "terngrad", "topk"}) {
        for (const bool error_feedback : {false, true}) {
          INFO(method << " ef " << error_feedback << ' ' << collective << ' ' << optimizer);
          auto scenario = gpu_scenario(method, error_feedback, collective);
          scenario.workload.optimizer = optimizer;
          scenario.workload.learning_rate = 0.01;
          const auto host = trainer_on_gpu(scenario, false);
          const auto device = trainer_on_gpu(scenario, true);
          const auto host_plans = run(*host, 6), device_plans = run(*device, 6);
          for (std::size_t step = 0; step < 6; ++step) {
            REQUIRE(host_plans[step].bytes == device_plans[step].bytes);
            REQUIRE(host_plans[step].loss == device_plans[step].loss);
          }
          REQUIRE(same_weights(*host, *device));
        }
      }
    }
  }
}

TEST_CASE("a rule without a CUDA version updates on the host, and the run says so",
          "[gpu][needs-gpu]") {
  trainer_on_gpu(gpu_scenario("none", false, "ring"), true);  // skips where there is no GPU
  for (const char* optimizer : {"sgd", "lamb"}) {
    INFO(optimizer);
    auto scenario = gpu_scenario("none", false, "ring");
    scenario.workload.optimizer = optimizer;
    const auto trainer = make_trainer(scenario, {});
    std::string notes;
    for (const std::string& note : trainer->notes()) notes += note + "\n";
    const bool told = notes.find("optimiser lamb has no CUDA version") != std::string::npos;
    CHECK(told == (optimizer == std::string("lamb")));
    trainer->prepare();
    scenarios::StepPlan plan;
    REQUIRE(trainer->next(plan));
  }
}

TEST_CASE("a checkpoint of steps on the GPU carries residuals, momentum and weights",
          "[gpu][needs-gpu]") {
  const auto scenario = gpu_scenario("topk", true, "ring");
  const auto whole = trainer_on_gpu(scenario, true);
  run(*whole, 3);
  std::stringstream saved;
  whole->save(saved);
  run(*whole, 3);
  const auto resumed = trainer_on_gpu(scenario, true);
  resumed->load(saved);
  run(*resumed, 3);
  CHECK(resumed->learning_hash() == whole->learning_hash());
  // Negative control: three steps from fresh weights end elsewhere.
  const auto fresh = trainer_on_gpu(scenario, true);
  run(*fresh, 3);
  CHECK_FALSE(same_weights(*fresh, *whole));
}

TEST_CASE("a GPU is profiled by events: layers sum to the pass, peaks are in order",
          "[gpu][needs-gpu]") {
  ModelProfileRequest request;
  request.model = "lenet5";
  request.data_set = "digits";
  request.device = "cuda";
  try {
    const ModelProfileResult result = profile_model(request, {});
    double backward = 0;
    for (const auto& layer : result.table.layers) {
      CHECK(layer.forward_per_sample >= Seconds(0));
      backward += request.batch * layer.backward_per_sample.value();
    }
    CHECK(backward == Approx(result.backward.value()).epsilon(0.5));
    const auto peak = measure_peak("cuda");
    CHECK(peak.compute.at("fp16").flops_per_second > peak.compute.at("fp32").flops_per_second);
    CHECK(peak.memory_bytes_per_second > 1e11);
    std::cout << result.device << ": fp32 " << peak.compute.at("fp32").flops_per_second / 1e12
              << " TFLOP/s, memory " << peak.memory_bytes_per_second / 1e9 << " GB/s\n";
  } catch (const TrainerError& error) {
    if (error.kind() != ErrorKind::kCapability) throw;
    testing::skip(error.what());
  }
}

}  // namespace
}  // namespace gradwire::trainers
