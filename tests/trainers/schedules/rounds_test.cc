#include <catch2/catch.hpp>
#include <cmath>
#include <map>
#include <sstream>

#include "base/temporary_file.h"
#include "tests/trainers/schedules/rounds_fixture.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using namespace rounds;

/// Topk with error feedback, half of eight clients a round, one of them far too slow.
scenarios::Scenario with_everything() {
  scenarios::Scenario scenario = in_rounds(8, 6, 3);
  send_largest(scenario, "0.05");
  scenario.schedule.sample = 4;
  scenario.schedule.drop_out = 0.2;
  // 3 steps of 1 ms + 1 ms + 0.1 ms: 6.3 ms; the slow one takes 63 ms.
  scenario.schedule.deadline = Seconds(0.03);
  scenario.cluster.slowdown.assign(8, 1.0);
  scenario.cluster.slowdown[2] = 10;
  return scenario;
}

}  // namespace

TEST_CASE("rounds of one client are its own training, bit for bit", "[rounds]") {
  CHECK(run(in_rounds(1, 8, 5)).weights == in_lockstep(base(1), 40));
  CHECK(run(in_rounds(1, 40, 1)).weights == in_lockstep(base(1), 40));
  // The optimiser begins anew in every round: with momentum one round of 40 steps is the same, and
  // eight of 5 are not (negative control).
  scenarios::Scenario momentum = in_rounds(1, 1, 40);
  momentum.workload.momentum = 0.9;
  const std::vector<float> lockstep = in_lockstep(momentum, 40);
  CHECK(run(momentum).weights == lockstep);
  momentum.workload.steps = 8;
  momentum.schedule.local_steps = 5;
  CHECK(run(momentum).weights != lockstep);
}

TEST_CASE("one step of all clients is a step of lockstep, but for rounding", "[rounds]") {
  // Equal shards: mean of x - r g_k = x - r mean of g_k.
  scenarios::Scenario scenario = in_rounds(4, 10, 1);
  scenario.schedule.weighting = "equal";
  const std::vector<float> rounds = run(scenario).weights, steps = in_lockstep(base(4), 10);
  double apart = 0, norm = 0;
  for (std::size_t e = 0; e < steps.size(); ++e) {
    apart += std::pow(static_cast<double>(rounds[e]) - static_cast<double>(steps[e]), 2);
    norm += std::pow(static_cast<double>(steps[e]), 2);
  }
  CHECK(std::sqrt(apart / norm) < 1e-5);
  CHECK(apart > 0);  // bit-equal only with one client
}

TEST_CASE("a deadline that nobody meets changes nothing", "[rounds]") {
  scenarios::Scenario scenario = in_rounds(4, 5, 2);
  const Outcome without = run(scenario);
  scenario.schedule.deadline = Seconds(1e5);
  CHECK(run(scenario).hash == without.hash);
  scenario.schedule.late = "kept";
  CHECK(run(scenario).hash == without.hash);
  scenario.schedule.deadline = Seconds(0.001);  // negative control
  CHECK(run(scenario).hash != without.hash);
}

TEST_CASE("rounds do not depend on host threads, nor on the executor", "[rounds]") {
  for (const char* late : {"dropped", "kept"}) {
    scenarios::Scenario scenario = with_everything();
    scenario.schedule.late = late;
    const Outcome one = run(scenario);
    INFO(late);
    for (const int threads : {2, 4}) CHECK(run(scenario, threads).hash == one.hash);
    scenario.seed = 2;
    CHECK(run(scenario).hash != one.hash);
  }
  CHECK(run(in_rounds(4, 5, 2), 1, "model").hash == run(in_rounds(4, 5, 2), 2, "flow").hash);
}

TEST_CASE("who misses the deadline is cut off, and its codec forgets the round", "[rounds]") {
  scenarios::Scenario scenario = with_everything();
  scenario.schedule.sample = 0;
  scenario.schedule.drop_out = 0;
  const Outcome outcome = run(scenario);
  REQUIRE(outcome.rows.size() == 6);
  for (const scenarios::StepReport& row : outcome.rows) {
    CHECK(figure(row, "clients_sampled") == 8);
    CHECK(figure(row, "clients_arrived") == 7);
    CHECK(figure(row, "clients_late") == 1);
    // 8 clients' download and training, 7 uploads.
    CHECK(row.graphs.size() == 15);
  }
  CHECK(outcome.rows[0].end == Seconds(0.03));
  CHECK(outcome.rows[5].end == Seconds(0.18));
  CHECK(outcome.states_of == std::vector<std::int32_t>{0, 1, 3, 4, 5, 6, 7});
  CHECK(outcome.open == 0);
  // Negative control: with time enough it is heard.
  scenario.schedule.deadline = Seconds(10);
  const Outcome patient = run(scenario);
  CHECK(patient.states_of.size() == 8);
  CHECK(figure(patient.rows[0], "clients_late") == 0);
}

TEST_CASE("late clients that are kept arrive in a later round", "[rounds]") {
  scenarios::Scenario scenario = with_everything();
  scenario.schedule.sample = 0;
  scenario.schedule.drop_out = 0;
  scenario.schedule.late = "kept";
  const Outcome outcome = run(scenario);
  // Round 0 ends at 30 ms, without client 2, which arrives 63 ms and its transfers after the start:
  // in round 2. The other seven meet each deadline: rounds 1 and 2 end when they have arrived.
  double of_earlier = 0;
  for (const scenarios::StepReport& row : outcome.rows)
    of_earlier += figure(row, "clients_of_earlier_rounds");
  CHECK(of_earlier >= 1);
  CHECK(figure(outcome.rows[0], "clients_late") == 1);
  CHECK(figure(outcome.rows[1], "clients_busy") == 1);
  CHECK(figure(outcome.rows[1], "clients_late") == 0);
  CHECK(outcome.open == 0);
  scenario.schedule.late = "dropped";
  CHECK(run(scenario).hash != outcome.hash);
}

TEST_CASE("a round in which nobody arrives leaves the model as it was", "[rounds]") {
  scenarios::Scenario scenario = in_rounds(4, 3, 2);
  const std::vector<float> before = weights_of(*prepared(scenario));
  scenario.schedule.deadline = Seconds(1e-6);
  const Outcome late = run(scenario);
  CHECK(late.weights == before);
  CHECK(figure(late.rows[2], "clients_arrived") == 0);
  CHECK(figure(late.rows[2], "clients_late") == 4);
  scenario.schedule.deadline = Seconds(1);
  scenario.schedule.drop_out = 1;
  const Outcome away = run(scenario);
  CHECK(away.weights == before);
  CHECK(figure(away.rows[2], "clients_dropped_out") == 4);
  CHECK(away.rows[2].end == Seconds(3));  // three deadlines
  scenario.schedule.drop_out = 0;         // negative control
  CHECK(run(scenario).weights != before);
}

TEST_CASE("bytes of a round: the model down, the model or a message up", "[rounds]") {
  scenarios::Scenario scenario = in_rounds(4, 2, 1);
  scenario.schedule.sample = 3;
  // Logistic regression of 8 x 8 digits: 64 * 10 weights and 10 biases.
  const Bytes model(4 * 650);
  const Outcome plain = run(scenario);
  CHECK(plain.rows[0].payload == model * 6);
  CHECK(plain.rows[0].dense_payload == model * 6);
  CHECK(plain.rows[0].encoded_values == model * 6);
  send_largest(scenario, "0.1");
  const Outcome sparse = run(scenario);
  CHECK(sparse.rows[0].payload < model * 4);
  CHECK(sparse.rows[0].payload > model * 3);
  CHECK(sparse.rows[0].dense_payload == model * 6);
}

TEST_CASE("the server's rate and momentum move the model by the clients' mean change", "[rounds]") {
  scenarios::Scenario scenario = in_rounds(3, 1, 4);
  const std::vector<float> before = weights_of(*prepared(scenario));
  const std::vector<float> mean = run(scenario).weights;
  scenario.schedule.server_rate = 0.5;
  const std::vector<float> half = run(scenario).weights;
  for (std::size_t e = 0; e < mean.size(); ++e)
    CHECK(half[e] == Approx((before[e] + mean[e]) / 2).margin(1e-6));
  // A first round has no velocity to go on with; a second has.
  scenario.schedule.server_rate = 1;
  scenario.schedule.server_momentum = 0.9;
  const std::vector<float> first = run(scenario).weights;
  for (std::size_t e = 0; e < mean.size(); ++e) CHECK(first[e] == Approx(mean[e]).margin(1e-6));
  scenario.workload.steps = 2;
  const std::vector<float> second = run(scenario).weights;
  scenario.schedule.server_momentum = 0;
  CHECK(run(scenario).weights != second);
}

TEST_CASE("rounds go on from the middle of one as if nothing had happened", "[rounds]") {
  for (const char* late : {"dropped", "kept"}) {
    scenarios::Scenario scenario = with_everything();
    scenario.schedule.late = late;
    const std::uint64_t whole = run(scenario, 2).hash;
    for (const int instants : {0, 2, 7, 13}) {
      const Resumed resumed = resumed_after(instants, scenario, 2, 2);
      INFO(late << " after " << instants << " instants");
      CHECK(resumed.loaded_hash == resumed.saved_hash);
      CHECK(resumed.hash == whole);
    }
  }
  // Negative control: a fresh trainer does not know what is under way.
  scenarios::Scenario scenario = with_everything();
  const auto first = prepared(scenario), fresh = prepared(scenario);
  EventDriver driver(8);
  driver.start(*first);
  for (int i = 0; i < 7; ++i) driver.step(*first);
  driver.finish(*fresh);
  CHECK(fresh->learning_hash() != run(scenario).hash);
  std::stringstream of_lockstep;
  prepared(base(8))->save(of_lockstep);
  CHECK_THROWS_AS(fresh->load(of_lockstep), Error);
}

TEST_CASE("clients that were never drawn cost no state", "[rounds]") {
  scenarios::Scenario scenario = in_rounds(1000, 3, 1);
  send_largest(scenario, "0.1");
  scenario.schedule.sample = 10;
  scenario.workload.batch_per_worker = 1;
  const Outcome outcome = run(scenario);
  CHECK(outcome.states_of.size() <= 30);
  CHECK(outcome.states_of.size() > 20);
}

TEST_CASE("what is learned does not depend on the memory for clients' states", "[rounds]") {
  // A residual of the 650 parameters takes 4 x 640 + 4 x 10 bytes: 2,600.
  constexpr std::int64_t kState = 2600;
  const TemporaryFolder folder;
  const auto figures_of = [](const scenarios::Trainer& trainer) {
    std::map<std::string, double> figures;
    for (const scenarios::Figure& figure : trainer.figures()) figures[figure.name] = figure.value;
    return figures;
  };
  for (const char* late : {"dropped", "kept"}) {
    scenarios::Scenario scenario = with_everything();
    scenario.schedule.late = late;
    const std::uint64_t whole = run(scenario).hash;
    for (const std::int64_t states : {0, 1, 3})
      for (const int threads : {1, 4}) {
        INFO(late << ", " << states << " states in memory, " << threads << " threads");
        const auto limited = [&] {
          return prepared(scenario, {.threads = threads,
                                     .memory = Bytes(states * kState),
                                     .states_folder = folder.path()});
        };
        const auto trainer = limited();
        EventDriver driver(8);
        driver.run(*trainer);
        CHECK(trainer->learning_hash() == whole);
        auto figures = figures_of(*trainer);
        CHECK(figures.at("memory_states_bytes") == static_cast<double>(states * kState));
        CHECK(figures.at("states_on_disk") >= 1);
        // Eight clients, each with a state and a proposal at most.
        CHECK(figures.at("state_file_bytes") >= kState);
        CHECK(figures.at("state_file_bytes") <= 16 * kState);

        // What lies in the file is saved, too.
        const auto first = limited(), second = limited();
        EventDriver half(8);
        half.start(*first);
        for (int i = 0; i < 13; ++i) REQUIRE(half.step(*first));
        std::stringstream checkpoint;
        first->save(checkpoint);
        second->load(checkpoint);
        half.finish(*second);
        CHECK(second->learning_hash() == whole);
      }
    // Negative control: without error feedback nothing is remembered, and another model is learned.
    scenario.method.error_feedback = false;
    const auto forgetful = prepared(scenario);
    EventDriver driver(8);
    driver.run(*forgetful);
    CHECK(forgetful->learning_hash() != whole);
    CHECK(figures_of(*forgetful).count("memory_states_bytes") == 0);
  }
}

TEST_CASE("clients count by their samples, or all the same", "[rounds]") {
  // 1437 samples among 4: 360, 359, 359, 359.
  scenarios::Scenario scenario = in_rounds(4, 2, 1);
  const std::uint64_t by_samples = run(scenario).hash;
  scenario.schedule.weighting = "equal";
  CHECK(run(scenario).hash != by_samples);
}

TEST_CASE("local epochs take a client once through its samples", "[rounds]") {
  scenarios::Scenario scenario = in_rounds(1, 2, 1);
  scenario.workload.batch_per_worker = 100;
  scenario.schedule.local_epochs = 1;
  // 1437 samples in batches of 100: 15, the last of which goes on into the next order.
  CHECK(run(scenario).weights == in_lockstep(scenario, 30));
  scenario.schedule.local_epochs = 0.01;  // one batch at least
  CHECK(run(scenario).weights == in_lockstep(scenario, 2));
}

}  // namespace gradwire::trainers
