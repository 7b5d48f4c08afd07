#include "results/report/forms.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "tests/results/synthetic_runs.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;
using Catch::Contains;

TEST_CASE("the report in other forms has the answers, and the groups to full precision") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  std::vector<RunId> runs;
  for (const SyntheticMethod& method : synthetic_methods())
    for (std::uint64_t seed : {1, 2})
      runs.push_back(add_synthetic_run(*store, method, "100Mbps", 1e8, seed));
  const auto document = nlohmann::json::parse(report_json(*store, runs));
  REQUIRE(document.at("answers").size() == 1);
  CHECK(document["answers"][0].at("workload") == "slow-links: lenet5 on digits");
  CHECK(document["answers"][0].at("link") == "100 Mbps, 50 \u00b5s, 0.1 % lost");
  REQUIRE(document.at("rows").size() == 4);
  const auto& none = document["rows"][0];
  CHECK(none.at("method") == "none");
  CHECK(none.at("seeds") == 2);
  // Mean, and sqrt(((a - m)^2 + (b - m)^2) / 1) = |a - b| / sqrt(2), of two seeds.
  const double a = *store->run(1)->step_time_s, b = *store->run(2)->step_time_s;
  CHECK(none.at("step_time_s").get<double>() == Approx((a + b) / 2).epsilon(1e-12));
  CHECK(none.at("step_time_spread_s").get<double>() == Approx(std::abs(a - b) / std::sqrt(2)));
  CHECK_THAT(report_csv(*store, runs), Contains("workload,runs,method,") &&
                                           Contains("slow-links: lenet5 on digits,none,none,"));
  const std::string text = report_markdown(*store, runs);
  CHECK_THAT(text, Contains("## slow-links: lenet5 on digits") && Contains("| terngrad |"));
}

TEST_CASE("names are text in the report's Markdown, and nothing is reported of no finished run") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  RunHeader header = sample_header();
  header.scenario_name = "<img src=x>|";
  const std::vector<RunId> runs = {store->begin_run(header, 1)};
  CHECK_THROWS_WITH(report_csv(*store, runs), Contains("none of them is finished"));
  store->append(runs[0], std::vector{sample_step(0)}, {});
  store->finish_run(runs[0], RunStatus::kFinished, "", "", "", {});
  CHECK_THAT(report_markdown(*store, runs), !Contains("<img") && Contains("&lt;img src=x>\\|"));
}
