#include <catch2/catch.hpp>
#include <map>
#include <sstream>

#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous_trainer.h"
#include "trainers/updates/shards.h"

/// ZeRO (arXiv 1910.02054): parts of state, gradients and weights give what whole ones give.
namespace gradwire::trainers {
namespace {

// mlp on the digits with one hidden layer of 32: 64 * 32 + 32 + 32 * 10 + 10.
constexpr std::int64_t kElements = 2410;

scenarios::Scenario zero_scenario(int zero, int workers, const std::string& optimizer = "adam",
                                  const std::string& method = "none") {
  scenarios::Scenario scenario = digits_scenario("mlp", method);
  scenario.workload.hidden = {32};
  scenario.workload.steps = 6;
  scenario.workload.optimizer = optimizer;
  scenario.workload.learning_rate = 0.01;
  scenario.cluster.workers = workers;
  scenario.exchange.zero = zero;
  return scenario;
}

struct Ended {
  std::vector<float> weights;
  std::vector<double> losses;
  Bytes payload{0};  ///< of one step
  std::uint64_t hash = 0;
  std::map<std::string, double> figures;
};

Ended ended(const scenarios::Scenario& scenario) {
  const auto trainer = make_trainer(scenario, {});
  trainer->prepare();
  Ended result;
  scenarios::StepPlan plan;
  for (sim::GraphId graph = 1; trainer->next(plan); ++graph) {
    trainer->on_submitted(plan, graph);
    result.payload = plan.payload;
    result.losses.push_back(plan.loss);
  }
  const auto weights = dynamic_cast<SynchronousTrainer&>(*trainer).weights();
  result.weights.assign(weights.begin(), weights.end());
  result.hash = trainer->learning_hash();
  for (const scenarios::Figure& figure : trainer->figures())
    result.figures[figure.name] = figure.value;
  return result;
}

TEST_CASE("parts give the weights of whole state, bit for bit", "[zero]") {
  for (const char* optimizer : {"sgd", "adam", "amsgrad", "adamax", "adagrad-cmd"}) {
    for (const int workers : {2, 3, 4}) {  // 2410 elements are no multiple of 3 or 4
      const Ended whole = ended(zero_scenario(0, workers, optimizer));
      for (const int zero : {1, 2, 3}) {
        INFO(optimizer << ", " << workers << " workers, stage " << zero);
        const Ended parts = ended(zero_scenario(zero, workers, optimizer));
        CHECK(parts.weights == whole.weights);
        CHECK(parts.losses == whole.losses);
        CHECK(parts.hash != whole.hash);  // other messages
      }
    }
  }
  // Negative control: other weights are not equal.
  CHECK(ended(zero_scenario(2, 3)).weights != ended(zero_scenario(0, 4)).weights);
}

TEST_CASE("one worker holds everything: the same run", "[zero]") {
  const Ended whole = ended(zero_scenario(0, 1));
  for (const int zero : {1, 2, 3}) CHECK(ended(zero_scenario(zero, 1)).hash == whole.hash);
}

TEST_CASE("small buckets, some with fewer elements than workers", "[zero]") {
  for (const int zero : {0, 1, 2, 3}) {
    scenarios::Scenario scenario = zero_scenario(zero, 12);
    scenario.exchange.bucket = Bytes(4);  // a tensor each; the last bias has 10 elements
    static std::vector<float> whole;
    const Ended parts = ended(scenario);
    if (zero == 0) whole = parts.weights;
    CHECK(parts.weights == whole);
  }
}

TEST_CASE("bytes of a step: 2 E round the ring, and 3 E where weights are gathered twice",
          "[zero]") {
  const auto payload = [](int zero) { return ended(zero_scenario(zero, 4)).payload.count(); };
  const std::int64_t once = 3 * 4 * kElements;  // (N - 1) times 4 bytes each
  CHECK(payload(0) == 2 * once);
  CHECK(payload(1) == 2 * once);
  CHECK(payload(2) == 2 * once);
  CHECK(payload(3) == 3 * once);
}

TEST_CASE("packed sums are reduced to parts, others are decoded whole", "[zero]") {
  for (const char* method : {"fp16", "bf16", "terngrad"}) {
    INFO(method);
    const Ended whole = ended(zero_scenario(0, 3, "adam", method));
    CHECK(ended(zero_scenario(1, 3, "adam", method)).weights == whole.weights);
    CHECK(ended(zero_scenario(3, 3, "adam", method)).weights == whole.weights);
  }
  scenarios::Scenario scenario = zero_scenario(0, 3, "adam", "topk");
  scenario.method.error_feedback = true;
  const Ended whole = ended(scenario);
  scenario.exchange.zero = 1;
  const Ended parts = ended(scenario);
  CHECK(parts.weights == whole.weights);
  // Every worker has the whole mean; the weights are gathered besides.
  CHECK((parts.payload - whole.payload).count() == 2 * 4 * kElements);
}

TEST_CASE("a worker's memory, by the formulas of the paper for fp32", "[zero]") {
  // 4 E of weights, 4 E of gradients, 8 E of moments; the largest of 4 parts has ceil(2410 / 4).
  constexpr double kAll = 4 * kElements, kPart = 4 * 603;
  const auto figures = [](int zero) { return ended(zero_scenario(zero, 4)).figures; };
  auto bytes = figures(0);
  CHECK(bytes.at("memory_optimizer_bytes") == 2 * kAll);
  CHECK(bytes.count("memory_buckets_bytes") == 0);
  bytes = figures(1);
  CHECK(bytes.at("memory_parameters_bytes") == kAll);
  CHECK(bytes.at("memory_gradients_bytes") == kAll);
  CHECK(bytes.at("memory_optimizer_bytes") == 2 * kPart);
  bytes = figures(2);
  CHECK(bytes.at("memory_parameters_bytes") == kAll);
  CHECK(bytes.at("memory_gradients_bytes") == kPart);
  CHECK(bytes.at("memory_optimizer_bytes") == 2 * kPart);
  CHECK(bytes.at("memory_buckets_bytes") == kAll);  // there is one bucket
  bytes = figures(3);
  CHECK(bytes.at("memory_parameters_bytes") == kPart);
  CHECK(bytes.at("memory_gradients_bytes") == kPart);
  CHECK(bytes.at("memory_optimizer_bytes") == 2 * kPart);
  CHECK(bytes.at("memory_buckets_bytes") == 2 * kAll);  // its gradients and its weights
}

TEST_CASE("runs of parts go on from a checkpoint", "[zero]") {
  for (const int zero : {1, 2, 3}) {
    const scenarios::Scenario scenario = zero_scenario(zero, 3);
    const Ended whole = ended(scenario);
    const auto first = make_trainer(scenario, {}), second = make_trainer(scenario, {});
    first->prepare();
    second->prepare();
    scenarios::StepPlan plan;
    for (int step = 0; step < 4; ++step) first->next(plan);
    std::stringstream checkpoint;
    first->save(checkpoint);
    second->load(checkpoint);
    while (second->next(plan)) {
    }
    CHECK(second->learning_hash() == whole.hash);
    CHECK(first->learning_hash() != whole.hash);
  }
}

TEST_CASE("an optimiser with norms of tensors takes no parts", "[zero]") {
  CHECK_THROWS_WITH(ended(zero_scenario(1, 3, "lamb")), Catch::Contains("norms of whole tensors"));
}

}  // namespace
}  // namespace gradwire::trainers
