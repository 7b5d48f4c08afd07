#include <catch2/catch.hpp>
#include <map>

#include "sim/graph/payloads.h"
#include "tests/trainers/schedules/gossip_fixture.h"
#include "tests/trainers/schedules/pipeline_fixture.h"
#include "tests/trainers/schedules/rounds_fixture.h"
#include "tests/trainers/support.h"
#include "trainers/schedules/asynchronous/asynchronous_trainer.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"
#include "trainers/timing/event_driver.h"

/// What trainers keep of their messages, for executors that really send them.
namespace gradwire::trainers {
namespace {

/// By bucket; others than these two send everything in one.
std::vector<std::int64_t> bucket_elements(const scenarios::Trainer& trainer) {
  const auto* synchronous = dynamic_cast<const SynchronousTrainer*>(&trainer);
  const auto* asynchronous = dynamic_cast<const AsynchronousTrainer*>(&trainer);
  if (!synchronous && !asynchronous) return {trainer.parameters()};
  std::vector<std::int64_t> elements;
  for (const BucketSlot& bucket :
       (synchronous ? synchronous->layout() : asynchronous->layout()).buckets())
    elements.push_back(bucket.count);
  return elements;
}

struct Learnt {
  std::uint64_t hash = 0;
  std::vector<std::vector<Bytes>> sizes;  ///< by step
  std::vector<std::shared_ptr<const sim::Payloads>> payloads;
};

Learnt learnt(const scenarios::Scenario& scenario, bool keeps) {
  auto trainer = make_trainer(scenario, {.threads = 1, .keeps_payloads = keeps});
  trainer->use_profile(fixed_profile(bucket_elements(*trainer)));
  Learnt result;
  for (scenarios::StepPlan plan; trainer->next(plan); plan = {}) {
    trainer->on_submitted(plan, 1);
    result.sizes.push_back(plan.bytes);
    result.payloads.push_back(plan.payloads);
    if (!plan.payloads) continue;
    // Every message of every operation that sends something, of the size that is charged for it.
    std::map<sim::OpIndex, std::int64_t> messages, bytes;
    for (const sim::Payloads::Message& message : plan.payloads->messages()) {
      ++messages[message.op];
      bytes[message.op] += message.hop.bytes.count();
    }
    for (sim::OpIndex op = 0; op < plan.graph->size(); ++op) {
      if (!plan.graph->is_collective(op)) continue;
      const auto& spec = plan.graph->collectives[static_cast<std::size_t>(plan.graph->peer[op])];
      const auto sizes = std::span<const Bytes>(plan.bytes)
                             .subspan(plan.graph->bytes_begin[op], plan.graph->bytes_begin[op + 1] -
                                                                       plan.graph->bytes_begin[op]);
      CHECK(messages[op] == sim::make_generator(spec, sizes)->transfers_total());
      CHECK(bytes[op] == sim::total_payload(spec, sizes).count());
    }
  }
  result.hash = trainer->learning_hash();
  return result;
}

void check_kept(const scenarios::Scenario& scenario) {
  const Learnt with = learnt(scenario, true), without = learnt(scenario, false);
  CHECK(with.hash == without.hash);  // keeping changes nothing
  CHECK(with.sizes == without.sizes);
  REQUIRE(with.payloads.size() == without.payloads.size());
  for (std::size_t step = 0; step < with.payloads.size(); ++step) {
    CHECK(with.payloads[step] != nullptr);
    CHECK(without.payloads[step] == nullptr);
  }
}

TEST_CASE("payloads: whatever sums, gathers or requantises, round a ring or at a server") {
  for (const char* collective : {"ring", "parameter-server", "tree"}) {
    for (const char* method : {"none", "terngrad", "topk", "qsgd", "powersgd"}) {
      const bool served = std::string(method) == "powersgd" && std::string(collective) != "ring";
      if (served) continue;
      CAPTURE(collective, method);
      scenarios::Scenario scenario = digits_scenario("mlp", method);
      scenario.exchange.collective = collective;
      scenario.exchange.bucket = Bytes(100'000);
      scenario.workload.steps = 2;
      check_kept(scenario);
    }
  }
}

TEST_CASE("payloads: shards of a server, workers that hold parts, workers that gossip") {
  scenarios::Scenario sharded = digits_scenario("mlp", "none");
  sharded.workload.steps = 2;
  sharded.exchange.collective = "parameter-server";
  sharded.exchange.shards = 2;
  check_kept(sharded);
  scenarios::Scenario parts = digits_scenario("mlp", "none");
  parts.workload.steps = 2;
  parts.exchange.zero = 1;
  check_kept(parts);
  scenarios::Scenario gossip = digits_scenario("mlp", "none");
  gossip.workload.steps = 2;
  gossip.schedule.kind = "gossip";
  gossip.exchange.collective = "gossip";
  check_kept(gossip);
}

TEST_CASE("payloads: what a client of a round is sent and sends, and training ahead of it") {
  scenarios::Scenario scenario = rounds::in_rounds(4, 3, 2);
  for (const char* method : {"none", "topk"}) {
    CAPTURE(method);
    scenario.method.name = method;
    const rounds::Outcome usual = rounds::run(scenario);
    const auto trainer =
        rounds::prepared(scenario, {.threads = 1, .keeps_payloads = true, .trains_ahead = true});
    EventDriver driver(scenario.cluster.workers);
    driver.run(*trainer);
    CHECK(trainer->learning_hash() == usual.hash);
    CHECK(rounds::weights_of(*trainer) == usual.weights);
  }
}

/// What a schedule did on `flow`, and what its works had of the bytes that they sent.
struct Ran {
  std::unique_ptr<scenarios::Trainer> trainer;
  std::vector<scenarios::StepReport> rows;
  std::int64_t sent = 0, held = 0;
};

Ran run_freely(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options) {
  Ran ran{.trainer = make_trainer(scenario, options), .rows = {}};
  ran.trainer->use_profile(fixed_profile(bucket_elements(*ran.trainer)));
  EventDriver driver(scenario.cluster.workers,
                     {.rate = BitsPerSecond(1e8), .delay = Seconds(1e-3)});
  driver.on_submit = [&](const scenarios::Work& work) {
    for (const Bytes bytes : work.bytes) ran.sent += bytes.count();
    if (!work.payloads) return;
    for (const auto& message : work.payloads->messages()) ran.held += message.hop.bytes.count();
  };
  driver.run(*ran.trainer);
  ran.rows = driver.rows;
  return ran;
}

TEST_CASE("payloads: workers that wait for nobody, and passes beside the clock") {
  scenarios::Scenario at_server = digits_scenario("mlp", "none");
  at_server.exchange.collective = "parameter-server";
  at_server.exchange.bucket = Bytes(4'000);  // several messages
  at_server.schedule.kind = "asynchronous";
  scenarios::Scenario gossip = gossip::scenario_of(4);
  gossip.schedule.patience = Seconds(0);
  for (scenarios::Scenario scenario : {at_server, gossip}) {
    scenario.cluster.workers = 4;
    scenario.cluster.slowdown = {1, 2, 1, 1.5};
    scenario.workload.steps = 10;
    scenario.workload.evaluate_every = 3;
    for (const char* method : {"none", "topk"}) {
      scenario.method.name = method;
      CAPTURE(scenario.schedule.kind, method);
      const Ran usual = run_freely(scenario, {.threads = 1});
      const Ran beside =
          run_freely(scenario, {.threads = 2, .keeps_payloads = true, .trains_ahead = true});
      // In virtual time the order of arrivals is the same, and so is what is learnt from it.
      CHECK(beside.trainer->learning_hash() == usual.trainer->learning_hash());
      REQUIRE(beside.rows.size() == 10);
      for (std::size_t row = 0; row < 10; ++row) {
        const auto &own = beside.rows[row].evaluation, &other = usual.rows[row].evaluation;
        REQUIRE(own.has_value() == other.has_value());
        CHECK(own.has_value() == (row % 3 == 2 || row == 9));
        if (own) CHECK(own->loss == other->loss);
      }
      CHECK(usual.held == 0);
      CHECK(beside.sent == usual.sent);
      CHECK(beside.held == beside.sent);  // every byte
    }
  }
}

/// Rows of a run that ends before its time, after that many instants.
std::vector<scenarios::StepReport> rows_until(int instants, const scenarios::Scenario& scenario,
                                              bool beside_clock) {
  auto trainer = make_trainer(scenario, {.threads = 2, .trains_ahead = beside_clock});
  trainer->use_profile(fixed_profile(bucket_elements(*trainer)));
  EventDriver driver(scenario.cluster.workers);
  driver.start(*trainer);
  while (instants-- > 0 && driver.step(*trainer)) {
  }
  trainer->schedule()->stop(driver);
  const std::size_t rows = driver.rows.size();
  trainer->schedule()->stop(driver);
  CHECK(driver.rows.size() == rows);  // there is nothing left
  CHECK_FALSE(trainer->figures().empty());
  return driver.rows;
}

TEST_CASE("payloads: a run beside the clock that ends before its time keeps what was over") {
  scenarios::Scenario at_server = digits_scenario("mlp", "none");
  at_server.exchange.collective = "parameter-server";
  at_server.schedule.kind = "asynchronous";
  scenarios::Scenario gossip = gossip::scenario_of(4);
  gossip.schedule.patience = Seconds(0);
  for (scenarios::Scenario scenario : {at_server, gossip}) {
    CAPTURE(scenario.schedule.kind);
    scenario.workload.steps = 40;
    scenario.workload.evaluate_every = 1;
    const auto usual = rows_until(60, scenario, false), beside = rows_until(60, scenario, true);
    CHECK(usual.size() >= 3);
    CHECK(usual.size() < 40);
    REQUIRE(beside.size() == usual.size());
    for (std::size_t row = 0; row < usual.size(); ++row) {
      CHECK(beside[row].step == usual[row].step);
      REQUIRE(beside[row].evaluation.has_value());
      CHECK(beside[row].evaluation->loss == usual[row].evaluation->loss);
    }
  }
}

TEST_CASE("payloads: what stages of a pipeline send each other, and replicas among them") {
  for (const int workers : {2, 4}) {
    scenarios::Scenario scenario = pipelines::scenario_of(workers);
    scenario.schedule.stages = 2;
    scenario.workload.steps = 3;
    for (const bool coded : {false, true}) {
      CAPTURE(workers, coded);
      if (coded) scenario = pipelines::aq_sgd(pipelines::on_clusters(scenario));
      const auto with = pipelines::prepared(scenario, {.threads = 1, .keeps_payloads = true});
      const auto without = pipelines::prepared(scenario);
      scenarios::StepPlan plan, plain;
      while (with->next(plan) && without->next(plain)) {
        REQUIRE(plan.payloads != nullptr);
        CHECK(plain.payloads == nullptr);
        CHECK(plan.bytes == plain.bytes);
        Bytes held{0};
        for (const auto& message : plan.payloads->messages()) held += message.hop.bytes;
        CHECK(held == plan.payload);
        plan = {};
      }
      CHECK(with->learning_hash() == without->learning_hash());
    }
  }
}

}  // namespace
}  // namespace gradwire::trainers
