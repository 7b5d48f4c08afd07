#include "tests/results/scalability/claims.h"

#include <catch2/catch.hpp>
#include <random>

#include "results/scalability/competition.h"
#include "results/scalability/page.h"
#include "results/scalability/words.h"
#include "tests/results/html_check.h"
#include "tests/results/scalability/scale_runs.h"

/// No sentence of a report is refuted by its rows.
using namespace gradwire;
using namespace gradwire::results;
using Catch::Contains;
using testing::ClaimRows;
using testing::Claims;

namespace {

/// Of B/s: 25 Gbps between nodes, 1,200 Gbps among the eight workers of one.
constexpr double kBetween = 25e9 / 8, kWithin = 1200e9 / 8;

double rate_on_nodes(int workers) {
  return workers > 8 ? kBetween : kWithin;
}

double step_seconds(const StepSummary& step) {
  return step_time(step, usual_constants()).total_s;
}

/// Runs on nodes of eight; their summaries have the links right, or those within a node throughout.
std::vector<ScaleRun> runs_on_nodes(bool right) {
  std::vector<ScaleRun> runs;
  for (const int n : {2, 4, 8, 16})
    runs.push_back({.workers = n,
                    .seconds = step_seconds(scale_step(n, 200, 0, rate_on_nodes(n))),
                    .megabytes = 200,
                    .bandwidth = "25Gbps",
                    .rate = right ? rate_on_nodes(n) : kWithin});
  return runs;
}

struct Report {
  Scalability all;
  std::vector<std::string> refuted;
  std::string text() const {
    return in_words(short_answer(all)) + in_words(recommendations(all)) + in_words(all.warnings);
  }
};

Report report_of(const std::vector<ScaleRun>& runs, ScalabilityOptions options = {}) {
  const ScaleStore store(runs);
  Report report{scalability_of(*store.store, store.ids, std::move(options)), {}};
  report.refuted = testing::refuted_claims(nlohmann::json::parse(scalability_json(report.all)),
                                           accuracy_notes(report.all));
  CHECK(html_problem(document_html(scalability_document(report.all))) == "");
  return report;
}

ScalabilityOptions on_nodes() {
  ScalabilityOptions options;
  options.model.step_at = [](const ScaleSeries&, const StepSummary& nearest, int workers) {
    StepSummary step = nearest;
    step.workers = workers;
    step.bandwidth = rate_on_nodes(workers);
    return step;
  };
  return options;
}

}  // namespace

TEST_CASE("negative control: claims that rows refute are found") {
  // 2, 8 and 16 workers have 99.8, 99.6 and 39.1 %; the model says 60 ms on 16 where a run
  // takes 99.
  const auto row = [](double seconds, int n, double model_s) {
    return testing::ClaimRow{seconds, seconds, 0.0388 / seconds, 8 * n / seconds,
                             true,    false,   model_s};
  };
  ClaimRows rows;
  rows["none"] = {
      {2, row(0.0389, 2, 0.0389)}, {8, row(0.039, 8, 0.039)}, {16, row(0.0993, 16, 0.06)}};
  rows["none"][32] = {0.09, 0.09, 0.43, 32 * 8 / 0.09, false, true, 0.09};
  Claims claims(rows, "none", 0.8);
  for (const char* sentence :
       {"The target of an efficiency of 80 % is unreachable: two workers already have 99.8 %.",
        "Not even 2 workers have the target of an efficiency of 80 %: theirs is 99.8 %.",
        "At an efficiency of 80 % it scales to more than 128 workers (extrapolated from 16).",
        "At an efficiency of 80 % it scales to 16 workers.",
        "At an efficiency of 80 % it scales to 2 workers.",
        "At an efficiency of 80 % it scales to 8 workers; 16 workers have 93.0 % (simulated).",
        "16 workers have 39.1 % (predicted).",
        "Adding workers: adding workers lowers throughput, which is highest on 8 workers.",
        "Run 16 workers rather than 32.", "Run 1 worker rather than 2.",
        "80 % on 16 workers takes links of 869 Gbps instead of 175 Gbps.",
        "What moves the throughput most on 16 workers is link rate: 20 % more gives +16 %."})
    CHECK_FALSE(claims.refuted(sentence).empty());
  for (const char* sentence :
       {"At an efficiency of 80 % it scales to 8 workers, with 99.5 % (simulated); 16 workers have "
        "39.1 % (simulated); up to 16 workers, throughput is highest on 8 (1.64 k; simulated)."})
    CHECK(claims.refuted(sentence).empty());
  CHECK(claims.falling_rows().size() == 1);  // 90 ms on 32 after 99.3 on 16
  const auto report =
      nlohmann::json::parse(R"({"answer": ["2 workers with topk process 5 samples/s"],
    "recommendations": [], "target_efficiency": 0.8, "rows": [{"name": "topk", "workers": 2,
    "step_time_s": 1, "low_s": 1, "efficiency": 0.5, "samples_per_s": 5, "provenance": "simulated",
    "extrapolated": false}]})");
  CHECK(testing::refuted_claims(report, {"topk: loses accuracy: 12 points"}).size() == 1);
  CHECK(testing::refuted_claims(report, {"topk: accuracy unknown"}).empty());
}

TEST_CASE("workers of one node scale, more do not: the rows say up to where") {
  // 50 ms of compute beside 200 MB: within a node 2 x 7/8 x 200 MB / 150 GB/s = 2.3 ms; between
  // nodes 2 x 15/16 x 200 MB / 3.125 GB/s = 120 ms.
  const Report report = report_of(runs_on_nodes(true), on_nodes());
  CHECK(report.refuted == std::vector<std::string>{});
  CHECK(report.all.reach[0] == 8);
  CHECK(report.all.holds(0, 128));
  CHECK_THAT(report.text(), Contains("it scales to 8 workers") && Contains("16 workers have") &&
                                Contains("instead of 25.0 Gbps"));
}

TEST_CASE("what an earlier version stored of a network gives way to the network") {
  const Report report = report_of(runs_on_nodes(false), on_nodes());
  CHECK(report.refuted == std::vector<std::string>{});
  CHECK(report.all.holds(0, 128));
  CHECK(report.all.data.series[0].points[3].step->bandwidth == kBetween);
}

TEST_CASE("of a model that misses its own runs nothing is concluded, whatever its form") {
  const Report report = report_of(runs_on_nodes(false));
  CHECK(report.refuted == std::vector<std::string>{});
  CHECK_FALSE(report.all.holds(0, 16));
  CHECK(report.all.reach[0] == 8);  // by the runs
  CHECK_THAT(report.text(), Contains("beyond its 90 % band") && !Contains("instead of") &&
                                !Contains("moves the throughput"));
  CHECK(report.all.sensitivity.empty());
  CHECK_FALSE(report.all.answer(0, 32));
}

TEST_CASE("fewer workers can be worse than more") {
  // 50 ms alone: 2 workers have 50 %, 8 have 90.9 %, 16 have 33 %.
  const Report report = report_of({{.workers = 2, .seconds = 0.1},
                                   {.workers = 8, .seconds = 0.055},
                                   {.workers = 16, .seconds = 0.15}});
  CHECK(report.refuted == std::vector<std::string>{});
  CHECK(report.all.reach[0] == 8);
  CHECK_THAT(report.text(), Contains("it scales to 8 workers, with 90.9 % (simulated)") &&
                                Contains("2 workers, too, have less: 50 % (simulated)"));
}

TEST_CASE("the target: on no number, on all of them, between two runs") {
  const Report none =
      report_of({{.workers = 2, .megabytes = 100}, {.workers = 4, .megabytes = 100}});
  CHECK(none.refuted == std::vector<std::string>{});
  CHECK_THAT(none.text(), Contains("Not even 2 workers have the target"));
  const Report later =
      report_of({{.workers = 4, .megabytes = 100}, {.workers = 8, .megabytes = 100}});
  CHECK(later.refuted == std::vector<std::string>{});
  CHECK_THAT(later.text(), Contains("None of the numbers of workers below"));
  const Report all =
      report_of({{.workers = 2, .megabytes = 0.01}, {.workers = 4, .megabytes = 0.01}});
  CHECK(all.refuted == std::vector<std::string>{});
  CHECK_THAT(all.text(), Contains("it scales to 32 workers at least"));
  ScalabilityOptions options;
  options.target = 0.35;
  const Report between =
      report_of({{.workers = 2}, {.workers = 4}, {.workers = 8}, {.workers = 64}}, options);
  CHECK(between.refuted == std::vector<std::string>{});
  const int reach = between.all.reach[0].value();
  CHECK(between.all.efficiency(0, reach, between.all.answer(0, reach)->seconds) >= 0.35);
  CHECK(between.all.efficiency(0, reach + 1, between.all.answer(0, reach + 1)->seconds) < 0.35);
}

TEST_CASE("what loses accuracy is no headline while anything else is there") {
  const auto runs = [](bool dense, const char* bandwidth) {
    std::vector<ScaleRun> list;
    for (const int n : {2, 4, 8}) {
      list.push_back({.workers = n, .accuracy = 0.95});
      list.push_back({.method = "topk",
                      .workers = n,
                      .megabytes = 0.1,
                      .bandwidth = bandwidth,
                      .accuracy = 0.83});
    }
    if (!dense) std::erase_if(list, [](const ScaleRun& run) { return run.method == "none"; });
    return list;
  };
  const Report competing = report_of(runs(true, "1Gbps"));
  CHECK(competing.refuted == std::vector<std::string>{});
  CHECK(competing.all.data.series[competing.all.best].name == "none");
  // Beside another bandwidth, where no rule chooses; and where there is nothing else.
  std::vector<ScaleRun> apart = runs(true, "1Gbps");
  for (const int n : {2, 4, 8}) apart.push_back({.workers = n, .bandwidth = "10Gbps"});
  const Report other = report_of(apart);
  CHECK(other.refuted == std::vector<std::string>{});
  CHECK_THAT(short_answer(other.all)[0], Contains("without compression"));
  ScalabilityOptions options;
  options.knowledge.published = {};
  const ScaleStore trained(runs(true, "1Gbps"));
  std::vector<RunId> lossy;
  for (std::size_t i = 1; i < trained.ids.size(); i += 2) lossy.push_back(trained.ids[i]);
  const Scalability only = scalability_of(*trained.store, lossy, options);
  CHECK_THAT(short_answer(only)[0], Contains("topk (which loses accuracy, as all series here do)"));
}

TEST_CASE("a curve that turns again beyond the runs ends there") {
  ScalabilityOptions options;
  options.model.step_at = [](const ScaleSeries&, const StepSummary& nearest, int workers) {
    StepSummary step = nearest;
    step.workers = workers;
    if (workers > 32) step.bandwidth *= 10;  // as where a topology has no such form
    return step;
  };
  const Report report = report_of({{.workers = 4}, {.workers = 8}, {.workers = 16}}, options);
  CHECK(report.refuted == std::vector<std::string>{});
  CHECK(report.all.models[0]->holds_to == 32);
  CHECK_FALSE(report.all.answer(0, 64));
  CHECK_THAT(report.text(), Contains("beyond 32 workers the model's steps are shorter"));
}

TEST_CASE("a small miss widens the band until it holds") {
  // 1 % more on 8 workers than the form has: no reason to drop it, but no band may leave the run
  // out.
  std::vector<ScaleRun> runs;
  for (const int n : {2, 4, 6, 8, 12, 16})
    runs.push_back({.workers = n, .seconds = step_seconds(scale_step(n)) * (n == 8 ? 1.01 : 1)});
  const Report report = report_of(runs);
  CHECK(report.refuted == std::vector<std::string>{});
  REQUIRE(report.all.holds(0));
  for (std::size_t i = 0; i < runs.size(); ++i)
    CHECK(outside_band(report.all.data.series[0].points[i],
                       report.all.models[0]->known[i].prediction) < 1e-9);
}

TEST_CASE("where compressing pays is what the rows say") {
  const ScaleStore store(three_methods());
  const Scalability all = scalability_of(*store.store, store.ids, {});
  std::string reason;
  const auto competition = competition_of(all, reason);
  REQUIRE(competition);
  int checked = 0;
  for (const Crossover& crossing : competition->crossings) {
    const double method = all.answer(2, crossing.workers)->seconds,
                 least = std::min(all.answer(0, crossing.workers)->seconds,
                                  all.answer(1, crossing.workers)->seconds);
    const bool pays = std::ranges::any_of(crossing.pays, [&](const RateStretch& stretch) {
      return competition->rate >= stretch.from && competition->rate < stretch.to;
    });
    if (std::abs(least / method - 1.03) < 0.01) continue;  // either may be said
    CHECK(pays == (least > 1.03 * method));
    ++checked;
  }
  CHECK(checked >= 5);
}

TEST_CASE("drawn databases: whatever the runs are, no sentence is refuted by them") {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    std::mt19937 draw(seed);
    const auto uniform = [&](double low, double high) {
      return std::uniform_real_distribution<double>(low, high)(draw);
    };
    std::vector<ScaleRun> runs;
    const bool trained = uniform(0, 1) < 0.5, alike = uniform(0, 1) < 0.5;
    for (const char* method : {"none", "fp16", "topk 1%"}) {
      const double slope = uniform(0.6, 1.4), megabytes = std::exp(uniform(-5, 5));
      for (const int n : {2, 4, 8, 16}) {
        const double usual = step_seconds(scale_step(n, megabytes));
        runs.push_back(
            {.method = method,
             .workers = n,
             .seconds = alike ? usual : usual * std::pow(slope, std::log2(n)) * uniform(0.9, 1.3),
             .megabytes = megabytes,
             .bandwidth = uniform(0, 1) < 0.1 ? "2Gbps" : "1Gbps",
             .accuracy = trained ? uniform(0.9, 0.95) : 0});
      }
      if (uniform(0, 1) < 0.3) break;
    }
    ScalabilityOptions options;
    options.target = uniform(0.05, 0.95);
    options.at = static_cast<int>(uniform(0, 3)) * 12;
    INFO("seed " << seed);
    CHECK(report_of(runs, options).refuted == std::vector<std::string>{});
  }
}

TEST_CASE("where all together do less than one alone, one is what to run") {
  // 50 ms of compute a batch of 32: 640 samples/s alone; four workers at 0.5 s do 256.
  const Report report = report_of({{.workers = 2, .seconds = 0.3}, {.workers = 4, .seconds = 0.5}});
  CHECK(report.refuted == std::vector<std::string>{});
  CHECK_THAT(report.text(), Contains("Run 1 worker rather than 4: up to 4 workers, throughput is "
                                     "highest on 1 (640 samples/s; by its compute time"));
}
