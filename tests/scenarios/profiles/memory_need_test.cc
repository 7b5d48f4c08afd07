#include "scenarios/profiles/memory_need.h"

#include <catch2/catch.hpp>

#include "scenarios/scenario.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;
using Catch::Contains;

TEST_CASE("a worker holds weights, gradients, state and what layers wrote", "[unit]") {
  WorkloadProfile workload;
  workload.layers.resize(3);
  workload.layers[0].elements = 1000;
  workload.layers[0].activations = 50;
  workload.layers[1].activations = 30;
  workload.layers[2].kind = "relu";  // in place
  workload.layers[2].activations = 30;
  MemoryNeed need = memory_need(workload, {.batch = 10});
  CHECK(need.weights == 4000);
  CHECK(need.gradients == 4000);
  CHECK(need.optimizer == 4000);
  CHECK(need.activations == 4 * 10 * 80);
  CHECK(need.total() == 15'200);
  // Computed again in three segments: one keeps 50, and 50 and 30 pass the cuts.
  CHECK(memory_need(workload, {.batch = 10, .segments = 3}).activations == 4 * 10 * (50 + 80));
  workload.layers.resize(30);
  for (std::size_t i = 3; i < 30; ++i) workload.layers[i].activations = 10;
  // 30 layers in 3: the first has 50 + 30 + 7 x 10, others 100; 10 go through each cut.
  CHECK(memory_need(workload, {.batch = 10, .segments = 3}).activations == 4 * 10 * (150 + 20));
  workload.layers.resize(3);
  // Half of the activations' bytes, and fp16 weights beside the fp32 ones.
  need = memory_need(workload, {.batch = 10, .precision = "fp16"});
  CHECK(need.weights == 6000);
  CHECK(need.activations == 2 * 10 * 80);
  // Stages of ZeRO: state, gradients, weights by eighths.
  const auto total = [&](int stage) {
    return memory_need(workload, {.workers = 8, .zero = stage}).total() - 4 * 80;
  };
  CHECK(total(0) == 12'000);
  CHECK(total(1) == 8'500);
  CHECK(total(2) == 5'000);
  CHECK(total(3) == 1'500);
  CHECK(memory_need(workload, {.state_on_host = true}).optimizer == 0);
}

TEST_CASE("a batch that would not fit into the device is said, with what it needs", "[unit]") {
  const auto warned = [](const std::string& workload, const std::string& more = "") {
    std::string text;
    const std::string document =
        scenario_with(R"(, "cluster": {"workers": 8, "device": "v100"})" + more,
                      R"("workload": {)" + workload + "}");
    for (const std::string& each : read_scenario_text(document, "t.json").warnings)
      text += each + "\n";
    return text;
  };
  CHECK(warned(R"("profile": "resnet50", "batch_per_worker": 64)").empty());
  // 25.6 million parameters: 0.1 GB each. 512 samples of 4 x 22 million elements: 46 GB.
  const std::string much = warned(R"("profile": "resnet50", "batch_per_worker": 512)");
  CHECK_THAT(much, Contains("/workload/batch_per_worker") && Contains("device v100 has 32.0 GB") &&
                       Contains("activations of 512 samples"));
  // In eight parts it fits, and in twelve segments.
  CHECK(warned(R"("profile": "resnet50", "batch_per_worker": 512, "checkpoint_activations": 12)")
            .empty());
  CHECK(warned(R"("profile": "resnet50", "batch_per_worker": 512, "micro_batches": 8)").empty());
  // Llama 2 7B's state, with Adam's two moments, is 108 GB; an eighth of it is not the matter, a
  // sample's activations are.
  CHECK_THAT(warned(R"("profile": "llama2-7b", "batch_per_worker": 1)"),
             Contains("the optimiser's state 53.9 GB"));
  CHECK_THAT(
      warned(R"("profile": "llama2-7b", "batch_per_worker": 1)", R"(, "exchange": {"zero": 3})"),
      Contains("the optimiser's state 6.74 GB"));
}
