#include "results/advice/scenario_prices.h"

#include <catch2/catch.hpp>

using namespace gradwire::results;

namespace {

RunSummary run_with(RunId id, const std::string& prices) {
  RunSummary run;
  run.id = id;
  run.header.scenario_json = R"({"name": "a", "cluster": {"workers": 4})" +
                             (prices.empty() ? std::string() : ", \"prices\": " + prices) + "}";
  return run;
}

}  // namespace

TEST_CASE("A scenario's prices are read from its JSON; without them all is free") {
  const CostOptions costs =
      costs_of_scenario(run_with(1, R"({"gpu_hour": 2.5, "gigabyte": 0.01, "ports_per_worker": 2,
                      "epoch_samples": 1281167, "currency": "EUR"})")
                            .header.scenario_json);
  CHECK(costs.prices.gpu_hour == 2.5);
  CHECK(costs.prices.port_hour == 0);
  CHECK(costs.prices.gigabyte == 0.01);
  CHECK(costs.prices.ports_per_worker == 2);
  CHECK(costs.epoch_samples == 1281167);
  CHECK(costs.currency == "EUR");
  CHECK(costs_of_scenario(run_with(1, "").header.scenario_json) == CostOptions{});
}

TEST_CASE("Of runs with prices the latest counts, and a difference is named") {
  std::vector<std::string> warnings;
  const std::string one = R"({"gpu_hour": 1})", two = R"({"gpu_hour": 2})";
  const std::vector<RunSummary> alike = {run_with(1, one), run_with(2, ""), run_with(3, one)};
  CHECK(costs_of_runs(alike, warnings).prices.gpu_hour == 1);
  CHECK(warnings.empty());
  const std::vector<RunSummary> apart = {run_with(7, two), run_with(3, one)};
  CHECK(costs_of_runs(apart, warnings).prices.gpu_hour == 2);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Contains("different prices: those of run 7"));
  CHECK_FALSE(costs_of_runs(std::vector{run_with(1, "")}, warnings).prices.any());
}
