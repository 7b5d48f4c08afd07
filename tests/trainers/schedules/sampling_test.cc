#include <catch2/catch.hpp>
#include <set>

#include "tests/trainers/schedules/rounds_fixture.h"
#include "trainers/replays/client_sampling.h"
#include "trainers/trainer_error.h"

/// Who takes part in rounds, and how rounds of a buffer and clients near the server's model go on.
namespace gradwire::trainers {
namespace {

using namespace rounds;

scenarios::Scenario buffered(int buffer, int sample = 4) {
  scenarios::Scenario scenario = in_rounds(8, 12, 2);
  scenario.schedule.sample = sample;
  scenario.schedule.buffer = buffer;
  // Training takes 4.2 ms, times 1, 1.5, 2, ... 4.5.
  for (int client = 0; client < 8; ++client) scenario.cluster.slowdown.push_back(1 + 0.5 * client);
  return scenario;
}

}  // namespace

TEST_CASE("fewer clients in later rounds, and never fewer than asked", "[rounds]") {
  // 50 e^(-0.1 t) of 100 clients: 50, 19 (18.39), 3 (2.49); from 33 on 2 (1.84), the least.
  CHECK(clients_of_round(50, 0.1, 2, 0) == 50);
  CHECK(clients_of_round(50, 0.1, 2, 10) == 19);
  CHECK(clients_of_round(50, 0.1, 2, 30) == 3);
  int before = 50;
  for (std::int64_t round = 0; round < 200; ++round) {
    const int now = clients_of_round(50, 0.1, 2, round);
    CHECK(now <= before);
    CHECK(now >= 2);
    before = now;
  }
  CHECK(before == 2);
  CHECK(clients_of_round(50, 0, 2, 1000) == 50);
  CHECK(clients_of_round(3, 0.1, 7, 0) == 3);  // there are no more
}

TEST_CASE("each client is drawn as often as the next one", "[rounds]") {
  // 4,000 rounds of 3 of 12: 1,000 each, deviation sqrt(4000 x 1/4 x 3/4) = 27.4; within 5 of them.
  std::vector<int> counts(12);
  for (std::int64_t round = 0; round < 4000; ++round)
    for (const int client : sample_clients(12, 3, 5, round))
      ++counts[static_cast<std::size_t>(client)];
  for (const int count : counts) CHECK(std::abs(count - 1000) < 137);
}

TEST_CASE("of candidates: all clients give what they always gave", "[rounds]") {
  const std::vector<int> all = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, few = {2, 5, 7};
  CHECK(sample_of(all, 4, 3, 8) == sample_clients(10, 4, 3, 8));
  CHECK(sample_of(few, 9, 3, 8) == few);
  for (const int client : sample_of(few, 2, 3, 8))
    CHECK((client == 2 || client == 5 || client == 7));
  CHECK(sample_of({}, 3, 1, 1).empty());
}

TEST_CASE("rounds draw fewer and fewer clients", "[rounds]") {
  scenarios::Scenario scenario = in_rounds(8, 12, 1);
  scenario.schedule.sample_decay = 0.2;
  scenario.schedule.sample_least = 2;
  const Outcome outcome = run(scenario);
  CHECK(figure(outcome.rows[0], "clients_sampled") == 8);
  CHECK(figure(outcome.rows[1], "clients_sampled") == 7);   // 6.55
  CHECK(figure(outcome.rows[6], "clients_sampled") == 3);   // 2.41
  CHECK(figure(outcome.rows[11], "clients_sampled") == 2);  // 0.89
  scenario.schedule.sample_decay = 0;
  scenario.schedule.sample_least = 1;
  CHECK(run(scenario).hash == run(in_rounds(8, 12, 1)).hash);
}

TEST_CASE("clients that are away are not drawn, and a round waits for the first one", "[rounds]") {
  scenarios::Scenario scenario = in_rounds(4, 3, 1);
  const auto away = [&](int client, double from, double to) {
    scenario.cluster.absences.push_back({client, {Seconds(from), Seconds(to)}});
  };
  away(1, 0, 1000);
  const std::uint64_t of_all = run(in_rounds(4, 3, 1)).hash;
  CHECK(run(scenario).hash == of_all);  // nobody asks, and nothing stands still here
  scenario.schedule.draw = "available";
  const Outcome three = run(scenario);
  CHECK(figure(three.rows[0], "clients_sampled") == 3);
  CHECK(figure(three.rows[2], "clients_sampled") == 3);
  CHECK(three.hash != of_all);
  // All away for 5 s, client 0 for 2 s alone.
  away(0, 0, 2);
  away(2, 0, 5);
  away(3, 0, 5);
  const Outcome one = run(scenario);
  CHECK(figure(one.rows[0], "clients_sampled") == 1);
  CHECK(one.rows[0].end > Seconds(2));
  CHECK(one.rows[0].end < Seconds(2.1));
  for (auto& absence : scenario.cluster.absences) absence.time.end = sim::kNeverReturns;
  CHECK_THROWS_AS(run(scenario), Error);
  scenario.cluster.absences.clear();
  CHECK(run(scenario).hash == of_all);
}

TEST_CASE("a buffer of all clients of a round is that round, bit for bit", "[rounds]") {
  CHECK(run(buffered(4)).hash == run(buffered(0)).hash);
  CHECK(run(buffered(3)).hash != run(buffered(0)).hash);
}

TEST_CASE("a round of a buffer ends with so many updates, and others go on", "[rounds]") {
  const Outcome outcome = run(buffered(2));
  REQUIRE(outcome.rows.size() == 12);
  double earlier = 0;
  for (const scenarios::StepReport& row : outcome.rows) {
    CHECK(figure(row, "clients_arrived") == 2);
    earlier += figure(row, "clients_of_earlier_rounds");
  }
  CHECK(earlier > 0);
  CHECK(figure(outcome.rows[0], "clients_sampled") == 4);
  for (std::size_t round = 1; round < 12; ++round)
    CHECK(figure(outcome.rows[round], "clients_sampled") == 2);  // in place of the two
  CHECK(outcome.open == 0);
  CHECK(outcome.rows[11].end < run(buffered(0)).rows[11].end);
  for (const int threads : {2, 4}) CHECK(run(buffered(2), threads).hash == outcome.hash);
  // Old updates count less where asked.
  scenarios::Scenario discounted = buffered(2);
  discounted.schedule.staleness = "power";
  CHECK(run(discounted).hash != outcome.hash);
  discounted.schedule.staleness_power = 0;  // (1 + s)^0 = 1
  CHECK(run(discounted).hash == outcome.hash);
}

TEST_CASE("who is still under way when a run of a buffer ends is not late for it", "[rounds]") {
  const auto trainer = prepared(buffered(2));
  EventDriver driver(8);
  driver.run(*trainer);
  std::map<std::string, double> figures;
  for (const scenarios::Figure& one : trainer->figures()) figures[one.name] = one.value;
  double late = 0;
  for (const scenarios::StepReport& row : driver.rows) late += figure(row, "clients_late");
  CHECK(figures.at("clients_late") == late);
  CHECK(figure(driver.rows[11], "clients_late") == 0);
  // All who came late, and at most the two who are under way.
  CHECK(late >= figures.at("clients_of_earlier_rounds"));
  CHECK(late <= figures.at("clients_of_earlier_rounds") + 2);
  CHECK(figures.at("clients_arrived") == 24);
  CHECK(figures.at("clients_sampled") == 26);  // 4, then 11 times 2; two of them are under way
}

TEST_CASE("rounds of a buffer go on from the middle of one", "[rounds]") {
  const std::uint64_t whole = run(buffered(2)).hash;
  for (const int instants : {0, 5, 17})
    CHECK(resumed_after(instants, buffered(2), 1, 2).hash == whole);
}

TEST_CASE("FedProx: the first local step knows no pull, the others do", "[rounds]") {
  const auto with = [](double mu, int local_steps, double momentum = 0) {
    scenarios::Scenario scenario = in_rounds(4, 3, local_steps);
    scenario.schedule.proximal = mu;
    scenario.workload.momentum = momentum;
    return run(scenario);
  };
  CHECK(with(1, 1).hash == with(0, 1).hash);
  CHECK(with(1, 5).hash != with(0, 5).hash);
  // w' = w - r (g + mu (w - x)): with r mu = 1 (r = 0.05) a step undoes all steps before it, so
  // that the last gradient alone is left: x - r g. Two such steps move the model about as far as
  // one.
  const auto moved = [&](double mu) {
    const std::vector<float> before = weights_of(*prepared(in_rounds(4, 1, 1)));
    scenarios::Scenario scenario = in_rounds(4, 1, 10);
    scenario.schedule.proximal = mu;
    const std::vector<float> after = run(scenario).weights;
    double sum = 0;
    for (std::size_t e = 0; e < after.size(); ++e)
      sum += std::pow(double{after[e]} - double{before[e]}, 2);
    return std::sqrt(sum);
  };
  const double free = moved(0), held = moved(20);
  CHECK(held < 0.4 * free);
  CHECK(held > 0);
}

TEST_CASE("how well the model serves clients is known at the end", "[rounds]") {
  scenarios::Scenario scenario = in_rounds(10, 20, 2);
  const auto figures_of = [](const scenarios::Scenario& each) {
    const auto trainer = prepared(each);
    EventDriver driver(each.cluster.workers);
    driver.run(*trainer);
    std::map<std::string, double> figures;
    for (const scenarios::Figure& one : trainer->figures()) figures[one.name] = one.value;
    return figures;
  };
  auto alike = figures_of(scenario);
  CHECK(alike.at("client_accuracy_mean") > 0.3);
  CHECK(alike.at("client_accuracy_worst_tenth") <= alike.at("client_accuracy_mean"));
  // One class a client: they are served as differently as the classes are learned.
  scenario.workload.partition.kind = "classes";
  scenario.workload.partition.classes = 1;
  auto apart = figures_of(scenario);
  CHECK(apart.at("client_accuracy_deviation") > alike.at("client_accuracy_deviation"));
}

}  // namespace gradwire::trainers
