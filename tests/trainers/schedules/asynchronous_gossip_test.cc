#include "trainers/schedules/gossip/asynchronous_gossip.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tests/trainers/schedules/gossip_fixture.h"
#include "trainers/timing/event_driver.h"
#include "trainers/trainer_error.h"

/// Gossip whose workers use late neighbours as they last were: a step of the digits takes 2 ms and
/// its update 0.1 ms.
namespace gradwire::trainers {
namespace {

using namespace gossip;

/// A network that takes almost no time.
const sim::LinkSpec kFast{.rate = BitsPerSecond(1e14), .delay = Seconds(1e-9)};
constexpr double kStep = 2.1e-3;

scenarios::Scenario late(int workers, double patience, const std::string& graph = "ring",
                         const std::string& method = "none") {
  scenarios::Scenario scenario = scenario_of(workers, graph, method);
  scenario.cluster.slowdown.assign(static_cast<std::size_t>(workers), 1.0);
  scenario.schedule.patience = Seconds(patience);
  return scenario;
}

const AsynchronousGossip& gossip_of(const scenarios::Trainer& trainer) {
  return dynamic_cast<const AsynchronousGossip&>(trainer);
}

struct Result {
  std::vector<scenarios::StepReport> rows;
  std::vector<std::vector<float>> weights;
  std::vector<scenarios::Figure> figures;
  std::uint64_t hash = 0;
  double end = 0;
};

Result result_of(const EventDriver& driver, const scenarios::Trainer& trainer, int workers) {
  Result result;
  result.rows = driver.rows;
  result.figures = trainer.figures();
  result.hash = trainer.learning_hash();
  result.end = driver.rows.back().end.value();
  for (int w = 0; w < workers; ++w) {
    const auto own = gossip_of(trainer).models().weights(w);
    result.weights.emplace_back(own.begin(), own.end());
  }
  return result;
}

Result run_late(const scenarios::Scenario& scenario, const sim::Cluster& cluster, int threads = 1) {
  const auto trainer = prepared(scenario, threads);
  EventDriver driver(cluster);
  driver.run(*trainer);
  return result_of(driver, *trainer, scenario.cluster.workers);
}

Result run_late(const scenarios::Scenario& scenario, int threads = 1) {
  return run_late(scenario, sim::Cluster::star(scenario.cluster.workers + 1, kFast), threads);
}

/// Workers on a star; messages of a model take `seconds` over the link of worker 1.
sim::Cluster with_slow_link(const scenarios::Scenario& scenario, double seconds) {
  sim::Cluster cluster = sim::Cluster::star(scenario.cluster.workers + 1, kFast);
  const double bytes = 4.0 * static_cast<double>(prepared(scenario)->parameters());
  cluster.change_link(1, {.rate = BitsPerSecond(8 * bytes / seconds), .delay = Seconds(1e-9)});
  return cluster;
}

TEST_CASE("with equal speeds and more patience than a message takes it is lockstep, bit for bit",
          "[asynchronous-gossip]") {
  struct Case {
    const char *method, *graph;
    std::map<std::string, std::string> options = {};
  };
  const Case cases[] = {{"none", "ring"},
                        {"none", "complete"},
                        {"int8", "directed-ring"},
                        {"topk", "torus"},
                        {"choco-sgd", "ring", {{"messages", "int8"}}},
                        {"choco-sgd", "exponential", {{"messages", "topk"}, {"step", "0.3"}}},
                        {"deepsqueeze", "ring", {{"messages", "int8"}}}};
  for (const Case& each : cases) {
    CAPTURE(each.method, each.graph);
    scenarios::Scenario scenario = late(6, 1, each.graph, each.method);
    scenario.method.options = each.options;
    scenario.method.error_feedback = scenario.method.name == "topk";
    scenario.workload.optimizer = "quasi-global";
    scenario.workload.momentum = 0.9;
    const Result free = run_late(scenario);
    CHECK(figure(free.figures, "staleness_max") == 0);
    CHECK(figure(free.figures, "messages_left_out") == 0);
    CHECK(figure(free.figures, "mean_drift") < 1e-6);
    // Negative control: without patience workers mix what is a step old.
    scenario.schedule.patience = Seconds(0);
    CHECK(run_late(scenario).weights != free.weights);
    scenario.schedule.patience.reset();
    const Outcome lockstep = run(scenario);
    CHECK(free.weights == lockstep.weights);
    REQUIRE(free.rows.size() == lockstep.losses.size());
    for (std::size_t i = 0; i < free.rows.size(); ++i) {
      CHECK(free.rows[i].loss == Approx(lockstep.losses[i]).epsilon(1e-12));
      CHECK(free.rows[i].payload == lockstep.payloads[i]);
      CHECK(figure(free.rows[i].figures, "consensus_distance") ==
            Approx(lockstep.distances[i]).epsilon(1e-9));
    }
    CHECK(free.rows.back().evaluation->loss == lockstep.evaluation.loss);
  }
}

TEST_CASE("one worker without patience learns as one does in lockstep", "[asynchronous-gossip]") {
  for (const char* method : {"none", "choco-sgd"}) {
    const scenarios::Scenario scenario = late(1, 0, "ring", method);
    const Result alone = run_late(scenario);
    scenarios::Scenario parent = scenario;
    parent.schedule.patience.reset();
    CHECK(alone.weights == run(parent).weights);
    CHECK(alone.weights[0] == in_lockstep(late(1, 0)).weights);
  }
}

TEST_CASE("without patience and with equal speeds everybody mixes what is one step old",
          "[asynchronous-gossip]") {
  scenarios::Scenario scenario = late(5, 0);
  const Result result = run_late(scenario);
  // Each mixing but the first uses both neighbours' messages of the step before.
  CHECK(figure(result.figures, "staleness_max") == 1);
  CHECK(figure(result.figures, "staleness_mean") == 1);
  // By hand: z_i(t) = x_i after its step t; x_i <- w z_i(t) + w z_j(t - 1) + w z_k(t - 1).
  scenario.schedule.patience.reset();
  const auto other = prepared(scenario);
  auto& models = const_cast<GossipModels&>(models_of(*other));
  const sim::Mixing& mixing = dynamic_cast<const GossipTrainer&>(*other).mixing();
  std::vector<std::vector<float>> before;
  for (int t = 0; t < 12; ++t) {
    std::vector<std::vector<float>> now;
    for (int w = 0; w < 5; ++w) {
      models.learn(w, 0, t);
      now.emplace_back(models.weights(w).begin(), models.weights(w).end());
    }
    for (int w = 0; w < 5 && t > 0; ++w) {
      const std::span<float> x = models.weights(w);
      for (std::size_t e = 0; e < x.size(); ++e) {
        float sum = 0;
        for (int j = 0; j < 5; ++j) {
          const bool next_to = (j + 1) % 5 == w || (w + 1) % 5 == j;
          if (j != w && !next_to) continue;
          const auto weight = static_cast<float>(j == w ? mixing.self(w) : 1.0 / 3);
          sum += weight * (j == w ? now : before)[static_cast<std::size_t>(j)][e];
        }
        x[e] = sum;
      }
    }
    before = now;
  }
  for (int w = 0; w < 5; ++w)
    CHECK(most_apart({models.weights(w).begin(), models.weights(w).end()},
                     result.weights[static_cast<std::size_t>(w)]) < 1e-6);
}

TEST_CASE("workers that hear of nobody are separate workers, bit for bit",
          "[asynchronous-gossip]") {
  for (const char* method : {"none", "choco-sgd", "deepsqueeze"}) {
    scenarios::Scenario scenario = late(4, 0, "ring", method);
    const sim::LinkSpec dead_slow{.rate = BitsPerSecond(1000), .delay = Seconds(1)};
    const Result alone = run_late(scenario, sim::Cluster::star(5, dead_slow));
    CHECK(alone.rows.back().payload == Bytes(0));
    scenario.schedule.patience.reset();
    scenario.method.name = "none";
    scenario.method.options.clear();
    const auto other = prepared(scenario);
    auto& models = const_cast<GossipModels&>(models_of(*other));
    for (int w = 0; w < 4; ++w) {
      for (int t = 0; t < 12; ++t) models.learn(w, 0, t);
      const auto own = models.weights(w);
      CHECK(std::ranges::equal(alone.weights[static_cast<std::size_t>(w)], own));
    }
  }
}

TEST_CASE("a straggler holds nobody up, and is used as it last was", "[asynchronous-gossip]") {
  scenarios::Scenario scenario = late(4, 0);
  scenario.cluster.slowdown[0] = 5;
  scenario.workload.steps = 40;
  const Result free = run_late(scenario);
  // 160 steps: of each fast worker 50, of the slow one 10; in lockstep 40 of each.
  CHECK(free.end == Approx(50 * kStep).epsilon(0.05));
  // It makes no steps meanwhile, so that what is used of it is old in time and not in steps.
  CHECK(figure(free.figures, "staleness_max") <= 2);
  CHECK(figure(free.figures, "neighbour_age_s") > 1.3 * kStep);
  CHECK(figure(free.figures, "messages_left_out") == 0);
  // With patience for the slow worker all are as slow as it.
  scenario.schedule.patience = Seconds(1);
  const Result bound = run_late(scenario);
  CHECK(bound.end == Approx(40 * 5 * kStep).epsilon(0.05));
  CHECK(figure(bound.figures, "staleness_max") <= 1);
  // With a little a step takes so much longer.
  scenario.schedule.patience = Seconds(1e-3);
  const Result little = run_late(scenario);
  CHECK(little.end > free.end * 1.2);
  CHECK(little.end < free.end * 1.6);
}

TEST_CASE("a slow link: its ends hear late of each other, the others as before",
          "[asynchronous-gossip]") {
  for (const char* method : {"none", "choco-sgd", "deepsqueeze"}) {
    CAPTURE(method);
    scenarios::Scenario scenario = late(6, 0, "ring", method);
    scenario.workload.steps = 40;
    scenario.workload.learning_rate = 0.2;
    scenario.method.options.clear();
    if (scenario.method.name != "none") scenario.method.options = {{"messages", "int8"}};
    const double share = scenario.method.name == "none" ? 1.0 : 0.25;
    // A message takes 10 steps each way over that link.
    const sim::Cluster cluster = with_slow_link(scenario, 10 * kStep / share);
    const Result free = run_late(scenario, cluster);
    CHECK(free.end < 1.1 * 40 * kStep);
    CHECK(figure(free.figures, "messages_left_out") > 40);
    CHECK(figure(free.figures, "staleness_max") >= 10);
    CHECK(figure(free.figures, "staleness_p50") == 1);
    CHECK(free.rows.back().loss < 0.85 * free.rows.front().loss);
    // What such messages say brings workers together all the same.
    CHECK(figure(free.figures, "consensus_distance") < 5);
    // Mixing at different times moves the mean, as that in lockstep does not.
    CHECK(figure(free.figures, "mean_drift") > 1e-6);
    // Everyone waits for the slow link in the end.
    scenario.schedule.patience = Seconds(1);
    const Result bound = run_late(scenario, cluster);
    CHECK(bound.end > 5 * free.end);
    CHECK(figure(bound.figures, "staleness_max") <= 1);
    // Old neighbours hold a worker back: the same steps learn less.
    CHECK(bound.rows.back().loss < free.rows.back().loss);
  }
}

TEST_CASE("sender and receivers know the same of differences, along a slow link, too",
          "[asynchronous-gossip]") {
  // Without a codec a difference leaves out nothing, so that a receiver knows the weights: as with
  // messages that say weights, but for rounding.
  scenarios::Scenario scenario = late(5, 0);
  const sim::Cluster cluster = with_slow_link(scenario, 3.4 * kStep);
  const Result plain = run_late(scenario, cluster);
  scenario.method.name = "choco-sgd";
  scenario.method.options = {{"messages", "none"}};
  const Result differences = run_late(scenario, cluster);
  CHECK(figure(plain.figures, "messages_left_out") > 0);
  CHECK(figure(differences.figures, "messages_left_out") ==
        figure(plain.figures, "messages_left_out"));
  for (std::size_t w = 0; w < 5; ++w)
    CHECK(most_apart(plain.weights[w], differences.weights[w]) < 1e-5);
}

TEST_CASE("hashes of asynchronous gossip do not depend on host threads", "[asynchronous-gossip]") {
  for (const char* method : {"none", "choco-sgd", "deepsqueeze"}) {
    scenarios::Scenario scenario = late(6, 1e-3, "ring", method);
    scenario.cluster.slowdown = {1, 2, 1, 3.5, 1, 1.7};
    const sim::Cluster cluster = with_slow_link(scenario, 4e-3);
    const Result one = run_late(scenario, cluster);
    for (const int threads : {2, 4}) {
      const Result several = run_late(scenario, cluster, threads);
      CHECK(several.hash == one.hash);
      CHECK(several.end == one.end);
      CHECK(several.rows.back().evaluation->loss == one.rows.back().evaluation->loss);
    }
    scenario.seed = 2;
    CHECK(run_late(scenario, cluster).hash != one.hash);
  }
}

TEST_CASE("asynchronous gossip goes on from a checkpoint with the same hash",
          "[asynchronous-gossip]") {
  for (const char* method : {"none", "choco-sgd", "deepsqueeze"}) {
    scenarios::Scenario scenario = late(5, 1e-3, "ring", method);
    scenario.cluster.slowdown = {1, 2, 1, 4, 1.7};
    scenario.workload.optimizer = "quasi-global";
    scenario.workload.momentum = 0.9;
    const sim::Cluster cluster = with_slow_link(scenario, 5e-3);
    const Result whole = run_late(scenario, cluster);
    for (const int instants : {0, 1, 9, 40, 77, 120}) {
      auto trainer = prepared(scenario);
      EventDriver driver(cluster);
      driver.start(*trainer);
      for (int i = 0; i < instants; ++i) driver.step(*trainer);
      std::stringstream saved;
      trainer->save(saved);
      trainer = prepared(scenario, 2);
      trainer->load(saved);
      driver.finish(*trainer);
      CAPTURE(method, instants);
      const Result resumed = result_of(driver, *trainer, 5);
      CHECK(resumed.hash == whole.hash);
      CHECK(resumed.end == whole.end);
      CHECK(figure(resumed.figures, "staleness_mean") == figure(whole.figures, "staleness_mean"));
      CHECK(figure(resumed.figures, "mean_drift") == figure(whole.figures, "mean_drift"));
    }
  }
  std::stringstream saved;
  prepared(late(5, 0))->save(saved);
  CHECK_THROWS_AS(prepared(late(4, 0))->load(saved), Error);
}

TEST_CASE("a worker that goes away is used as it last was", "[asynchronous-gossip]") {
  // Transfers that would take more than an hour are given up.
  for (const double patience : {0.0, 2000.0}) {
    CAPTURE(patience);
    const scenarios::Scenario scenario = late(4, patience);
    sim::Cluster cluster = sim::Cluster::star(5, kFast);
    sim::HostPlan gone;
    gone.absences = {{Seconds(0.007), sim::kNeverReturns}};
    cluster.set_host_plan(2, gone);
    const Result result = run_late(scenario, cluster);
    CHECK(result.rows.size() == 12);
    if (patience == 0) {
      // It has made 3 of 48 steps, the others 15 each.
      CHECK(result.end == Approx(15 * kStep));
      CHECK(figure(result.figures, "messages_left_out") >= 20);
    } else {
      CHECK(figure(result.figures, "edges_lost") == 2);  // to it; it sends nothing any more
      CHECK(result.end == Approx(12 * patience).epsilon(0.01));
    }
  }
}

}  // namespace
}  // namespace gradwire::trainers
