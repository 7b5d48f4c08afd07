#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <sstream>

#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
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

TEST_CASE("state in the host's memory: the same learning, other times and memory", "[offload]") {
  for (const int zero : {0, 2, 3}) {
    scenarios::Scenario scenario = zero_scenario(zero, 4);
    const Ended on_device = ended(scenario);
    // 1 GB/s and 10 GB/s: 4 bytes an element each way, and 28 bytes of Adam's update.
    scenario.exchange.offload = {BitsPerSecond(8e9), BitsPerSecond(80e9)};
    const Ended on_host = ended(scenario);
    CHECK(on_host.hash == on_device.hash);
    const double part = zero == 0 ? kElements : 603;
    CHECK(on_host.figures.at("memory_optimizer_bytes") == 0);
    CHECK(on_host.figures.at("memory_host_bytes") == (4 + 4 + 8) * part);
    CHECK(on_host.figures.at("offload_bytes") == 8 * part);
    CHECK(on_host.figures.at("memory_gradients_bytes") == (zero == 0 ? 4 * part : 0));
    CHECK(on_device.figures.count("offload_bytes") == 0);
  }
}

TEST_CASE("times of a step whose update is the host's", "[offload]") {
  for (const int zero : {0, 2}) {
    scenarios::Scenario scenario = zero_scenario(zero, 4);
    scenario.exchange.offload = {BitsPerSecond(8e9), BitsPerSecond(80e9)};
    const auto trainer = make_trainer(scenario, {});
    trainer->use_profile(fixed_profile({kElements}));
    scenarios::StepPlan plan;
    REQUIRE(trainer->next(plan));
    const double part = zero == 0 ? kElements : 603;
    std::map<std::string, double> seconds;
    for (sim::OpIndex op = 0; op < plan.graph->size(); ++op) {
      if (plan.graph->lane[op] != sim::Lane::kHost) continue;
      seconds[plan.graph->labels[plan.graph->label[op]]] += plan.seconds[op].value();
    }
    REQUIRE(seconds.size() == 3);  // of four workers each
    CHECK(seconds.at("to host b0") == Approx(4 * 4 * part / 1e9));
    CHECK(seconds.at("from host b0") == Approx(4 * 4 * part / 1e9));
    CHECK(seconds.at("update") == Approx(4 * 28 * part / 10e9));
  }
}

TEST_CASE("micro-batches add up to their batch, and keep activations of one of them", "[micro]") {
  scenarios::Scenario scenario = zero_scenario(0, 3, "sgd");
  scenario.workload.steps = 3;
  const Ended whole = ended(scenario);
  for (const int parts : {2, 3, 16}) {  // of 16 samples
    scenario.workload.micro_batches = parts;
    const Ended sum = ended(scenario);
    double furthest = 0;
    for (std::size_t e = 0; e < whole.weights.size(); ++e)
      furthest = std::max(furthest, std::fabs(double{sum.weights[e]} - whole.weights[e]));
    CHECK(furthest > 0);     // other orders of additions
    CHECK(furthest < 1e-5);  // weights are of the order of 0.1
    // relu's outputs, 32 a sample, logarithms of shares, 10; loss and sum of weights.
    const int samples = (16 + parts - 1) / parts;
    CHECK(sum.figures.at("memory_activations_bytes") == 4 * (samples * 42 + 2));
    CHECK(sum.payload == whole.payload);
    CHECK(sum.figures.at("memory_method_bytes") == 0);
  }
  // Negative control: half of the batch's samples give other weights.
  scenario.workload.micro_batches = 1;
  scenario.workload.batch_per_worker = 8;
  CHECK(std::fabs(double{ended(scenario).weights[0]} - whole.weights[0]) > 1e-4);
}

TEST_CASE("a step of k micro-batches takes k passes and one update", "[micro]") {
  scenarios::Scenario scenario = zero_scenario(0, 2, "sgd");
  scenario.workload.micro_batches = 4;
  const auto trainer = make_trainer(scenario, {});
  trainer->use_profile(fixed_profile({kElements}));  // 1 ms forward and backward, of a part
  scenarios::StepPlan plan;
  REQUIRE(trainer->next(plan));
  double compute = 0;
  for (sim::OpIndex op = 0; op < plan.graph->size(); ++op)
    if (plan.graph->lane[op] == sim::Lane::kCompute) compute += plan.seconds[op].value();
  CHECK(compute == Approx(2 * (4 * 2e-3 + 1e-4)));
}

TEST_CASE("an optimiser with norms of tensors takes no parts", "[zero]") {
  CHECK_THROWS_WITH(ended(zero_scenario(1, 3, "lamb")), Catch::Contains("norms of whole tensors"));
}

}  // namespace
}  // namespace gradwire::trainers
