#include "bench/fidelity/regimes.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "bench/fidelity/case_parts.h"
#include "bench/fidelity/random_case.h"

using namespace gradwire;
using namespace gradwire::bench;

namespace {

bool are_near(const std::vector<double>& values, const std::vector<double>& expected) {
  return std::ranges::equal(values, expected, [](double value, double wanted) {
    return std::abs(value - wanted) <= 1e-6 * wanted;
  });
}

using Generate = std::vector<FidelityCase> (*)(std::uint64_t seed, int count);

constexpr Generate kWide[] = {many_cases,         many_lossy_cases, server_cases,
                              server_lossy_cases, collective_cases, collective_lossy_cases,
                              changing_cases,     burst_cases,      extreme_cases,
                              background_cases,   round_cases,      crowded_cell_cases,
                              exact_cases};

std::set<std::string> names_of(const std::vector<FidelityCase>& cases) {
  std::set<std::string> names;
  for (const FidelityCase& c : cases) names.insert(c.experiment.name);
  return names;
}

/// Fluid at once at the fair rate: times that can be worked out.
FidelityCase ideal_round(Seconds second_start, Seconds deadline) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(8e6);
  link.delay = Seconds(0);
  sim::LinkSpec server = link;
  server.rate = BitsPerSecond(1e9);
  FidelityCase result{{.name = "round", .cluster = sim::Cluster::star(2, link, 1, server)}};
  result.experiment.options.transport.protocol = sim::TransportSettings::Protocol::kIdeal;
  result.experiment.chains = {{0, 2, Bytes(100'000)}, {1, 2, Bytes(100'000), second_start}};
  result.experiment.together = true;
  result.experiment.repeats = 2;
  result.experiment.deadline = deadline;
  return result;
}

}  // namespace

TEST_CASE("Cases are drawn from the seed: the same again, others with another", "[unit]") {
  for (const Generate generate : kWide) {
    const auto once = generate(3, 10), again = generate(3, 10), other = generate(4, 10);
    REQUIRE(once.size() == 10);
    INFO(once.front().experiment.name);
    CHECK(names_of(once) == names_of(again));
    CHECK(names_of(once) != names_of(other));
    CHECK(names_of(once).size() == 10);
    for (const FidelityCase& c : once) CHECK(c.round_trip > 0);
  }
}

TEST_CASE("Regimes stay within what they are said to be", "[unit]") {
  for (const std::uint64_t seed : {1, 2, 3}) {
    int shared = 0;
    for (const FidelityCase& c : many_cases(seed, 10)) {
      CHECK(c.experiment.chains.size() >= 17);
      CHECK(c.experiment.chains.size() <= 300);
      shared += c.experiment.name.find("through") != std::string::npos;
    }
    CHECK(shared == 5);
    for (const FidelityCase& c : server_cases(seed, 10)) {
      CHECK(c.experiment.cluster.workers() >= 32);
      CHECK(c.experiment.cluster.workers() <= 64);
      CHECK(c.experiment.cluster.servers() <= 8);
    }
    for (const FidelityCase& c : crowded_cell_cases(seed, 10)) {
      REQUIRE(c.experiment.cluster.cells().size() == 1);
      CHECK(c.experiment.cluster.cells()[0].stations.size() >= 9);
      CHECK(c.experiment.cluster.cells()[0].stations.size() <= 40);
    }
    for (const FidelityCase& c : round_cases(seed, 10)) CHECK(c.experiment.deadline);
    for (const FidelityCase& c : background_cases(seed, 10))
      CHECK(!c.experiment.cluster.background().empty());
  }
}

TEST_CASE("What a round's deadline cuts off counts as long as the deadline", "[unit]") {
  // 100 kB over 8 Mbps take 0.1 s: from 0 s to 0.1 s, and from 0.12 s to 0.22 s.
  const FidelityCase cut = ideal_round(Seconds(0.12), Seconds(0.2));
  const Times times = run_experiment(cut.experiment, "flow", 1);
  CHECK(are_near(times[0], {0.1, 0.1}));
  CHECK(times[1] == std::vector<double>{0.2, 0.2});
  // The next round's connections are free again: means are (0.1 + 0.2) / 2 in both.
  const auto means = clean_figures(cut.experiment, "flow", 1);
  CHECK(are_near(means, {0.15, 0.15}));
  // Negative control: a later deadline leaves nobody out.
  const FidelityCase whole = ideal_round(Seconds(0.12), Seconds(0.3));
  CHECK(run_experiment(whole.experiment, "flow", 1)[1][0] == Approx(0.22));
}

TEST_CASE("Makespans, and means beside them where a case asks", "[unit]") {
  FidelityCase c = ideal_round(Seconds(0), Seconds(1));
  c.experiment.deadline = {};
  c.experiment.chains[1].bytes = Bytes(50'000);  // 0.05 s
  CHECK(clean_figures(c.experiment, "flow", 1).size() == 2);
  c.experiment.means = true;
  const auto figures = clean_figures(c.experiment, "flow", 1);
  REQUIRE(figures.size() == 4);
  CHECK(figures[0] == Approx(0.1));
  CHECK(figures[2] == Approx(0.075));
}

TEST_CASE("Transfers that share a link are one group a run", "[unit]") {
  // Means of runs: (1 + 3) / 2 = 2 and (3 + 5) / 2 = 4, in turn.
  Sample runs(2, Grouping::kByRun);
  for (int run = 0; run < 10; ++run) {
    const double late = run % 2 ? 2 : 0;
    runs.take({{{1 + late}, {3 + late}}, {}});
  }
  CHECK(are_near(runs.means(), {3}));
  // Ten groups that are 1 from their mean of 3: 1 / sqrt(9) / 3. As groups of their own the twenty
  // would look surer: sqrt(2) / sqrt(19) / 3.
  CHECK(runs.error() == Approx(1.0 / 9));
  Sample apart(2, Grouping::kPooled);
  for (int run = 0; run < 10; ++run) {
    const double late = run % 2 ? 2 : 0;
    apart.take({{{1 + late}, {3 + late}}, {}});
  }
  CHECK(apart.error() == Approx(std::sqrt(2.0 / 19) / 3));
}

TEST_CASE("Without controls the reference's mean is its own", "[unit]") {
  Sample reference(1, Grouping::kByRun), flow(1, Grouping::kByRun);
  for (int run = 0; run < 10; ++run) {
    reference.take({{{run % 2 ? 1.0 : 3.0}}, {}});
    flow.take({{{7}}, {}});
  }
  const auto means = reference.means_given(flow);
  REQUIRE(means.size() == 1);
  CHECK(means[0].value == Approx(2));
  CHECK(means[0].error == Approx(1.0 / 3 / 2));
}
