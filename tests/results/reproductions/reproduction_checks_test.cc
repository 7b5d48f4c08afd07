#include "results/reproductions/reproduction_checks.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

RunSummary run(const std::string& method, std::uint64_t seed, double accuracy, double bytes) {
  RunSummary summary;
  summary.header.method = method;
  summary.header.seed = seed;
  summary.status = RunStatus::kFinished;
  summary.final_accuracy = accuracy;
  summary.wire_bytes = bytes;
  return summary;
}

const std::vector<RunSummary> kRuns = {run("none", 1, .93, 100),  run("none", 2, .95, 100),
                                       run("small", 1, .92, 10),  run("small", 2, .95, 12),
                                       run("broken", 1, .60, 10), run("broken", 2, .70, 10)};

std::vector<ReproductionRow> rows_of(const char* checks) {
  const auto expected =
      nlohmann::ordered_json::parse(std::string(R"({"checks": [)") + checks + "]}");
  return check_reproduction("paper", expected, kRuns);
}

}  // namespace

TEST_CASE("a check is the mean over seeds, its spread their standard deviation", "[reproduction]") {
  const auto rows = rows_of(R"({"metric": "final_accuracy", "method": "none", "min": 0.9,
                                "claim": "it learns"})");
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].name == "paper.final_accuracy");
  CHECK(rows[0].claim == "it learns");
  CHECK(rows[0].value == Approx(.94));         // (.93 + .95) / 2
  CHECK(*rows[0].spread == Approx(.0141421));  // sqrt((.01^2 + .01^2) / 1)
  CHECK(rows[0].seeds == 2);
  CHECK(*rows[0].holds());
}

TEST_CASE("two methods are compared seed by seed", "[reproduction]") {
  const auto rows = rows_of(
      R"({"metric": "final_accuracy", "method": "small", "against": "none", "min": -0.01},
         {"metric": "wire_bytes", "method": "small", "against": "none", "compare": "ratio",
          "max": 0.1})");
  CHECK(rows[0].value == Approx(-.005));  // (-.01 + 0) / 2
  CHECK(rows[0].method == "small - none");
  CHECK(*rows[0].holds());
  CHECK(rows[1].value == Approx(.11));  // (.10 + .12) / 2
  CHECK_FALSE(*rows[1].holds());
}

TEST_CASE("a negative control must miss its mark", "[reproduction]") {
  const char* check = R"({"metric": "final_accuracy", "method": "%s", "against": "none",
                          "min": -0.01, "negative_control": true})";
  const auto with = [&](const std::string& method) {
    std::string text = check;
    text.replace(text.find("%s"), 2, method);
    return *rows_of(text.c_str())[0].holds();
  };
  CHECK(with("broken"));
  CHECK_FALSE(with("small"));
}

TEST_CASE("a check of a method without a finished run is refused, and names what there is",
          "[reproduction]") {
  try {
    rows_of(R"({"metric": "final_loss", "method": "other"})");
    FAIL("it was accepted");
  } catch (const Error& error) {
    const std::string text = error.what();
    CHECK(text.find("other") != std::string::npos);
    CHECK(text.find("broken, none, small") != std::string::npos);
  }
}

TEST_CASE("who never reaches the target keeps no bound on when", "[reproduction]") {
  const auto rows = rows_of(R"({"metric": "time_to_target_s", "method": "small", "max": 5},
                 {"metric": "final_accuracy", "method": "small", "min": 0.9})");
  REQUIRE(rows.size() == 2);
  CHECK(std::isnan(rows[0].value));
  CHECK_FALSE(*rows[0].holds());
  CHECK(*rows[1].holds());
}

TEST_CASE("figures that the runs do not have, and bounds that nothing is between, are refused",
          "[reproduction]") {
  CHECK_THROWS_WITH(rows_of(R"({"metric": "final_loss", "method": "small", "max": 1})"),
                    Catch::Contains("no such figure"));
  CHECK_THROWS_WITH(
      rows_of(R"({"metric": "final_accuracy", "method": "small", "min": 0.9, "max": 0.1})"),
      Catch::Contains("min is above max"));
}

TEST_CASE("a check says which runs it is of by values of their scenarios", "[reproduction]") {
  const auto with = [](int local_steps, std::uint64_t seed, double accuracy) {
    RunSummary summary = run("none", seed, accuracy, 1);
    summary.header.scenario_json =
        R"({"workload": {"data": {"kind": "iid", "noise": 0.0}}, "schedule":
        {"local_steps": )" +
        std::to_string(local_steps) + "}}";
    return summary;
  };
  const std::vector<RunSummary> runs = {with(1, 1, .5), with(1, 2, .6), with(25, 1, .8),
                                        with(25, 2, .9)};
  const auto rows = [&](const char* check) {
    return check_reproduction(
        "paper", nlohmann::ordered_json::parse(std::string(R"({"checks": [)") + check + "]}"),
        runs);
  };
  const auto difference = rows(R"({"metric": "final_accuracy", "method": "none",
      "where": {"/schedule/local_steps": "25", "/workload/data/kind": "iid"},
      "against_where": {"/schedule/local_steps": "1"}, "min": 0.1})");
  CHECK(difference[0].value == Approx(.3));
  CHECK(difference[0].method == "none [local_steps=25 kind=iid] - [local_steps=1]");
  // A number is itself however it is written, and null what is not there.
  CHECK(rows(R"({"metric": "final_accuracy", "where": {"/schedule/local_steps": "25.0",
      "/workload/data/noise": "0", "/workload/data/none": "null"}})")[0]
            .value == Approx(.85));
  // Negative controls: no such runs; more than one of a seed.
  CHECK_THROWS_AS(rows(R"({"metric": "final_accuracy", "where": {"/schedule/local_steps": "2"}})"),
                  Error);
  CHECK_THROWS_AS(rows(R"({"metric": "final_accuracy", "where": {"/workload/data/kind": "iid"}})"),
                  Error);
}

TEST_CASE("a seed that diverged is not left out: no mark is met", "[reproduction]") {
  std::vector<RunSummary> runs = kRuns;
  const auto rows = [&](const char* check) {
    return check_reproduction(
        "paper", nlohmann::ordered_json::parse(std::string(R"({"checks": [)") + check + "]}"),
        runs);
  };
  constexpr const char* kSmall =
      R"({"metric": "final_accuracy", "method": "small", "against": "none", "min": -0.01})";
  constexpr const char* kControl =
      R"({"metric": "final_accuracy", "method": "small", "against": "none", "min": -0.01,
          "negative_control": true})";
  CHECK(*rows(kSmall)[0].holds());
  runs[3].status = RunStatus::kDiverged;
  runs[3].final_accuracy.reset();
  CHECK_FALSE(*rows(kSmall)[0].holds());
  CHECK(std::isnan(rows(kSmall)[0].value));
  CHECK(rows(kSmall)[0].seeds == 2);
  CHECK(*rows(kControl)[0].holds());
}

TEST_CASE("a target is another run's final accuracy of the same seed, less a margin",
          "[reproduction]") {
  std::vector<RunSummary> runs = kRuns;
  for (std::size_t r = 0; r < runs.size(); ++r) runs[r].id = static_cast<RunId>(r) + 1;
  // Runs gain .01 a second from .90 on ("broken" from .50 on): the time to .92 is 2 s.
  const TimeToAccuracy time = [](RunId run, double accuracy) -> std::optional<double> {
    if (run >= 5) return std::nullopt;
    return (accuracy - .90) / .01;
  };
  const auto rows = [&](const char* check) {
    return check_reproduction(
        "paper", nlohmann::ordered_json::parse(std::string(R"({"checks": [)") + check + "]}"), runs,
        time);
  };
  // Targets .93 - .01 and .95 - .01: 2 s and 4 s.
  const auto own =
      rows(R"({"metric": "time_to_target_s", "method": "small", "target_of": "none"})");
  CHECK(own[0].value == Approx(3));
  CHECK(own[0].seeds == 2);
  const auto wider = rows(R"({"metric": "time_to_target_s", "method": "small", "target_of": "none",
      "target_less": 0.02})");
  CHECK(wider[0].value == Approx(2));
  const auto ratio = rows(R"({"metric": "time_to_target_s", "method": "small", "against": "none",
      "compare": "ratio", "target_of": "none"})");
  CHECK(ratio[0].value == Approx(1));
  // Negative controls: a run that never gets there meets no mark; other figures have no target.
  const auto never = rows(R"({"metric": "time_to_target_s", "method": "broken",
      "target_of": "none", "max": 1000})");
  CHECK(std::isnan(never[0].value));
  CHECK_FALSE(*never[0].holds());
  CHECK_THROWS_AS(rows(R"({"metric": "final_loss", "method": "small", "target_of": "none"})"),
                  Error);
}

TEST_CASE("a bound without a place is on each run of its method: a row for those that differ",
          "[reproduction]") {
  std::vector<RunSummary> runs = kRuns;
  for (std::size_t r = 0; r < runs.size(); ++r)
    runs[r].header.scenario_hash = std::to_string(r / 2);  // of both seeds
  const auto rows = [&](const char* check) {
    return check_reproduction(
        "paper", nlohmann::ordered_json::parse(std::string(R"({"checks": [)") + check + "]}"),
        runs);
  };
  const auto all = rows(R"({"metric": "final_accuracy", "min": 0.9})");
  REQUIRE(all.size() == 3);
  CHECK(all[0].method == "none");
  CHECK(all[0].value == Approx(.94));
  CHECK(all[0].seeds == 2);
  CHECK(*all[1].holds());        // .935
  CHECK_FALSE(*all[2].holds());  // .65: a mean over all would be .84
  for (RunSummary& each : runs) each.header.method = "none";
  CHECK(rows(R"({"metric": "final_accuracy", "method": "none", "min": 0.9})").size() == 3);
  CHECK_THROWS_AS(rows(R"({"metric": "final_accuracy", "method": "other"})"), Error);
}
