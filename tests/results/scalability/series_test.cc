#include "results/scalability/series.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/results/html_check.h"
#include "tests/results/scalability/scale_runs.h"

using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;

TEST_CASE("runs become series by method and points by workers, in order") {
  const ScaleStore runs({{.method = "topk", .workers = 8},
                         {.method = "none", .workers = 4},
                         {.method = "none", .workers = 2},
                         {.method = "topk", .workers = 2}});
  const ScaleData data = scale_data(*runs.store, runs.ids);
  REQUIRE(data.series.size() == 2);
  CHECK(data.series[0].name == "topk");
  CHECK_FALSE(data.series[0].dense);
  CHECK(data.series[1].dense);
  CHECK(data.series[1].points[0].workers == 2);
  CHECK(data.series[1].points[1].workers == 4);
  CHECK(data.series[1].samples == 32);
  CHECK(data.series[1].points[0].provenance == "simulated");
  CHECK(data.series[1].points[0].split.compute_s == Approx(0.05));
  CHECK(data.warnings.empty());
}

TEST_CASE("what differs beside the method names the series") {
  const ScaleStore runs({{.workers = 2}, {.workers = 2, .bandwidth = "10Gbps"}});
  const ScaleData data = scale_data(*runs.store, runs.ids);
  REQUIRE(data.series.size() == 2);
  CHECK(data.series[0].name == "none, bandwidth 1Gbps");
  CHECK(data.series[1].name == "none, bandwidth 10Gbps");
}

TEST_CASE("seeds give the interval of their mean") {
  // 100, 110 and 120 ms: mean 110, deviation 10, standard error 10 / sqrt 3 = 5.77 ms; t of two
  // degrees 2.920: +-16.9 ms.
  const ScaleStore runs(
      {{.seconds = 0.1, .seed = 1}, {.seconds = 0.11, .seed = 2}, {.seconds = 0.12, .seed = 3}});
  const ScalePoint point = scale_data(*runs.store, runs.ids).series[0].points[0];
  CHECK(point.over_seeds);
  CHECK(point.seconds == Approx(0.11));
  CHECK(point.relative_error == Approx(0.00577 / 0.11).epsilon(0.001));
  CHECK(point.low_s == Approx(0.110 - 0.01686).epsilon(0.001));
  CHECK(point.high_s == Approx(0.110 + 0.01686).epsilon(0.001));
}

TEST_CASE("a run that was repeated counts once, the latest") {
  const ScaleStore runs({{.seconds = 0.1}, {.seconds = 0.2}});
  const ScaleData data = scale_data(*runs.store, runs.ids);
  CHECK(data.series[0].points[0].seconds == Approx(0.2));
  CHECK(data.runs.size() == 1);
  REQUIRE(data.warnings.size() == 1);
  CHECK_THAT(data.warnings[0], Contains("1 runs were repeated later"));
}

TEST_CASE("times that are none are left out by name, never averaged in") {
  const ScaleStore runs({{.workers = 2, .seconds = 0.1},
                         {.workers = 4, .seconds = std::nan("")},
                         {.workers = 8, .seconds = -1}});
  const ScaleData data = scale_data(*runs.store, runs.ids);
  REQUIRE(data.series[0].points.size() == 1);
  CHECK(data.warnings.size() == 2);
  CHECK_THAT(data.warnings[0], Contains("run 2 is left out"));
  const std::vector<RunId> bad = {runs.ids[1]};
  CHECK_THROWS_WITH(scale_data(*runs.store, bad), Contains("none of them is finished"));
}

TEST_CASE("what cannot be one report is refused with what differs") {
  const ScaleStore mixed({{.model = "lenet5"}, {.model = "mlp"}});
  CHECK_THROWS_WITH(scale_data(*mixed.store, mixed.ids),
                    Contains("several workloads") && Contains("/workload/model is lenet5") &&
                        Contains("mlp") && Contains("scenario=lenet5-scaling"));
  std::vector<ScaleRun> many;
  for (int i = 1; i <= 9; ++i) many.push_back({.bandwidth = std::to_string(i) + "Gbps"});
  const ScaleStore wide(many);
  CHECK_THROWS_WITH(scale_data(*wide.store, wide.ids),
                    Contains("9 series") && Contains("/network/link/bandwidth"));
  const std::vector<RunId> nobody = {99};
  CHECK_THROWS_AS(scale_data(*wide.store, nobody), StoreError);
  CHECK_THROWS_WITH(scale_data(*wide.store, {}), Contains("none of them is finished"));
}
