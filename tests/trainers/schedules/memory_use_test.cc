#include <catch2/catch.hpp>
#include <map>

#include "base/available_memory.h"
#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// Memory of the ranks of small runs, counted by hand.
namespace gradwire::trainers {
namespace {

// mlp on the digits, 8 x 8 pixels and 10 classes, with one hidden layer of 32:
//   64 * 32 + 32 weights and biases, then 32 * 10 + 10.
constexpr double kElements = 64 * 32 + 32 + 32 * 10 + 10;
constexpr double kBatch = 16;

scenarios::Scenario small_scenario(const std::string& method) {
  scenarios::Scenario scenario = digits_scenario("mlp", method);
  scenario.workload.hidden = {32};
  scenario.workload.batch_per_worker = static_cast<std::int64_t>(kBatch);
  scenario.workload.steps = 3;
  scenario.cluster.workers = 3;
  return scenario;
}

std::map<std::string, double> memory_of(const scenarios::Scenario& scenario) {
  const auto trainer = make_trainer(scenario, {});
  trainer->use_profile(fixed_profile({static_cast<std::int64_t>(kElements)}));
  scenarios::StepPlan plan;
  sim::GraphId graph = 0;
  while (trainer->next(plan)) trainer->on_submitted(plan, ++graph);
  const std::uint64_t hash = trainer->learning_hash();
  std::map<std::string, double> bytes;
  for (const scenarios::Figure& figure : trainer->figures()) {
    CHECK(figure.unit == "B");
    bytes[figure.name] = figure.value;
  }
  CHECK(trainer->learning_hash() == hash);  // counting leaves no trace
  return bytes;
}

}  // namespace

TEST_CASE("memory of a worker with adam and topk with error feedback, by hand", "[memory]") {
  scenarios::Scenario scenario = small_scenario("topk");
  scenario.method.error_feedback = true;
  scenario.workload.optimizer = "adam";
  const auto bytes = memory_of(scenario);
  CHECK(kElements == 2410);
  CHECK(bytes.at("memory_parameters_bytes") == 4 * kElements);
  CHECK(bytes.at("memory_gradients_bytes") == 4 * kElements);
  CHECK(bytes.at("memory_optimizer_bytes") == 4 * 2 * kElements);  // both moments
  // A residual of each tensor, of 2048, 32, 320 and 10 floats: multiples of 8 bytes as they are.
  CHECK(bytes.at("memory_method_bytes") == 4 * kElements);
  // Kept for the backward pass: what relu gives, the logarithms of the classes' shares, the sum of
  // the targets' weights, and the loss.
  CHECK(bytes.at("memory_activations_bytes") == 4 * (kBatch * 32 + kBatch * 10 + 1 + 1));
  CHECK(bytes.count("memory_server_bytes") == 0);  // a ring
}

TEST_CASE("memory of a worker without momentum and compression", "[memory]") {
  scenarios::Scenario scenario = small_scenario("none");
  scenario.workload.momentum = 0;
  auto bytes = memory_of(scenario);
  CHECK(bytes.at("memory_optimizer_bytes") == 0);
  CHECK(bytes.at("memory_method_bytes") == 0);
  const double activations = bytes.at("memory_activations_bytes");

  // Twice the batch: twice what belongs to samples.
  scenario.workload.batch_per_worker *= 2;
  CHECK(memory_of(scenario).at("memory_activations_bytes") - 8 == 2 * (activations - 8));
}

TEST_CASE("memory of workers that take local steps, and of the servers", "[memory]") {
  scenarios::Scenario scenario = small_scenario("topk");
  scenario.exchange.collective = "parameter-server";
  CHECK(memory_of(scenario).at("memory_server_bytes") == 0);  // it remembers nothing

  scenario.schedule.local_steps = 4;
  scenario.method.error_feedback = true;
  // A residual, and the sum of the gradients.
  CHECK(memory_of(scenario).at("memory_method_bytes") == 2 * 4 * kElements);

  scenario.schedule = {.kind = "asynchronous"};
  const auto of_fresh = [&] {
    const auto trainer = make_trainer(scenario, {});
    std::map<std::string, double> bytes;
    for (const scenarios::Figure& figure : trainer->figures()) bytes[figure.name] = figure.value;
    return bytes;
  };
  auto bytes = of_fresh();
  CHECK(bytes.at("memory_optimizer_bytes") == 0);  // the server's
  CHECK(bytes.at("memory_server_bytes") == 4 * kElements + 4 * kElements);

  scenario.schedule = {.kind = "rounds", .server_momentum = 0.9};
  bytes = of_fresh();
  CHECK(bytes.at("memory_server_bytes") == 4 * kElements + 4 * kElements);
  CHECK(bytes.at("memory_method_bytes") == 4 * kElements);  // the model that it was sent
}

TEST_CASE("workers whose gradients do not fit into memory are refused at once", "[memory]") {
  scenarios::Scenario scenario = small_scenario("none");
  scenario.workload.hidden = {4000, 4000};  // 4000 x (64 + 4000 + 10) and more weights: 65 MB
  scenario.workload.batch_per_worker = 1;
  scenario.cluster.workers = 1400;  // 91 GB
  if (available_memory() > Bytes(80'000'000'000)) {
    WARN("this machine has room for them");
    return;
  }
  CHECK_THROWS_WITH(make_trainer(scenario, {}),
                    Catch::Contains("gradients of 1400 workers take 91.3 GB, and") &&
                        Catch::Contains("use fewer workers or a smaller model"));
}

}  // namespace gradwire::trainers
