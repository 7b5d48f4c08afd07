#include <algorithm>
#include <cmath>
#include <sstream>

#include "sim/executors.h"
#include "sim/graph/mixing.h"
#include "sim/sim_error.h"
#include "tests/trainers/schedules/gossip_fixture.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using namespace gossip;

using Models = std::vector<std::vector<float>>;

/// mix() on copies of `x`; y empty: weights themselves are mixed.
MixOutcome mix_models(const sim::Mixing& mixing, double step, Models& x, const Models& y = {},
                      int threads = 1) {
  WorkerPool pool(threads);
  const std::vector<std::span<float>> own(x.begin(), x.end());
  const std::vector<std::span<const float>> known(y.begin(), y.end());
  return mix(mixing, step, own, known, pool);
}

sim::Mixing complete(int n) {
  return sim::make_mixing(n, sim::both_ways(sim::gossip_complete(n)));
}

Models random_models(int workers, std::size_t elements) {
  Models models;
  for (int w = 0; w < workers; ++w) {
    models.emplace_back(elements);
    for (std::size_t e = 0; e < elements; ++e)
      models.back()[e] = uniform({5, 0, static_cast<std::uint32_t>(w), 3}, e) - 0.3f;
  }
  return models;
}

TEST_CASE("mixing does the arithmetic of its equations", "[gossip]") {
  // Ring of 3 is complete: all become the mean. x = 0, 3, 6.
  Models x = {{0}, {3}, {6}};
  const MixOutcome all = mix_models(complete(3), 1, x);
  for (const auto& each : x) CHECK(each[0] == Approx(3));
  CHECK(all.distance == Approx(0).margin(1e-10));
  // Directed ring of 4, weights 1/2: x_i <- (x_i + x_i-1) / 2. x = 0, 2, 4, 8 -> 4, 1, 3, 6.
  x = {{0}, {2}, {4}, {8}};
  const MixOutcome ring = mix_models(sim::make_mixing(4, sim::directed_ring(4)), 1, x);
  CHECK(x == Models{{4}, {1}, {3}, {6}});
  // Mean 3.5, as before; (0.25 + 6.25 + 0.25 + 6.25) / 4 = 3.25.
  CHECK(ring.drift == 0);
  CHECK(ring.distance == Approx(3.25));
  // Half a step with what is known, y = 1, 1, 5, 5: x_i += 0.5 * 0.5 (y_i-1 - y_i).
  x = {{0}, {2}, {4}, {8}};
  mix_models(sim::make_mixing(4, sim::directed_ring(4)), 0.5, x, {{1}, {1}, {5}, {5}});
  CHECK(x == Models{{1}, {2}, {3}, {8}});
}

TEST_CASE("mixing keeps the mean, for whatever is known of workers", "[gossip]") {
  const sim::Mixing mixing = sim::make_mixing(8, sim::both_ways(sim::gossip_ring(8)));
  for (const bool knows_weights : {true, false}) {
    Models x = random_models(8, 9000), y = knows_weights ? Models{} : random_models(8, 9000);
    if (!knows_weights)
      for (auto& each : y)
        for (float& value : each) value = value > 0 ? 1.0f : -1.0f;  // one bit of what it was
    CHECK(mix_models(mixing, knows_weights ? 1 : 0.7, x, y).drift < 1e-6);
  }
  // Negative control: weights that are not doubly stochastic, of a mixing done by hand.
  Models x = random_models(3, 100);
  double before = 0, after = 0;
  for (std::size_t e = 0; e < 100; ++e) {
    before += x[0][e] + x[1][e] + x[2][e];
    x[1][e] = 0.5f * x[0][e] + 0.5f * x[1][e];
    after += x[0][e] + x[1][e] + x[2][e];
  }
  CHECK(std::abs(after - before) > 1e-3);
}

TEST_CASE("mixing alone brings workers together by the spectral gap at least", "[gossip]") {
  const sim::Mixing mixing = sim::make_mixing(8, sim::both_ways(sim::gossip_ring(8)));
  const double factor = 1 - mixing.spectral_gap();
  Models x = random_models(8, 5000);
  double last = mix_models(mixing, 1, x).distance;
  for (int i = 0; i < 20; ++i) {
    const double now = mix_models(mixing, 1, x).distance;
    CHECK(now <= last * factor * factor * (1 + 1e-5));
    last = now;
  }
}

TEST_CASE("what is mixed does not depend on host threads", "[gossip]") {
  const sim::Mixing mixing = sim::make_mixing(5, sim::directed_exponential(5));
  Models one = random_models(5, 20000);
  const Models start = one;
  const MixOutcome outcome = mix_models(mixing, 1, one);
  for (const int threads : {2, 4}) {
    Models several = start;
    const MixOutcome same = mix_models(mixing, 1, several, {}, threads);
    CHECK(several == one);
    CHECK(same.drift == outcome.drift);
    CHECK(same.distance == outcome.distance);
  }
}

TEST_CASE("one worker learns as one does in lockstep, bit for bit", "[gossip]") {
  for (const char* graph : {"ring", "directed-ring", "torus", "exponential", "complete"}) {
    scenarios::Scenario scenario = scenario_of(1, graph);
    scenario.workload.momentum = 0.9;
    const Outcome alone = run(scenario);
    const Lockstep parent = in_lockstep(scenario);
    CHECK(alone.weights[0] == parent.weights);
    CHECK(alone.losses == parent.losses);
    CHECK(alone.evaluation.accuracy == parent.evaluation.accuracy);
    CHECK(alone.payloads.back() == Bytes(0));
    CHECK(figure(alone.figures, "spectral_gap") == 1);
  }
}

TEST_CASE("a complete graph with equal weights: lockstep's weights, up to rounding", "[gossip]") {
  // x_i - r g_i, averaged, is x - r mean(g): equal in exact arithmetic, with momentum too.
  for (const double momentum : {0.0, 0.9}) {
    scenarios::Scenario scenario = scenario_of(4, "complete");
    scenario.workload.momentum = momentum;
    const Outcome all = run(scenario);
    for (const auto& weights : all.weights) CHECK(weights == all.weights[0]);  // bit for bit
    CHECK(most_apart(all.weights[0], in_lockstep(scenario).weights) < 2e-6);
    CHECK(all.distances.back() < 1e-9);
    // Negative control: on a ring of 4 workers differ.
    scenario.schedule.graph = "ring";
    const Outcome ring = run(scenario);
    CHECK(ring.weights[0] != ring.weights[1]);
    CHECK(ring.distances.back() > 1e-6);
  }
}

TEST_CASE("messages are weights, and every edge has its bytes", "[gossip]") {
  const scenarios::Scenario plain = scenario_of(6, "ring");
  const Outcome dense = run(plain);
  const std::int64_t model = 4 * static_cast<std::int64_t>(dense.weights[0].size());
  CHECK(dense.payloads[3] == Bytes(12 * model));  // 6 workers with 2 neighbours each
  CHECK(figure(dense.figures, "edge_bytes") == static_cast<double>(model));
  CHECK(figure(dense.figures, "gossip_edges") == 12);
  const Outcome directed = run(scenario_of(6, "directed-ring"));
  CHECK(directed.payloads[3] == Bytes(6 * model));
  // int8: n + 12 bytes a tensor and 4 for its length; 4 tensors.
  const Outcome few = run(scenario_of(6, "ring", "int8"));
  CHECK(figure(few.figures, "edge_bytes") == static_cast<double>(model / 4 + 4 * 16));
}

TEST_CASE("the learner's mean is kept by every mixing of training", "[gossip]") {
  for (const char* method : {"none", "int8", "topk", "sign"}) {
    CAPTURE(method);
    scenarios::Scenario scenario = scenario_of(8, "exponential", method);
    scenario.method.error_feedback = scenario.method.name == "topk";
    CHECK(figure(run(scenario).figures, "mean_drift") < 1e-6);
  }
}

TEST_CASE("steps at the end only mix: workers agree more, and their mean stays", "[gossip]") {
  scenarios::Scenario scenario = scenario_of(8);
  scenario.workload.steps = 30;
  scenario.schedule.final_mixing = 18;
  const Outcome outcome = run(scenario);
  for (std::size_t step = 12; step < 30; ++step) {
    CHECK(outcome.distances[step] < outcome.distances[step - 1]);
    CHECK(outcome.losses[step] == outcome.losses[11]);
  }
  CHECK(outcome.distances[29] < 1e-2 * outcome.distances[11]);
  scenario.workload.steps = 12;
  scenario.schedule.final_mixing = 0;
  const Outcome before = run(scenario);
  double most = 0;
  for (std::size_t e = 0; e < before.weights[0].size(); ++e) {
    double change = 0;
    for (std::size_t w = 0; w < 8; ++w)
      change += static_cast<double>(outcome.weights[w][e]) - before.weights[w][e];
    most = std::max(most, std::abs(change / 8));
  }
  CHECK(most < 1e-6);
}

TEST_CASE("gossip learns, and hashes do not depend on host threads", "[gossip]") {
  for (const char* method : {"none", "int8", "topk"}) {
    scenarios::Scenario scenario = scenario_of(6, "torus", method);
    scenario.method.error_feedback = scenario.method.name == "topk";
    scenario.workload.steps = 40;
    scenario.workload.learning_rate = 0.2;
    const Outcome one = run(scenario, 1);
    // At a step of 1 a few largest weights are no good messages.
    if (scenario.method.name != "topk") CHECK(one.losses.back() < 0.8 * one.losses.front());
    for (const int threads : {2, 4}) {
      const Outcome several = run(scenario, threads);
      CHECK(several.hash == one.hash);
      CHECK(several.evaluation.loss == one.evaluation.loss);
    }
    scenario.seed = 2;
    CHECK(run(scenario).hash != one.hash);
  }
}

TEST_CASE("gossip goes on from a checkpoint with the same hash", "[gossip]") {
  for (const char* method : {"none", "topk"}) {
    scenarios::Scenario scenario = scenario_of(5, "ring", method);
    scenario.workload.momentum = 0.9;
    scenario.method.error_feedback = scenario.method.name == "topk";
    const Outcome whole = run(scenario);
    for (const int steps : {0, 1, 7}) {
      auto trainer = prepared(scenario);
      scenarios::StepPlan plan;
      for (int i = 0; i < steps; ++i) REQUIRE(trainer->next(plan));
      std::stringstream saved;
      trainer->save(saved);
      trainer = prepared(scenario, 2);
      trainer->load(saved);
      CHECK(finish(*trainer, 5).hash == whole.hash);
    }
    std::stringstream saved;
    prepared(scenario)->save(saved);
    scenario.cluster.workers = 4;
    CHECK_THROWS_AS(prepared(scenario)->load(saved), Error);
  }
}

TEST_CASE("a worker waits for its neighbours and for nobody else", "[gossip]") {
  // 2.1 ms a step; worker 0 is 5 times slower. On a directed ring of 8 worker 4 hears of it after
  // four steps: its first four steps take as long as if all were alike.
  scenarios::Scenario scenario = scenario_of(8, "directed-ring");
  scenario.cluster.slowdown.assign(8, 1.0);
  scenario.cluster.slowdown[0] = 5;
  scenario.workload.steps = 4;
  const auto trainer = prepared(scenario);
  const auto executor = sim::make_executor(
      "flow", sim::Cluster::star(8, {.rate = BitsPerSecond(1e14), .delay = Seconds(1e-9)}), {});
  std::vector<scenarios::StepPlan> plans;
  sim::GraphId last = 0;
  for (scenarios::StepPlan plan; trainer->next(plan); plan = {}) {
    plans.push_back(plan);
    last = executor->submit(scenarios::submission_of(plan));
    trainer->on_submitted(plan, last);
  }
  sim::run_to_end(*executor, last);
  const sim::Timeline& timeline = executor->timeline(last);
  const auto& graph = *plans.back().graph;
  const auto end_of = [&](int worker) {
    Seconds end{0};
    for (sim::OpIndex op = 0; op < graph.size(); ++op)
      if (graph.worker[op] == worker) end = std::max(end, timeline.ops[op].end);
    return end.value();
  };
  CHECK(end_of(0) == Approx(4 * 0.0105).margin(1e-4));
  CHECK(end_of(1) == Approx(4 * 0.0105).margin(1e-4));
  CHECK(end_of(4) == Approx(0.0105 + 3 * 0.0021).margin(1e-4));
  CHECK(end_of(5) == Approx(4 * 0.0021).margin(1e-4));
}

TEST_CASE("memory of a worker that gossips", "[gossip]") {
  scenarios::Scenario scenario = scenario_of(4);
  scenario.workload.momentum = 0.9;
  const Outcome outcome = run(scenario);
  const double model = 4.0 * static_cast<double>(outcome.weights[0].size());
  CHECK(figure(outcome.figures, "memory_optimizer_bytes") == model);
  CHECK(figure(outcome.figures, "memory_method_bytes") == 0);
  CHECK(figure(outcome.figures, "local_accuracy_worst") <=
        figure(outcome.figures, "local_accuracy_mean"));
}

}  // namespace
}  // namespace gradwire::trainers
