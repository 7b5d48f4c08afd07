#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <sstream>

#include "base/error.h"
#include "tests/trainers/support.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// Methods whose tensors are parted into sets, with plans that change: what is learned of it.
namespace gradwire::trainers {
namespace {

scenarios::Scenario scenario_with(const std::string& method,
                                  std::map<std::string, std::string> options, int steps) {
  scenarios::Scenario scenario = digits_scenario("mlp", method);
  scenario.method.options = std::move(options);
  scenario.workload.steps = steps;
  scenario.cluster.device = "reference-cpu";
  return scenario;
}

/// Weights by parameter in forward order, whatever the layout's order.
std::map<int, std::vector<float>> weights_of(const SynchronousTrainer& trainer) {
  std::map<int, std::vector<float>> weights;
  for (const TensorSlot& slot : trainer.layout().tensors()) {
    const auto own = trainer.weights().subspan(static_cast<std::size_t>(slot.first),
                                               static_cast<std::size_t>(slot.count));
    weights[slot.parameter].assign(own.begin(), own.end());
  }
  return weights;
}

struct Trained {
  std::map<int, std::vector<float>> weights;
  std::vector<double> losses;
  std::vector<Bytes> payloads;
  std::uint64_t hash = 0;
};

Trained trained(const scenarios::Scenario& scenario, int threads = 1) {
  const auto trainer = make_trainer(scenario, {.threads = threads});
  trainer->prepare();
  Trained result;
  scenarios::StepPlan plan;
  while (trainer->next(plan)) {
    result.losses.push_back(plan.loss);
    result.payloads.push_back(plan.payload);
  }
  result.weights = weights_of(static_cast<SynchronousTrainer&>(*trainer));
  result.hash = trainer->learning_hash();
  return result;
}

}  // namespace

TEST_CASE("dgc with a share of 1 learns bit for bit what plain training learns") {
  const Trained plain = trained(scenario_with("none", {}, 12));
  const Trained whole = trained(scenario_with("dgc", {{"ratio", "1"}, {"warmup_epochs", "0"}}, 12));
  CHECK(whole.losses == plain.losses);
  CHECK(whole.weights == plain.weights);
  CHECK(whole.payloads == plain.payloads);
  // The negative control: half of the gradient is something else.
  const Trained half =
      trained(scenario_with("dgc", {{"ratio", "0.5"}, {"warmup_epochs", "0"}}, 12));
  CHECK(half.weights != plain.weights);
}

TEST_CASE("dgc's vectors move as in plain training, its matrices without momentum in the update") {
  // One step from equal weights: momentum has nothing to remember yet, so every vector equals plain
  // training's, and a matrix differs where something was held back. Of two workers, whose sum does
  // not depend on the order of addition in a ring.
  const auto of_two = [](scenarios::Scenario scenario) {
    scenario.cluster.workers = 2;
    return trained(scenario);
  };
  const Trained plain = of_two(scenario_with("none", {}, 1));
  const Trained dgc = of_two(scenario_with("dgc", {{"ratio", "0.01"}, {"warmup_epochs", "0"}}, 1));
  for (const auto& [parameter, values] : plain.weights) {
    INFO(parameter);
    const bool vector = parameter % 2 == 1;  // weight, bias, weight, bias, ...
    CHECK((dgc.weights.at(parameter) == values) == vector);
  }
}

TEST_CASE("dgc's warm-up sends its shares by epoch") {
  // 1,437 samples for training, 64 a step: epoch 1 begins with step 22.45.
  const auto options = std::map<std::string, std::string>{
      {"warmup", "0.25,0.0625"}, {"warmup_epochs", "2"}, {"ratio", "0.01"}, {"selection", "exact"}};
  const Trained run = trained(scenario_with("dgc", options, 50));
  // A matrix of n elements: 4 bytes of length, 4 of count, 6 an entry; fillers at 1 % of these
  // sizes are none. Matrices: 64 x 256, 256 x 128, 128 x 10.
  const auto message = [](double share) {
    std::int64_t bytes = 0;
    for (const std::int64_t n : {16384, 32768, 1280})
      bytes += 8 + 6 * static_cast<std::int64_t>(std::ceil(share * static_cast<double>(n)));
    return bytes;
  };
  // Each of 4 messages goes 3 hops; 394 elements of vectors go round a ring: 2 x 3 x 394 x 4 bytes.
  const auto payload = [&](double share) {
    return Bytes(4 * 3 * message(share) + 2 * 3 * 394 * 4);
  };
  CHECK(run.payloads[0] == payload(0.25));
  CHECK(run.payloads[22] == payload(0.25));
  CHECK(run.payloads[23] == payload(0.0625));
  CHECK(run.payloads[44] == payload(0.0625));
  CHECK(run.payloads[45] == payload(0.01));
  CHECK(run.payloads[49] == payload(0.01));
}

TEST_CASE("sets and phases learn the same on any number of threads, through every collective") {
  for (const char* collective : {"ring", "direct", "parameter-server", "scatter-reduce"}) {
    INFO(collective);
    scenarios::Scenario scenario = scenario_with(
        "dgc", {{"warmup_epochs", "1"}, {"warmup", "0.5,0.1"}, {"ratio", "0.02"}}, 26);
    scenario.exchange.collective = collective;
    const Trained one = trained(scenario, 1);
    CHECK(trained(scenario, 2).hash == one.hash);
    CHECK(trained(scenario, 4).hash == one.hash);
    CHECK(one.losses.back() < one.losses.front());
  }
}

TEST_CASE("a step waits for the updates of the one before, whichever graph that had") {
  // The first epoch (22.5 steps of 64) is dense, the next sparse: the graphs differ.
  const auto trainer = make_trainer(
      scenario_with("dgc", {{"warmup", "1"}, {"warmup_epochs", "1"}, {"ratio", "0.01"}}, 26), {});
  trainer->prepare();
  scenarios::StepPlan plan, before;
  for (sim::GraphId graph = 1; trainer->next(plan); ++graph) {
    CHECK(plan.steady == (plan.step >= 23));
    REQUIRE(plan.after.size() == (graph == 1 ? 0u : 4u));
    for (const sim::CrossEdge& edge : plan.after) {
      CHECK(edge.from.graph == graph - 1);
      REQUIRE(edge.from.op < before.graph->size());
      CHECK(before.graph->labels[before.graph->label[edge.from.op]] == "update");
      CHECK(plan.graph->labels[plan.graph->label[edge.to]] == "forward");
    }
    trainer->on_submitted(plan, graph);
    before = plan;
  }
  CHECK(before.step == 25);
}

TEST_CASE("terngrad's last layer goes as fp32 where asked") {
  scenarios::Scenario scenario = scenario_with("none", {}, 1);
  scenario.cluster.workers = 2;
  const Trained plain = trained(scenario);
  scenario.method.name = "terngrad";
  scenario.method.options = {{"last_layer", "fp32"}};
  const Trained mixed = trained(scenario);
  for (const auto& [parameter, values] : plain.weights) {
    INFO(parameter);
    const bool last = parameter >= 4;
    CHECK((mixed.weights.at(parameter) == values) == last);
  }
}

TEST_CASE("a run goes on from a checkpoint within the warm-up") {
  const scenarios::Scenario scenario =
      scenario_with("dgc", {{"warmup_epochs", "1"}, {"warmup", "0.5,0.1"}, {"ratio", "0.02"}}, 26);
  const Trained whole = trained(scenario);
  const auto first = make_trainer(scenario, {}), second = make_trainer(scenario, {});
  first->prepare();
  scenarios::StepPlan plan;
  for (int step = 0; step < 14; ++step) first->next(plan);
  std::stringstream checkpoint;
  first->save(checkpoint);
  second->prepare();
  second->load(checkpoint);
  while (second->next(plan)) {
  }
  CHECK(second->learning_hash() == whole.hash);
}

}  // namespace gradwire::trainers
