#include "runner/prediction/advice.h"

#include <catch2/catch.hpp>
#include <set>

#include "results/advice/ranking.h"
#include "scenarios/share.h"

using namespace gradwire;
using namespace gradwire::results;

namespace {

/// ResNet-50 on 8 V100s; `network`: what follows /network.
scenarios::Scenario scenario(const std::string& network) {
  return scenarios::read_scenario_text(
             R"({"schema_version": 1, "name": "a", "workload": {"profile": "resnet50"},
                 "cluster": {"workers": 8, "device": "v100"}, "executor": "flow", "seeds": [1],
                 "network": )" +
                 network + "}",
             scenarios::share_folder() + "/a.json")
      .runs.at(0);
}

std::string star(const std::string& rate) {
  return R"({"topology": "star", "link": {"bandwidth": ")" + rate + R"(", "delay": "10us"}})";
}

std::vector<Candidate> candidates_of(const scenarios::Scenario& given, bool simulate = true) {
  std::vector<std::string> left_out;
  return runner::advice_candidates(
      given,
      {.methods = {R"({"name":"none"})", R"({"name":"fp16"})", R"({"name":"terngrad"})",
                   R"({"name":"topk","ratio":0.01})"},
       .collectives = {},
       .buckets = {Bytes(25'000'000)},
       .simulate_exchanges = simulate},
      8, left_out);
}

}  // namespace

TEST_CASE("Every method goes by the collectives that it can take") {
  std::set<std::string> of_sums, of_gathers;
  for (const Candidate& candidate : candidates_of(scenario(star("1Gbps")))) {
    if (candidate.method == "terngrad") of_sums.insert(candidate.collective);
    if (candidate.method == "topk 1% +ef") of_gathers.insert(candidate.collective);
    CHECK((candidate.baseline == Baseline::kFp32) == (candidate.method == "none"));
    CHECK((candidate.baseline == Baseline::kFp16) == (candidate.method == "fp16"));
  }
  // Eight workers are one group: no two-level.
  CHECK(of_sums == std::set<std::string>{"ring", "tree", "halving-doubling", "scatter-reduce",
                                         "parameter-server"});
  CHECK(of_gathers == std::set<std::string>{"ring", "direct", "scatter-reduce"});
}

TEST_CASE("A written network of workers alone has no host for a server, and says so") {
  std::string hosts, links;
  for (int h = 0; h < 8; ++h) {
    const std::string name = "\"h" + std::to_string(h) + "\"", comma = h > 0 ? "," : "";
    hosts += comma + name;
    links += comma + R"({"a": )" + name + R"(, "b": "s"})";
  }
  const auto written = scenario(R"({"topology": "explicit", "switches": ["s"], "hosts": [)" +
                                hosts + R"(], "links": [)" + links + "]}");
  std::vector<std::string> left_out;
  const auto candidates = runner::advice_candidates(written,
                                                    {.methods = {R"({"name":"none"})"},
                                                     .collectives = {"ring", "parameter-server"},
                                                     .buckets = {Bytes(25'000'000)},
                                                     .simulate_exchanges = false},
                                                    8, left_out);
  REQUIRE(candidates.size() == 1);
  CHECK(candidates[0].collective == "ring");
  REQUIRE(left_out.size() == 1);
  CHECK_THAT(left_out[0], Catch::Contains("none by parameter-server") && Catch::Contains("host"));
}

TEST_CASE("Candidates' steps are those of flow, and so are the verdicts") {
  for (const char* rate : {"1Gbps", "100Gbps"}) {
    const auto given = scenario(star(rate));
    const Advice advice = advise(candidates_of(given), usual_fit());
    CHECK(advice.verdict() ==
          (std::string(rate) == "1Gbps" ? Verdict::kCompress : Verdict::kDoNotCompress));
    double fastest = 1e9, chosen = 0;
    for (std::size_t i = 0; i < advice.ranked.size(); ++i) {
      const double seconds = runner::flow_seconds(given, advice.ranked[i].candidate);
      INFO(advice.ranked[i].candidate.method << " " << advice.ranked[i].candidate.collective);
      CHECK(advice.ranked[i].seconds() == Approx(seconds).epsilon(0.02));
      fastest = std::min(fastest, seconds);
      // The fastest of the verdict's kind; a method that leaves less out may be chosen over it.
      if (i == (advice.verdict() == Verdict::kCompress ? *advice.choice.compressed
                                                       : *advice.choice.chosen))
        chosen = seconds;
    }
    CHECK(chosen <= (1 + kTie) * fastest);
  }
}

TEST_CASE("Links that are shared are known to simulated exchanges and to the closed form") {
  // Two racks of four, an uplink of a tenth of a worker's rate: a direct all-gather crosses it 4 x
  // 4 times.
  const auto given = scenario(R"({"topology": "two-tier", "racks": 2, "spines": 1,
      "link": {"bandwidth": "10Gbps", "delay": "2us"},
      "uplink": {"bandwidth": "1Gbps", "delay": "5us"}})");
  const auto error_of = [&](bool simulate) {
    for (const Candidate& candidate : candidates_of(given, simulate)) {
      if (candidate.collective != "direct") continue;
      const double seconds = runner::flow_seconds(given, candidate);
      return step_time(candidate.step, usual_constants()).total_s / seconds - 1;
    }
    return 1.0;
  };
  CHECK(std::abs(error_of(true)) < 0.03);
  CHECK(std::abs(error_of(false)) < 0.05);
}

TEST_CASE("What cannot be advised on is refused") {
  std::vector<std::string> left_out;
  const auto collective = scenarios::read_scenario_text(
      R"({"schema_version": 1, "name": "c", "workload": {"collective": "ring-all-reduce",
          "bytes": "1MB"}, "cluster": {"workers": 4}, "network": {"topology": "star"},
          "executor": "flow", "seeds": [1]})",
      scenarios::share_folder() + "/c.json");
  CHECK_THROWS_WITH(runner::advice_candidates(collective.runs.at(0), {}, 4, left_out),
                    Catch::Contains("not a layer table"));
  CHECK_THROWS_WITH(runner::advice_candidates(scenario(star("1Gbps")), {}, 1, left_out),
                    Catch::Contains("a single worker"));
  runner::AdviceChoices sparse;
  sparse.methods = {R"({"name":"topk"})"};
  sparse.collectives = {"tree"};
  CHECK_THROWS_WITH(runner::advice_candidates(scenario(star("1Gbps")), sparse, 8, left_out),
                    Catch::Contains("no method goes with any of the collectives"));
}

TEST_CASE("Methods are named as scenarios name them") {
  CHECK(runner::method_of_text("topk") == R"({"name":"topk"})");
  CHECK(runner::method_of_text("sign:error_feedback=true:scale=none") ==
        R"({"name":"sign","error_feedback":true,"scale":"none"})");
  CHECK(runner::method_of_text("topk:ratio=0.001") == R"({"name":"topk","ratio":0.001})");
  CHECK_THROWS_WITH(runner::method_of_text("topk:ratio"), Catch::Contains("no field=value"));
}
