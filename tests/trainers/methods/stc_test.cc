#include <set>

#include "base/temporary_file.h"
#include "tests/trainers/schedules/rounds_fixture.h"
#include "trainers/trainer_error.h"

namespace gradwire::trainers {
namespace {

using namespace rounds;

/// Eight clients of logistic regression, half of them a round.
scenarios::Scenario stc(std::map<std::string, std::string> options = {}) {
  scenarios::Scenario scenario = in_rounds(8, 12, 2);
  scenario.schedule.sample = 4;
  scenario.method.name = "stc";
  scenario.method.error_feedback = true;
  options.try_emplace("ratio", "0.04");
  scenario.method.options = std::move(options);
  return scenario;
}

/// One of the clients too slow for the deadline: its training takes 63 ms, its upload comes later;
/// or in time to be trained, on a link on which its upload is cut off.
scenarios::Scenario with_deadline(std::map<std::string, std::string> options = {}) {
  scenarios::Scenario scenario = stc(std::move(options));
  scenario.schedule.sample = 0;
  scenario.schedule.deadline = Seconds(0.03);
  scenario.cluster.slowdown.assign(8, 1.0);
  scenario.cluster.slowdown[2] = 10;
  return scenario;
}

/// Driven by hand on a slow link of its own.
Outcome run_on(const scenarios::Scenario& scenario, const sim::LinkSpec& link, int threads = 1) {
  const auto trainer = prepared(scenario, threads);
  EventDriver driver(scenario.cluster.workers, link);
  driver.run(*trainer);
  return {weights_of(*trainer), trainer->learning_hash(), std::move(driver.rows),
          dynamic_cast<const RoundsTrainer&>(*trainer).clients().heard(), driver.open()};
}

}  // namespace

TEST_CASE("the server's messages, one after the other, are its model bit for bit", "[stc]") {
  const scenarios::Scenario scenario = stc();
  std::vector<float> weights = weights_of(*prepared(scenario));
  const auto trainer = prepared(scenario);
  EventDriver driver(8);
  driver.run(*trainer);
  const Broadcast* const broadcast = dynamic_cast<const RoundsTrainer&>(*trainer).broadcast();
  REQUIRE(broadcast != nullptr);
  CHECK(broadcast->version() == 12);
  const std::vector<float> before = weights;
  broadcast->catch_up(0, weights);  // a client that skipped all twelve
  CHECK(weights == weights_of(*trainer));
  CHECK(weights != before);
  CHECK(driver.open() == 0);
}

TEST_CASE("the cache changes bytes and not what is learned", "[stc]") {
  const Outcome large = run(stc({{"cache", "50"}})), small = run(stc({{"cache", "1"}}));
  CHECK(large.hash == small.hash);
  double with_large = 0, with_small = 0;
  for (std::size_t round = 0; round < 12; ++round) {
    with_large += figure(large.rows[round], "download_bytes");
    with_small += figure(small.rows[round], "download_bytes");
    CHECK(figure(large.rows[round], "upload_bytes") == figure(small.rows[round], "upload_bytes"));
  }
  CHECK(with_large < 0.8 * with_small);
  // Four clients of the first round have no model: 650 parameters.
  CHECK(figure(large.rows[0], "download_bytes") == 4 * 2600);
  // A client that has been drawn already takes messages; all eight have been at the end.
  CHECK(figure(large.rows[11], "download_bytes") < 2600);
}

TEST_CASE("with all clients in each round each takes the last message", "[stc]") {
  scenarios::Scenario scenario = stc();
  scenario.schedule.sample = 0;
  const Outcome outcome = run(scenario);
  CHECK(figure(outcome.rows[0], "download_bytes") == 8 * 2600);
  for (std::size_t round = 1; round < 12; ++round) {
    const double bytes = figure(outcome.rows[round], "download_bytes") / 8;
    // Tensors of 640 and 10 elements: two lengths, two mu, codes of k = 25 and k = 1 entries; b* of
    // 0.04 is 4: 25 * (4 + 1 + 1) bits at least, 19 bytes, and one more.
    CHECK(bytes == std::floor(bytes));
    CHECK(bytes >= 16 + 20);
    CHECK(bytes <= 16 + 26);
    CHECK(outcome.rows[round].graphs.size() == 17);  // 8 trips of two graphs, the server's encoding
  }
}

TEST_CASE("stc does not depend on threads and goes on from the middle of a round", "[stc]") {
  for (const char* cut_off : {"kept", "lost"}) {
    const scenarios::Scenario scenario = with_deadline({{"cut_off", cut_off}});
    const std::uint64_t whole = run(scenario).hash;
    CHECK(run(scenario, 2).hash == whole);
    for (const int instants : {0, 3, 9, 20}) {
      const Resumed resumed = resumed_after(instants, scenario, 1, 2);
      INFO(cut_off << " after " << instants << " instants");
      CHECK(resumed.hash == whole);
      CHECK(resumed.open == 0);
    }
  }
  CHECK(run(stc()).hash == run(stc(), 2).hash);
}

TEST_CASE("residuals make another model, on both ways", "[stc]") {
  scenarios::Scenario without = stc();
  without.method.error_feedback = false;
  const Outcome forgetful = run(without);
  CHECK(forgetful.hash != run(stc()).hash);
  CHECK(forgetful.states_of.empty());
  CHECK(run(stc({{"down_ratio", "0.5"}})).hash != run(stc()).hash);
  CHECK(run(stc({{"down_ratio", "0.04"}})).hash == run(stc()).hash);
}

TEST_CASE("an upload that is cut off goes back into the residual, or its work is lost", "[stc]") {
  // 6.3 ms of training; on 20 kbit/s a message of 40 to 60 bytes and its headers take 40 ms and
  // more, the model of 2,600 bytes a second. Deadlines of 1.2 s: a client downloads and trains;
  // then a deadline cuts uploads off, which on these links some begin.
  sim::LinkSpec slow;
  slow.rate = BitsPerSecond(20'000);
  const auto scenario = [](const char* cut_off, double deadline) {
    scenarios::Scenario each = stc({{"cut_off", cut_off}});
    each.schedule.sample = 0;
    each.schedule.deadline = Seconds(deadline);
    return each;
  };
  const Outcome patient = run_on(scenario("kept", 1000), slow);
  CHECK(run_on(scenario("lost", 1000), slow).hash == patient.hash);
  // A deadline that falls into the uploads of the first round, found by halving.
  double from = 0, to = 1000;
  for (int i = 0; i < 40; ++i) {
    const double middle = (from + to) / 2;
    const Outcome cut = run_on(scenario("kept", middle), slow);
    (figure(cut.rows[0], "clients_arrived") == 8 ? to : from) = middle;
  }
  const Outcome kept = run_on(scenario("kept", from), slow);
  const Outcome lost = run_on(scenario("lost", from), slow);
  CHECK(figure(kept.rows[0], "clients_late") >= 1);
  // Who was cut off remembers what it did, or nothing.
  CHECK(kept.states_of.size() == 8);
  CHECK(kept.hash != lost.hash);
  CHECK(run_on(scenario("kept", from), slow, 2).hash == kept.hash);
}

TEST_CASE("a round in which nobody arrives has no message", "[stc]") {
  scenarios::Scenario scenario = stc();
  const std::vector<float> before = weights_of(*prepared(scenario));
  scenario.schedule.deadline = Seconds(1e-6);
  const auto trainer = prepared(scenario);
  EventDriver driver(8);
  driver.run(*trainer);
  CHECK(weights_of(*trainer) == before);
  CHECK(dynamic_cast<const RoundsTrainer&>(*trainer).broadcast()->version() == 0);
  CHECK(figure(driver.rows[11], "clients_late") == 4);
  CHECK(driver.open() == 0);
}

TEST_CASE("a client that drops out has the model that it took, and no more", "[stc]") {
  scenarios::Scenario scenario = stc();
  scenario.schedule.sample = 0;
  scenario.schedule.drop_out = 0.4;
  scenario.schedule.deadline = Seconds(1);
  const Outcome outcome = run(scenario);
  // All have the model after the first round, whether or not they were heard.
  CHECK(figure(outcome.rows[0], "clients_dropped_out") >= 1);
  CHECK(figure(outcome.rows[1], "download_bytes") < 2600);
  CHECK(outcome.open == 0);
}

}  // namespace gradwire::trainers
