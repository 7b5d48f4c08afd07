#include "results/report/choice.h"

#include <catch2/catch.hpp>

#include "results/advice/choice.h"
#include "results/report/report.h"
#include "results/scalability/scalability.h"
#include "results/scalability/words.h"
#include "tests/results/html_check.h"
#include "tests/results/scalability/scale_runs.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;
using Catch::Contains;

namespace {

struct Training {
  std::string method;
  double step_s = 0.1;
  double accuracy = 0.95;  ///< at the end
  double target_at = 1;    ///< s
  int seeds = 3;
  std::string executor = "flow";
};

/// Ten steps, evaluated after the fifth and the tenth: five steps from one evaluation to the next.
/// Seeds differ by 0.1 point of accuracy.
void add(Store& store, const Training& given, std::uint64_t seed, std::vector<RunId>& ids) {
  RunHeader header = sample_header();
  header.scenario_json =
      R"({"name":"t","workload":{"model":"mlp","target_accuracy":0.9},"method":{"name":")" +
      given.method + R"("},"executor":")" + given.executor + R"(","seeds":[1]})";
  header.scenario_hash = given.method + given.executor;
  header.method = given.method;
  header.executor = given.executor;
  header.model = "mlp";
  header.data_set = "digits";
  header.seed = seed;
  const RunId run = store.begin_run(header, 10);
  const double accuracy = given.accuracy + 0.001 * (static_cast<double>(seed) - 2);
  std::vector<StepRow> steps;
  for (int i = 0; i < 10; ++i) {
    steps.push_back(sample_step(i));
    steps.back().start_s = given.step_s * i;
    steps.back().end_s = given.step_s * (i + 1);
  }
  const std::vector<MetricRow> metrics = {
      {4, "accuracy", 0.5, "share", Provenance::kMeasured},
      {9, "accuracy", accuracy, "share", Provenance::kMeasured}};
  store.append(run, steps, metrics);
  const std::vector<MetricRow> finals = {
      {-1, "step_time_s", given.step_s, "s", Provenance::kSimulated},
      {-1, "final_accuracy", accuracy, "share", Provenance::kMeasured},
      {-1, "wire_bytes", given.method == "none" ? 1000.0 : 10.0, "B", Provenance::kSimulated},
      {-1, "time_to_target_s", given.target_at, "s", Provenance::kSimulated}};
  store.finish_run(run, RunStatus::kFinished, "", "", "", finals);
  ids.push_back(run);
}

std::string report_of(const std::vector<Training>& trainings, double tolerance = kUsualTolerance) {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  std::vector<RunId> ids;
  for (const Training& training : trainings)
    for (int seed = 1; seed <= training.seeds; ++seed)
      add(*store, training, static_cast<std::uint64_t>(seed), ids);
  ReportOptions options;
  options.accuracy.tolerance = tolerance;
  return report_html(*store, ids, options);
}

}  // namespace

TEST_CASE("no method is first within the time between two evaluations", "[report]") {
  // Evaluated every 0.5 s: 1.0 s and 0.6 s are one evaluation, or none, apart.
  const std::string near = report_of({{.method = "none"}, {.method = "sign", .target_at = 0.6}});
  CHECK_THAT(near, Contains("No difference: none, sign reach it after") &&
                       Contains("time between two evaluations (500 ms)"));
  CHECK_FALSE(has(near, "times sooner"));
  const std::string far = report_of({{.method = "none"}, {.method = "sign", .target_at = 0.4}});
  CHECK_THAT(far, Contains("With sign: after 400 ms of") && Contains("2.5 times sooner"));
  CHECK_FALSE(has(far, "No difference: none"));
}

TEST_CASE("executors are no alternatives of each other", "[report]") {
  // An emulated run and its twin in `flow`, twice as fast: not what anyone may choose.
  Training twin{"none", 0.05};
  const Training emulated{.method = "none", .executor = "emulator"};
  const std::string html = report_of({emulated, twin});
  CHECK_THAT(html, !Contains("times as fast"));
  CHECK_THAT(html, Contains("executor emulator") && Contains("executor flow"));
  // The negative control: methods are.
  CHECK_THAT(report_of({{"none", 0.1}, {"fp16", 0.05}}), Contains("times as fast"));
}

TEST_CASE("the report recommends nothing that loses more than the tolerance", "[report]") {
  // Three seeds, 0.1 point apart: differences are known to 0.35 points (t(2) sqrt(2/3) 0.1).
  const std::vector<Training> trainings = {
      {.method = "none"},
      {.method = "sign", .step_s = 0.02, .accuracy = 0.935},  // 1.5 points less
      {.method = "int8", .step_s = 0.04, .accuracy = 0.948}};
  const std::string html = report_of(trainings);
  CHECK_THAT(html,
             Contains("What should be sent?") &&
                 Contains("Compress with int8: a step takes 40.0 ms instead of 100 ms, 2.50 "
                          "times as fast as fp32. Accuracy kept: \u22120.2 points") &&
                 Contains("Not recommended, beyond the tolerance of 1 point: sign, 20.0 ms") &&
                 Contains("The shortest is sign with 20.0 ms, 5.0 times as fast (loses "
                          "accuracy)"));
  CHECK_THAT(report_of(trainings, 0.02), Contains("Compress with sign"));
  // One seed each tells nothing of a loss of half a point: that is said, with the command.
  CHECK_THAT(report_of({{.method = "none", .seeds = 1},
                        {.method = "int8", .step_s = 0.04, .accuracy = 0.945, .seeds = 1}}),
             Contains("Accuracy unclear") && Contains("To find out: gradwire run quickstart"));
}

TEST_CASE("advise, the report and the scalability report take one winner", "[report]") {
  // 0.51 s is within 3 % of 0.5 s: fp16 wins the tie everywhere. At 0.53 s it does not.
  for (const double halves : {0.51, 0.53}) {
    std::vector<ScaleRun> runs;
    for (const int n : {2, 4}) {
      runs.push_back({.method = "none", .workers = n, .seconds = 1});
      runs.push_back({.method = "fp16", .workers = n, .seconds = halves});
      runs.push_back({.method = "topk 1%", .workers = n, .seconds = 0.5});
    }
    const ScaleStore store(runs);
    const Scalability all = scalability_of(*store.store, store.ids, {});
    const Verdict verdict = verdict_of(1.0, halves, 0.5);
    CHECK(verdict == (halves < 0.515 ? Verdict::kHalves : Verdict::kCompress));
    REQUIRE(all.choice);
    CHECK(all.choice->verdict == verdict);
    CHECK(all.data.series[all.best].name == (halves < 0.515 ? "fp16" : "topk 1%"));
    const std::vector<RunId> four(store.ids.begin() + 3, store.ids.end());
    const std::string words =
        halves < 0.515 ? "Send fp16 and compress no further" : "Compress with topk 1%";
    CHECK_THAT(report_html(*store.store, four), Contains(words + ": a step takes"));
    // One worker alone does more than four whose steps take as long: that is said before.
    CHECK_THAT(recommendations(all)[1], Contains(words.substr(1) + " on 4 workers: a step takes"));
  }
}

TEST_CASE("a scalability report carries what is known of accuracy", "[report]") {
  const ScaleStore store(three_methods());
  ScalabilityOptions options;
  const Scalability all = scalability_of(*store.store, store.ids, options);
  CHECK_THAT(recommendations(all)[0], Contains("Accuracy unknown here; nothing published") &&
                                          Contains("To find out: gradwire run"));
  REQUIRE(accuracy_notes(all).size() == 2);
  // The same store with trainings of that method, 2 points worse: it is not recommended any more.
  std::vector<RunId> ids;
  for (const std::uint64_t seed : {1, 2, 3}) {
    add(*store.store, {.method = "none"}, seed, ids);
    add(*store.store, {.method = "topk 1%", .accuracy = 0.93}, seed, ids);
  }
  const Scalability known = scalability_of(*store.store, store.ids, options);
  CHECK(known.data.series[known.best].name == "fp16");
  CHECK_THAT(recommendations(known)[0], Contains("Send fp16") && Contains("Not recommended") &&
                                            Contains("topk 1%") && Contains("\u22122.0 points"));
}
