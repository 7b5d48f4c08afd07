#include "trainers/schedules/asynchronous/asynchronous_trainer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <sstream>

#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/event_driver.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

scenarios::Scenario asynchronous(int workers, const std::string& method = "none") {
  scenarios::Scenario scenario = digits_scenario("mlp", method);
  scenario.cluster.workers = workers;
  scenario.cluster.slowdown.assign(static_cast<std::size_t>(workers), 1.0);
  scenario.exchange.collective = "parameter-server";
  scenario.schedule.kind = "asynchronous";
  scenario.workload.hidden = {32};
  scenario.workload.steps = 24;
  scenario.workload.evaluate_every = 8;
  return scenario;
}

/// A network that takes almost no time.
const sim::LinkSpec kFast{.rate = BitsPerSecond(1e14), .delay = Seconds(1e-9)};

struct Result {
  std::vector<scenarios::StepReport> rows;
  std::vector<float> weights;
  std::uint64_t hash = 0;
  std::vector<scenarios::Figure> figures;
};

/// A trip takes 2 ms times the worker's slowdown, and 0.1 ms at the server.
std::unique_ptr<scenarios::Trainer> make(const scenarios::Scenario& scenario, int threads = 1) {
  auto trainer = make_trainer(scenario, {threads, true});
  trainer->use_profile(fixed_profile({trainer->parameters()}));
  return trainer;
}

std::vector<float> weights_of(const scenarios::Trainer& trainer) {
  const auto weights = dynamic_cast<const AsynchronousTrainer&>(trainer).weights();
  return {weights.begin(), weights.end()};
}

Result run(const scenarios::Scenario& scenario, int threads = 1,
           const sim::LinkSpec& link = kFast) {
  const auto trainer = make(scenario, threads);
  EventDriver driver(scenario.cluster.workers, link);
  driver.run(*trainer);
  return {driver.rows, weights_of(*trainer), trainer->learning_hash(), trainer->figures()};
}

double figure(const std::vector<scenarios::Figure>& figures, const std::string& name) {
  const auto found = std::ranges::find(figures, name, &scenarios::Figure::name);
  REQUIRE(found != figures.end());
  return found->value;
}

std::vector<int> staleness(const Result& result, int of_worker = -1) {
  std::vector<int> all;
  for (const auto& row : result.rows)
    if (of_worker < 0 || figure(row.figures, "worker_of_update") == of_worker)
      all.push_back(static_cast<int>(figure(row.figures, "staleness")));
  return all;
}

TEST_CASE("one worker learns as one worker does in lockstep, bit for bit", "[asynchronous]") {
  for (const char* method : {"none", "fp16", "qsgd", "topk", "terngrad"}) {
    CAPTURE(method);
    scenarios::Scenario scenario = asynchronous(1, method);
    scenario.method.error_feedback = scenario.method.name == "topk";
    scenario.workload.rate_schedule.shape = RateSchedule::Shape::kCosine;
    scenario.workload.rate_schedule.in_epochs = true;
    const Result free = run(scenario);
    scenario.schedule.kind = "lockstep";
    const auto trainer = make_trainer(scenario, {1, true});
    trainer->use_profile(fixed_profile({trainer->parameters()}));
    scenarios::StepPlan plan;
    std::vector<double> losses;
    while (trainer->next(plan)) losses.push_back(plan.loss);
    const auto weights = dynamic_cast<SynchronousTrainer&>(*trainer).weights();
    CHECK(std::ranges::equal(weights, free.weights));
    REQUIRE(losses.size() == free.rows.size());
    for (std::size_t i = 0; i < losses.size(); ++i) CHECK(losses[i] == free.rows[i].loss);
    CHECK(free.rows.back().evaluation->accuracy == trainer->evaluate().accuracy);
    CHECK(figure(free.figures, "staleness_max") == 0);
  }
}

TEST_CASE("workers alike: the first updates are 0, 1, 2, ... old, all others N - 1",
          "[asynchronous]") {
  const Result result = run(asynchronous(4));
  // All are sent version 0. Worker 0 is sent version 1 after the first update, and the three
  // others' updates come before its next one.
  std::vector<int> expected(24, 3);
  std::copy_n(std::vector<int>{0, 1, 2, 3}.begin(), 4, expected.begin());
  CHECK(staleness(result) == expected);
  CHECK(figure(result.figures, "staleness_mean") == Approx((0 + 1 + 2 + 21 * 3) / 24.0));
  CHECK(figure(result.figures, "staleness_p50") == 3);
  CHECK(figure(result.figures, "staleness_max") == 3);
  CHECK(result.rows[7].evaluation.has_value());
  CHECK_FALSE(result.rows[8].evaluation.has_value());
}

TEST_CASE("a straggler's updates are old, and nobody waits for it", "[asynchronous]") {
  scenarios::Scenario scenario = asynchronous(2);
  scenario.cluster.slowdown = {1, 5};
  const Result result = run(scenario);
  // Worker 0's trips take 2.1 ms, worker 1's 10.1 ms. Of worker 1's first trip: 4 updates by
  // 8.4 ms, and the server takes the fifth one at 10.4 ms, after its own at 10.1 ms.
  CHECK(staleness(result, 1).front() == 4);
  for (const int each : staleness(result, 1)) CHECK((each == 4 || each == 5));
  for (const int each : staleness(result, 0)) CHECK((each == 0 || each == 1));
  // 24 updates: about 20 of worker 0 in 42 ms.
  CHECK(result.rows.back().end.value() == Approx(0.042).margin(0.003));
  // Negative control: with the bound 0 they take turns.
  scenario.schedule.most_stale = 0;
  const Result bound = run(scenario);
  for (std::size_t i = 0; i < bound.rows.size(); ++i)
    CHECK(figure(bound.rows[i].figures, "worker_of_update") == static_cast<double>(i % 2));
  CHECK(bound.rows.back().end.value() == Approx(12 * 0.0101).margin(1e-4));
}

TEST_CASE("a slow link makes updates old as a slow worker does", "[asynchronous]") {
  const scenarios::Scenario scenario = asynchronous(2);
  sim::Cluster cluster = sim::Cluster::star(3, kFast);
  const Result even = run(scenario);
  const auto trainer = make(scenario);
  const double bytes = 4.0 * static_cast<double>(trainer->parameters());
  cluster.change_link(1, {.rate = BitsPerSecond(8 * bytes / 4e-3), .delay = Seconds(1e-9)});
  EventDriver driver(cluster);
  driver.run(*trainer);
  double sum = 0, count = 0;
  for (const auto& row : driver.rows)
    if (figure(row.figures, "worker_of_update") == 1)
      sum += figure(row.figures, "staleness"), ++count;
  // A trip over the slow link takes 4 + 2 + 4 + 0.1 ms and more, the other 2.1 ms.
  CHECK(sum / count >= 4);
  CHECK(figure(even.figures, "staleness_max") == 1);
}

TEST_CASE("the rate's factor", "[asynchronous]") {
  scenarios::ScheduleChoice choice;
  CHECK(rate_factor(choice, 7) == 1);
  choice.staleness = "divide";
  CHECK(rate_factor(choice, 0) == 1);
  CHECK(rate_factor(choice, 1) == 1);
  CHECK(rate_factor(choice, 4) == 0.25);
  choice.staleness = "power";
  choice.staleness_power = 0.5;
  CHECK(rate_factor(choice, 0) == 1);
  CHECK(rate_factor(choice, 3) == 0.5);
}

TEST_CASE("at staleness 0 a rate that heeds it learns the same, bit for bit", "[asynchronous]") {
  for (const char* kind : {"divide", "power"}) {
    scenarios::Scenario alone = asynchronous(1), four = asynchronous(4);
    const Result plain = run(alone), plain_four = run(four);
    alone.schedule.staleness = four.schedule.staleness = kind;
    CHECK(run(alone).hash == plain.hash);
    CHECK(run(four).hash != plain_four.hash);  // negative control
  }
}

TEST_CASE("a bound of 0: all take a gradient at the same weights, as lockstep at N times the rate",
          "[asynchronous]") {
  scenarios::Scenario scenario = asynchronous(4);
  scenario.workload.momentum = 0;
  scenario.workload.learning_rate = 0.02;
  scenario.schedule.most_stale = 0;
  scenario.cluster.slowdown = {1, 3, 2, 1};
  const Result bound = run(scenario);
  const std::vector<int> ages = staleness(bound);
  for (std::size_t i = 0; i < ages.size(); ++i) CHECK(ages[i] == static_cast<int>(i % 4));
  // x - r g_0 - r g_1 - r g_2 - r g_3 = x - 4 r mean: up to the order of additions.
  scenario.schedule = {};
  scenario.workload.steps = 6;
  scenario.workload.learning_rate = 0.08;
  const auto lockstep = [&] {
    const auto trainer = make_trainer(scenario, {1, true});
    trainer->use_profile(fixed_profile({trainer->parameters()}));
    scenarios::StepPlan plan;
    while (trainer->next(plan)) {
    }
    const auto weights = dynamic_cast<SynchronousTrainer&>(*trainer).weights();
    return std::vector<float>(weights.begin(), weights.end());
  };
  const auto difference = [&](const std::vector<float>& weights) {
    double most = 0;
    for (std::size_t i = 0; i < weights.size(); ++i)
      most = std::max(most, std::abs(static_cast<double>(weights[i]) - bound.weights[i]));
    return most;
  };
  CHECK(difference(lockstep()) < 1e-5);
  scenario.workload.learning_rate = 0.02;  // negative control
  CHECK(difference(lockstep()) > 1e-3);
}

TEST_CASE("a bound of b: workers' updates differ by b + 1 at most", "[asynchronous]") {
  scenarios::Scenario scenario = asynchronous(3);
  scenario.workload.steps = 40;
  scenario.cluster.slowdown = {1, 1.3, 6};
  const auto furthest = [&](const Result& result) {
    std::vector<int> trips(3);
    int most = 0;
    for (const auto& row : result.rows) {
      ++trips[static_cast<std::size_t>(figure(row.figures, "worker_of_update"))];
      most = std::max(most, *std::ranges::max_element(trips) - *std::ranges::min_element(trips));
    }
    return most;
  };
  CHECK(furthest(run(scenario)) > 6);
  for (const int bound : {0, 1, 3}) {
    scenario.schedule.most_stale = bound;
    const Result result = run(scenario);
    CHECK(furthest(result) == bound + 1);
    // Between being sent weights and its update, each other worker has 2 b + 1 updates at most.
    CHECK(figure(result.figures, "staleness_max") <= 2 * (2 * bound + 1));
  }
}

TEST_CASE("hashes and rows do not depend on host threads", "[asynchronous]") {
  for (const char* method : {"none", "qsgd", "topk"}) {
    scenarios::Scenario scenario = asynchronous(6, method);
    scenario.method.error_feedback = scenario.method.name == "topk";
    scenario.cluster.slowdown = {1, 2, 1, 3.5, 1, 1.7};
    const Result one = run(scenario, 1);
    for (const int threads : {2, 4}) {
      const Result several = run(scenario, threads);
      CHECK(several.hash == one.hash);
      CHECK(staleness(several) == staleness(one));
      CHECK(several.rows.back().end == one.rows.back().end);
      CHECK(several.rows.back().evaluation->loss == one.rows.back().evaluation->loss);
    }
    scenario.seed = 2;
    CHECK(run(scenario).hash != one.hash);
  }
}

TEST_CASE("a run that goes on from a checkpoint ends with the same hash", "[asynchronous]") {
  const std::string method =
      GENERATE("topk", "none");  // gradients as decoded, and as passes left them
  scenarios::Scenario scenario = asynchronous(5, method);
  scenario.method.error_feedback = method == "topk";
  scenario.schedule.most_stale = 3;
  scenario.cluster.slowdown = {1, 2, 1, 9, 1.7};
  const sim::LinkSpec link{.rate = BitsPerSecond(5e8), .delay = Seconds(2e-4)};
  const Result whole = run(scenario, 1, link);
  for (const int instants : {0, 1, 9, 40, 77}) {
    auto trainer = make(scenario);
    EventDriver driver(5, link);
    driver.start(*trainer);
    for (int i = 0; i < instants; ++i) driver.step(*trainer);
    std::stringstream saved;
    trainer->save(saved);
    trainer = make(scenario, 2);
    trainer->load(saved);
    driver.finish(*trainer);
    CAPTURE(method, instants, driver.rows.size());
    CHECK(trainer->learning_hash() == whole.hash);
    CHECK(driver.rows.back().end == whole.rows.back().end);
    CHECK(figure(trainer->figures(), "staleness_mean") == figure(whole.figures, "staleness_mean"));
  }
}

TEST_CASE("a checkpoint of another number of workers, or a damaged one, is refused",
          "[asynchronous]") {
  const auto trainer = make(asynchronous(2));
  std::stringstream saved;
  trainer->save(saved);
  CHECK_THROWS_AS(make(asynchronous(3))->load(saved), TrainerError);
  std::string text = saved.str();
  text[text.size() / 2] ^= 1;
  std::istringstream damaged(text);
  CHECK_THROWS_AS(make(asynchronous(2))->load(damaged), Error);
}

TEST_CASE("a worker that goes away for good is not waited for", "[asynchronous]") {
  scenarios::Scenario scenario = asynchronous(3);
  sim::Cluster cluster = sim::Cluster::star(4, kFast);
  sim::HostPlan gone;
  gone.absences = {{Seconds(0.007), sim::kNeverReturns}};
  cluster.set_host_plan(2, gone);
  const auto trainer = make(scenario);
  EventDriver driver(cluster);
  driver.run(*trainer);
  REQUIRE(driver.rows.size() == 24);
  int late = 0;
  for (const auto& row : driver.rows)
    late += figure(row.figures, "worker_of_update") == 2 && row.end > Seconds(0.008);
  CHECK(late == 0);
}

TEST_CASE("bytes of an update: what the worker sends, and the model down", "[asynchronous]") {
  scenarios::Scenario scenario = asynchronous(2);
  const std::int64_t model = 4 * make(scenario)->parameters();
  const Result plain = run(scenario);
  CHECK(plain.rows[5].payload.count() == 2 * model);
  CHECK(plain.rows[5].dense_payload.count() == 2 * model);
  scenario.method.name = "fp16";
  const Result half = run(scenario);
  CHECK(half.rows[5].payload.count() > model + model / 2);
  CHECK(half.rows[5].payload.count() < model + model / 2 + 200);  // lengths of 4 tensors
}

}  // namespace
}  // namespace gradwire::trainers
