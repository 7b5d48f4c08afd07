#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <sstream>

#include "scenarios/build/build.h"
#include "sim/executors.h"
#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

/// Training over udp-lossy on the flow executor.
namespace gradwire::trainers {
namespace {

using Protocol = sim::TransportSettings::Protocol;

scenarios::Scenario lossy_scenario(double loss, const std::string& method = "none") {
  scenarios::Scenario scenario = digits_scenario("mlp", method);
  scenario.workload.steps = 30;
  scenario.exchange.bucket = Bytes(70'000);
  scenario.network.link.loss = loss;
  scenario.network.transport.protocol = Protocol::kUdpLossy;
  return scenario;
}

std::unique_ptr<scenarios::Trainer> prepared(const scenarios::Scenario& scenario, int threads = 1) {
  auto trainer = make_trainer(scenario, {threads, true});
  std::vector<std::int64_t> elements;
  for (const BucketSlot& bucket : static_cast<SynchronousTrainer&>(*trainer).layout().buckets())
    elements.push_back(bucket.count);
  trainer->use_profile(fixed_profile(elements));
  return trainer;
}

struct Steps {
  std::vector<double> losses;
  std::map<std::string, double> last;  ///< figures of the last step
};

/// `steps` steps, each on a network of its own that is seeded by the step, so that what it loses
/// does not depend on the steps before. `heeds`: the trainer is told what is missing.
Steps run_steps(scenarios::Trainer& trainer, const scenarios::Scenario& scenario, int steps,
                bool heeds = true) {
  Steps done;
  for (int i = 0; i < steps; ++i) {
    scenarios::StepPlan plan;
    REQUIRE(trainer.next(plan));
    done.losses.push_back(plan.loss);
    sim::ExecutorOptions options;
    options.transport = scenario.network.transport;
    options.seed = static_cast<std::uint64_t>(plan.step) + 1;
    plan.after.clear();
    const int hosts = scenario.cluster.workers + scenario.exchange.shards;
    const auto executor =
        sim::make_executor("flow", sim::Cluster::star(hosts, scenario.network.link), options);
    const sim::GraphId graph = executor->submit(scenarios::submission_of(plan));
    trainer.on_submitted(plan, graph);
    const sim::Timeline& timeline = sim::run_to_end(*executor, graph);
    const auto missing = heeds ? executor->missing(graph) : std::span<const sim::MissingData>();
    done.last.clear();
    for (const auto& figure : trainer.on_step_ended(plan, {timeline, timeline.end, missing}))
      done.last[figure.name] = figure.value;
  }
  return done;
}

std::uint64_t hash_over_tcp(scenarios::Scenario scenario) {
  scenario.network.transport.protocol = Protocol::kTcp;
  const auto trainer = prepared(scenario);
  for (scenarios::StepPlan plan; trainer->next(plan); plan = {}) {
  }
  return trainer->learning_hash();
}

bool all_equal(const SynchronousTrainer& trainer, int workers) {
  const auto first = trainer.weights_of(0);
  for (int w = 1; w < workers; ++w) {
    const auto own = trainer.weights_of(w);
    if (std::memcmp(own.data(), first.data(), first.size_bytes()) != 0) return false;
  }
  return true;
}

struct Case {
  const char* method;
  bool feedback;
  const char* collective;
};
const Case kCases[] = {{"none", false, "ring"},
                       {"none", false, "parameter-server"},
                       {"terngrad", false, "ring"},
                       {"topk", true, "ring"},
                       {"topk", true, "parameter-server"},
                       {"minmax", true, "ring"},
                       {"fp16", false, "halving-doubling"}};

scenarios::Scenario scenario_of(const Case& c, double loss, int steps) {
  scenarios::Scenario scenario = lossy_scenario(loss, c.method);
  scenario.method.error_feedback = c.feedback;
  scenario.exchange.collective = c.collective;
  scenario.workload.steps = steps;
  return scenario;
}

TEST_CASE("where nothing is lost, all workers hold what tcp gives, bit for bit") {
  for (const Case& c : kCases) {
    INFO(c.method << " " << c.collective);
    const scenarios::Scenario scenario = scenario_of(c, 0, 6);
    const auto trainer = prepared(scenario);
    const Steps steps = run_steps(*trainer, scenario, 6);
    CHECK(trainer->learning_hash() == hash_over_tcp(scenario));
    CHECK(all_equal(static_cast<SynchronousTrainer&>(*trainer), 4));
    CHECK(steps.last.at("missing_share") == 0);
    CHECK(steps.last.at("gradient_error") == 0);
    CHECK(steps.last.at("weight_spread") == 0);
    scenarios::StepPlan plan;
    CHECK_FALSE(trainer->next(plan));
  }
}

TEST_CASE("local steps start from each worker's own weights") {
  scenarios::Scenario scenario = scenario_of(kCases[0], 0, 6);
  scenario.workload.momentum = 0;
  scenario.schedule.local_steps = 3;
  const auto trainer = prepared(scenario);
  run_steps(*trainer, scenario, 6);
  CHECK(trainer->learning_hash() == hash_over_tcp(scenario));
  scenario = scenario_of(kCases[0], 0.05, 6);  // negative control: what is lost drives them apart
  scenario.schedule.local_steps = 3;
  const auto lossy = prepared(scenario);
  CHECK(run_steps(*lossy, scenario, 6).last.at("weight_spread") > 0);
}

TEST_CASE("with loss replicas drift apart, and learn; told of no loss, they stay equal") {
  const scenarios::Scenario scenario = lossy_scenario(0.02);
  const auto trainer = prepared(scenario);
  const auto& lossy = static_cast<const SynchronousTrainer&>(*trainer);
  const Steps steps = run_steps(*trainer, scenario, 30);
  CHECK(steps.losses.back() < 0.3 * steps.losses.front());
  CHECK(trainer->evaluate().accuracy > 0.8);
  CHECK_FALSE(all_equal(lossy, 4));
  // Each datagram crosses two links: 1 - 0.98^2 = 0.0396 are lost, of about 600 a step and 30
  // steps.
  const std::vector<scenarios::Figure> figures = trainer->figures();
  REQUIRE(figures.size() > 3);  // what memory takes follows
  CHECK(figures[0].name == "missing_share");
  CHECK(figures[0].value == Approx(0.0396).epsilon(0.1));
  // A chunk's sum of N terms is not told to its takers with probabilities of p, 2 p, ...: some 3 p.
  CHECK(figures[1].value > 0.1);
  CHECK(figures[1].value < 0.6);
  CHECK(figures[2].value > 1e-3);
  CHECK(figures[2].value < 0.3);
  CHECK(figures[2].value == steps.last.at("weight_spread"));
  // Negative control.
  const auto deaf = prepared(scenario);
  CHECK(run_steps(*deaf, scenario, 30, false).last.at("weight_spread") == 0);
  CHECK(all_equal(static_cast<SynchronousTrainer&>(*deaf), 4));
  CHECK(deaf->learning_hash() != trainer->learning_hash());
}

TEST_CASE("every kind of exchange learns with loss, whatever the number of host threads") {
  for (const Case& c : kCases) {
    INFO(c.method << " " << c.collective);
    scenarios::Scenario scenario = scenario_of(c, 0.01, 20);
    const auto trainer = prepared(scenario), threaded = prepared(scenario, 3);
    const Steps steps = run_steps(*trainer, scenario, 20);
    CHECK(steps.losses.back() < 0.85 * steps.losses.front());
    CHECK(steps.last.at("weight_spread") > 0);
    run_steps(*threaded, scenario, 20);
    CHECK(threaded->learning_hash() == trainer->learning_hash());
    CHECK(threaded->evaluate().loss == trainer->evaluate().loss);
  }
}

TEST_CASE("a worker's update is of its own mean to its own weights") {
  scenarios::Scenario scenario = lossy_scenario(0.05);
  scenario.workload.momentum = 0;
  const auto trainer = prepared(scenario);
  const auto& lossy = static_cast<const SynchronousTrainer&>(*trainer);
  run_steps(*trainer, scenario, 3);
  std::vector<std::vector<float>> before;
  for (int w = 0; w < 4; ++w)
    before.emplace_back(lossy.weights_of(w).begin(), lossy.weights_of(w).end());
  run_steps(*trainer, scenario, 1);
  // sgd without momentum: x - 0.05 m.
  for (int w = 0; w < 4; ++w) {
    const auto mean = lossy.mean_of(w), weights = lossy.weights_of(w);
    for (std::size_t e = 0; e < mean.size(); e += 97)
      CHECK(weights[e] == Approx(before[static_cast<std::size_t>(w)][e] - 0.05f * mean[e]));
  }
}

TEST_CASE("a lossy run that is resumed ends as one that was never interrupted") {
  for (const Case& c : kCases) {
    INFO(c.method << " " << c.collective);
    scenarios::Scenario scenario = scenario_of(c, 0.03, 8);
    scenario.workload.optimizer = c.feedback ? "adam" : "sgd";
    scenario.workload.learning_rate = 0.005;
    const auto whole = prepared(scenario), first = prepared(scenario), second = prepared(scenario);
    run_steps(*whole, scenario, 8);
    run_steps(*first, scenario, 5);
    std::stringstream checkpoint;
    first->save(checkpoint);
    second->load(checkpoint);
    CHECK(second->learning_hash() == first->learning_hash());
    run_steps(*second, scenario, 3);
    CHECK(second->learning_hash() == whole->learning_hash());
    for (std::size_t i = 0; i < 3; ++i)
      CHECK(second->figures()[i].value == whole->figures()[i].value);
    // Negative control: three steps that lose nothing end elsewhere.
    run_steps(*first, scenario, 3, false);
    CHECK(first->learning_hash() != whole->learning_hash());
  }
}

TEST_CASE("checkpoints of equal and of drifting replicas are not taken for each other") {
  const scenarios::Scenario scenario = lossy_scenario(0.01);
  scenarios::Scenario tcp = scenario;
  tcp.network.transport.protocol = Protocol::kTcp;
  std::stringstream equal, drifting;
  prepared(tcp)->save(equal);
  prepared(scenario)->save(drifting);
  CHECK_THROWS_WITH(prepared(scenario)->load(equal), Catch::Contains("ends too early"));
  CHECK_THROWS_WITH(prepared(tcp)->load(drifting), Catch::Contains("another kind of training"));
}

}  // namespace
}  // namespace gradwire::trainers
