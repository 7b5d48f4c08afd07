#include <catch2/catch.hpp>
#include <iostream>

#include "tests/trainers/support.h"
#include "trainers/synchronous_trainer.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

/// Loss of each step; empty, with the reason printed, where there is no GPU.
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
    std::cout << "skipped: " << error.what() << "\n";
  }
  return losses;
}

// The GPU comes first: its libraries must be loaded before any training on the CPU.
TEST_CASE("a GPU learns what the CPU learns", "[gpu][gpu-figures]") {
  const std::vector<double> gpu = losses_on("cuda", "none");
  if (gpu.empty()) return;
  const std::vector<double> ternary = losses_on("cuda", "terngrad");
  const std::vector<double> cpu = losses_on("cpu", "none");
  // Equal weights and batches at step 0; rounding parts them slowly.
  CHECK(gpu.front() == Approx(cpu.front()).epsilon(1e-4));
  CHECK(gpu.back() == Approx(cpu.back()).epsilon(0.05));
  CHECK(ternary.back() < ternary.front());
}

}  // namespace
}  // namespace gradwire::trainers
