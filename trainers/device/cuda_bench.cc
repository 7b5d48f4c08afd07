#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>

#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// One worker's step on the GPU: by the clock, and as the simulation composes it from the measured
/// phases. Prints a Markdown table.
namespace gradwire::trainers {
namespace {

constexpr int kWarmUp = 20, kSteps = 200;

struct Method {
  const char* name;
  bool feedback = false;
};
constexpr Method kMethods[] = {{"none"}, {"fp16"}, {"terngrad"}, {"topk", true}};

scenarios::Scenario scenario_for(const char* device, const char* model, const Method& method) {
  scenarios::Scenario scenario;
  scenario.name = "bench";
  scenario.workload.model = model;
  scenario.workload.data_set = "digits";
  scenario.workload.batch_per_worker = 64;
  scenario.workload.steps = kWarmUp + kSteps;
  scenario.workload.learning_rate = 0.01;
  scenario.workload.momentum = 0.9;
  scenario.method.name = method.name;
  scenario.method.error_feedback = method.feedback;
  scenario.cluster.workers = 1;
  scenario.cluster.device = device;
  return scenario;
}

double milliseconds(Seconds time) {
  return 1e3 * time.value();
}

/// Phases one after the other: a lone worker sends nothing.
Seconds composed(const scenarios::ComputeProfile& profile) {
  Seconds sum = profile.forward + profile.update;
  for (const auto& bucket : profile.buckets) {
    sum = sum + bucket.backward + bucket.encode + bucket.decode;
  }
  return sum;
}

void print_row(const char* device, const char* model, const Method& method) {
  const auto trainer = make_trainer(scenario_for(device, model, method), {});
  const Seconds simulated = composed(trainer->prepare());
  scenarios::StepPlan plan;
  using Clock = std::chrono::steady_clock;
  Clock::time_point start;
  for (int step = 0; trainer->next(plan); ++step) {
    if (step == kWarmUp - 1) start = Clock::now();
  }
  const std::chrono::duration<double> wall = Clock::now() - start;
  const double step = 1e3 * wall.count() / kSteps;
  std::printf("| %s | %s | %s | %.3f | %.3f | %.2f |\n", device, model, method.name, step,
              milliseconds(simulated), milliseconds(simulated) / step);
  std::fflush(stdout);
}

void print_table() {
  std::printf(
      "| device | model | method | step by the clock, ms | step as simulated, ms | ratio |\n"
      "|---|---|---|---|---|---|\n");
  // The GPU comes first: its libraries must be loaded before any training on the CPU.
  for (const char* device : {"cuda", "cpu"}) {
    for (const char* model : {"lenet5", "resnet20"}) {
      for (const Method& method : kMethods) {
        if (device == std::string_view("cpu") && model == std::string_view("resnet20")) continue;
        print_row(device, model, method);
      }
    }
  }
}

}  // namespace
}  // namespace gradwire::trainers

int main() {
  try {
    gradwire::trainers::print_table();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_trainers_cuda: %s\n", error.what());
    return 1;
  }
}
