#include "trainers/routes/auto_collective.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/trainers/support.h"

namespace gradwire::trainers {
namespace {

scenarios::Scenario auto_scenario(double rate, double delay, int workers = 6) {
  scenarios::Scenario scenario = digits_scenario();
  scenario.exchange.collective = "auto";
  scenario.cluster.workers = workers;
  scenario.network.link.rate = BitsPerSecond(rate);
  scenario.network.link.delay = Seconds(delay);
  // The key of what is known already.
  scenario.json["network"] = {{"rate", rate}, {"delay", delay}};
  return scenario;
}

Layout layout_of(std::int64_t elements) {
  const std::vector<Parameter> one = {{"w", {elements}}};
  return Layout(one, Bytes(4 * elements));
}

std::string chosen(const scenarios::Scenario& scenario, std::int64_t elements) {
  return choose_collective(scenario, layout_of(elements)).candidates.at(0).collective;
}

TEST_CASE("auto: many bytes go round the ring, few over a long way by fewest hops") {
  // 40 MB at 100 Mbps: a ring and halving-doubling send 2 (N - 1) / N of it, but six are no power
  // of two, where two pairs send it all twice more.
  CHECK(chosen(auto_scenario(1e8, 1e-5), 10'000'000) == "ring");
  // 40 B over 50 ms a link: 10 hops round the ring, 6 for the tree and halving-doubling.
  const std::string few = chosen(auto_scenario(1e9, 0.05), 10);
  CHECK((few == "tree" || few == "halving-doubling"));
  // With eight workers halving-doubling sends as much as the ring, in 6 hops instead of 14.
  CHECK(chosen(auto_scenario(1e9, 0.005, 8), 100'000) == "halving-doubling");
}

TEST_CASE("auto: the times are those of each collective, the fastest first, and are kept") {
  const scenarios::Scenario scenario = auto_scenario(1e8, 1e-4);
  const auto choice = choose_collective(scenario, layout_of(250'000));
  REQUIRE(choice.candidates.size() == 3);  // two-level: one group of eight would be all
  CHECK(std::is_sorted(choice.candidates.begin(), choice.candidates.end(),
                       [](const auto& a, const auto& b) { return a.time < b.time; }));
  // Ring: 2 x 5 / 6 of 1 MB at 100 Mbps = 133 ms, and 6 % of headers, 3 % of acknowledgements.
  const auto ring = std::find_if(choice.candidates.begin(), choice.candidates.end(),
                                 [](const auto& each) { return each.collective == "ring"; });
  REQUIRE(ring != choice.candidates.end());
  CHECK(ring->time.value() == Approx(0.1333 * 1.062 * 1.029).epsilon(0.05));
  const auto again = choose_collective(scenario, layout_of(250'000));
  CHECK(again.candidates.size() == 3);
  CHECK(again.candidates[0].time == choice.candidates[0].time);
}

TEST_CASE("auto: loss and small windows do not count; codecs take what they can") {
  scenarios::Scenario lossy = auto_scenario(1e8, 1e-4);
  const auto clean = choose_collective(lossy, layout_of(250'000));
  lossy.network.link.loss = 0.05;
  lossy.json["network"]["loss"] = 0.05;
  CHECK(choose_collective(lossy, layout_of(250'000)).candidates[0].time ==
        clean.candidates[0].time);
  lossy.method.name = "topk";
  lossy.json["method"] = {{"name", "topk"}};
  for (const auto& each : choose_collective(lossy, layout_of(250'000)).candidates)
    CHECK((each.collective == "ring" || each.collective == "direct"));
}

TEST_CASE("auto: nothing is chosen where the scenario says what to take") {
  scenarios::Scenario scenario = auto_scenario(1e8, 1e-4);
  const auto choice = choose_collective(scenario, layout_of(250'000));
  CHECK(with_choice(scenario, choice).exchange.collective == choice.candidates[0].collective);
  scenario.exchange.collective = "tree";
  CHECK(choose_collective(scenario, layout_of(250'000)).candidates.empty());
  CHECK(with_choice(scenario, {}).exchange.collective == "tree");
}

}  // namespace
}  // namespace gradwire::trainers
