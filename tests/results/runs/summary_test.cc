#include "results/runs/summary.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "tests/results/synthetic_runs.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;

namespace {

RunSummary finished(RunId id, const std::string& method, const std::string& bandwidth,
                    std::uint64_t seed, double step_time) {
  RunSummary run;
  run.id = id;
  SyntheticMethod synthetic = synthetic_methods()[0];
  synthetic.name = method;
  run.header.scenario_json = synthetic_scenario(synthetic, bandwidth, seed);
  run.header.scenario_hash = method + bandwidth;
  run.header.method = method;
  run.header.seed = seed;
  run.header.executor = "flow";
  run.status = RunStatus::kFinished;
  run.step_time_s = step_time;
  return run;
}

}  // namespace

TEST_CASE("mean and sample standard deviation", "[summary]") {
  // Mean (1 + 2 + 6) / 3 = 3; squares 4 + 1 + 9 = 14; 14 / 2 = 7.
  const std::vector<double> values = {1, 2, 6, std::nan("")};
  const Statistic s = statistic(values);
  CHECK(s.n == 3);
  CHECK(s.mean == 3);
  CHECK(s.spread == Approx(std::sqrt(7.0)));
  CHECK(s.spread != Approx(std::sqrt(14.0 / 3)));  // not the population's
  CHECK(s.least == 1);
  CHECK(s.greatest == 6);
  CHECK(std::isnan(statistic(std::vector<double>{5}).spread));
  CHECK(statistic(std::vector<double>{}).n == 0);
}

TEST_CASE("a mean's relative standard error, of a run's step times without the first",
          "[summary]") {
  // Ends at 0.25, 0.5, 0.75 s: two steps of 0.25 s. Then one of 0.75 s: mean 1.25 / 3, squares
  // 2 (1 / 6)^2 + (1 / 3)^2 = 1 / 6, deviation sqrt(1 / 12), over sqrt(3): 1 / 6; over the mean:
  // 0.4.
  std::vector<StepRow> steps = {sample_step(0), sample_step(1), sample_step(2)};
  CHECK(step_times_of(steps) == std::vector<double>{0.25, 0.25});
  CHECK(relative_error_of(statistic(step_times_of(steps))) == 0);
  steps.push_back(sample_step(3));
  steps.back().end_s = 1.5;
  CHECK(relative_error_of(statistic(step_times_of(steps))) == Approx(0.4));
  CHECK(step_times_of({}).empty());
  CHECK(relative_error_of(statistic(std::vector<double>{5})) == 0);
  CHECK(relative_error_of(statistic(std::vector<double>{-1, 1})) == 0);
}

TEST_CASE("a mean is shown with its spread in one unit", "[summary]") {
  CHECK(shown(statistic(std::vector<double>{0.050, 0.054}), Quantity::kSeconds) ==
        "52.0 \u00b1 2.8 ms");  // sd = 0.004 / sqrt 2 = 2.83 ms
  CHECK(shown(statistic(std::vector<double>{0.95, 0.96}), Quantity::kShare) ==
        "95.5 \u00b1 0.7 %");  // 1 / sqrt 2 points
  CHECK(shown(statistic(std::vector<double>{1.0, 1.00002}), Quantity::kSeconds) ==
        "1.00 \u00b1 1e-05 s");
  // 1.06455 s in the mean, 0.1954 the deviation: not by the 0.4 % less that the mean is rounded by.
  CHECK(shown(statistic(std::vector<double>{0.9264, 1.2027}), Quantity::kSeconds) ==
        "1.06 \u00b1 0.20 s");
  CHECK(shown(statistic(std::vector<double>{0.5}), Quantity::kSeconds) == "500 ms");
  CHECK(shown(statistic(std::vector<double>{2, 2}), Quantity::kSeconds) == "2.00 s");
  CHECK(shown(Statistic(), Quantity::kSeconds) == "-");
}

TEST_CASE("runs are grouped by all but the seed", "[summary]") {
  std::vector<RunSummary> runs = {
      finished(1, "none", "1Gbps", 1, 0.1), finished(2, "none", "1Gbps", 2, 0.3),
      finished(3, "topk", "1Gbps", 1, 0.05), finished(4, "none", "10Gbps", 1, 0.04),
      finished(5, "none", "1Gbps", 3, 9.0)};
  runs[4].status = RunStatus::kPartial;
  const auto groups = group_runs(runs);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].step_time_s.n == 2);
  CHECK(groups[0].step_time_s.mean == Approx(0.2));
  CHECK(groups[0].unfinished == 1);  // seed 3 is not in the mean
  CHECK(groups[0].label == "none, 1Gbps");
  CHECK(groups[1].label == "topk, 1Gbps");
  CHECK(groups[2].label == "none, 10Gbps");
  CHECK(groups[0].differing.at("/network/link/bandwidth") == "1Gbps");
  CHECK(groups[0].differing.count("/workload/model") == 0);  // the same in all
  CHECK(groups[0].target_accuracy == 0.9);
}

TEST_CASE("a seed counts once, with its latest run", "[summary]") {
  const std::vector<RunSummary> runs = {finished(1, "none", "1Gbps", 1, 0.1),
                                        finished(2, "none", "1Gbps", 1, 0.5)};
  const auto groups = group_runs(runs);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].step_time_s.n == 1);
  CHECK(groups[0].step_time_s.mean == 0.5);
}

TEST_CASE("groups that differ never share a label", "[summary]") {
  std::vector<RunSummary> runs = {finished(1, "none", "1Gbps", 1, 0.1),
                                  finished(2, "none", "1Gbps", 1, 0.1),
                                  finished(3, "none", "1Gbps", 1, 0.1)};
  runs[1].header.version = "0.2.0";
  runs[2].header.host = "elsewhere";
  const auto groups = group_runs(runs);
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].label != groups[1].label);
  CHECK(groups[0].label != groups[2].label);
  CHECK(groups[1].label != groups[2].label);
}

TEST_CASE("options of a choice stand in a label only where choices leave it open", "[summary]") {
  const std::string optimizers[] = {
      R"({"name":"sgd","lr":0.1,"momentum":0.9})", R"({"name":"sgd","lr":0.2,"momentum":0.9})",
      R"({"name":"adam","lr":0.2,"beta1":0.9})", R"({"name":"lars","lr":4,"eta":0.01})"};
  std::vector<RunSummary> runs;
  for (const std::string& optimizer : optimizers) {
    runs.push_back(finished(static_cast<RunId>(runs.size() + 1), "none", "1Gbps", 1, 0.1));
    RunHeader& header = runs.back().header;
    header.scenario_json = R"({"workload":{"optimizer":)" + optimizer + "}}";
    header.scenario_hash += optimizer;
  }
  const auto groups = group_runs(runs);
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].label == "none, optimizer sgd, lr 0.1");
  CHECK(groups[1].label == "none, optimizer sgd, lr 0.2");
  CHECK(groups[2].label == "none, optimizer adam");
  CHECK(groups[3].label == "none, optimizer lars");
}

TEST_CASE("the closing table", "[summary]") {
  std::vector<RunSummary> runs = {finished(1, "none", "1Gbps", 1, 0.1),
                                  finished(2, "none", "1Gbps", 2, 0.1),
                                  finished(3, "topk", "1Gbps", 1, 0.05)};
  runs[0].time_to_target_s = 2.0;
  const auto table = closing_table(group_runs(runs));
  REQUIRE(table.size() == 3);
  // No run has a ratio, bytes, loss or accuracy: no columns of dashes.
  CHECK(table[0] == std::vector<std::string>{"method", "step time", "time to target", "seeds"});
  CHECK(table[1] == std::vector<std::string>{"none", "100 ms", "2.00 s (1 of 2)", "2"});
  CHECK(table[2] == std::vector<std::string>{"topk", "50.0 ms", "not reached", "1"});
  CHECK(aligned_text({{"a", "bb"}, {"ccc", "d"}}) == "a    bb\nccc   d\n");
  CHECK(markdown({{"a", "b"}, {"x|y", "1"}}) == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |\n");
}

TEST_CASE("runs are compared with a baseline", "[summary]") {
  std::vector<RunSummary> runs = {finished(1, "none", "1Gbps", 1, 0.1),
                                  finished(2, "topk", "1Gbps", 1, 0.05)};
  const Comparison comparison = compare_runs(runs, 0);
  const auto row = [&](const std::string& name) {
    for (const ComparisonRow& r : comparison.rows)
      if (r.name == name) return r;
    throw std::runtime_error("no row " + name);
  };
  CHECK(row("step_time_s").deltas[1] == Approx(-0.05));  // 0.05 - 0.1
  CHECK(row("step_time_s").factors[1] == Approx(0.5));   // 0.05 / 0.1
  CHECK(row("step_time_s").differs);
  CHECK(row("method").differs);
  CHECK_FALSE(row("executor").differs);
  CHECK(row("/method/name").texts == std::vector<std::string>{"none", "topk"});
  CHECK_FALSE(row("/network/link/bandwidth").differs);
  CHECK_FALSE(row("final_loss").deltas[1]);
}

TEST_CASE("schedules are part of the method, and so is what they count", "[summary]") {
  const auto run = [](RunId id, const std::string& method, const std::string& scenario) {
    RunSummary run = finished(id, method, "1Gbps", 1, 0.1);
    run.header.scenario_json = scenario;
    run.header.scenario_hash = scenario;
    return run;
  };
  const std::string lockstep =
      R"({"workload": {"steps": 200, "evaluate_every": 5}, "schedule": {"kind": "lockstep"}})";
  const std::string free =
      R"({"workload": {"steps": 1600, "evaluate_every": 40}, "schedule": {"kind": "asynchronous"}})";
  std::vector<RunSummary> runs = {run(1, "none", lockstep), run(2, "none @asynchronous", free)};
  auto groups = group_runs(runs);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].label == "none");
  CHECK(groups[1].label == "none @asynchronous");
  // Negative control: with one schedule, steps are a condition.
  runs[1] = run(2, "none", R"({"workload": {"steps": 100, "evaluate_every": 5},
                              "schedule": {"kind": "lockstep"}})");
  groups = group_runs(runs);
  CHECK(groups[0].label == "none, steps 200");
  CHECK(groups[1].label == "none, steps 100");
  // Schedules of one kind count by their local steps.
  runs[1] = run(2, "none local_steps=4", R"({"workload": {"steps": 50, "evaluate_every": 1},
                                             "schedule": {"kind": "lockstep", "local_steps": 4}})");
  groups = group_runs(runs);
  CHECK(groups[0].label == "none");
  CHECK(groups[1].label == "none local_steps=4");
}

TEST_CASE("means say how many runs diverged", "[summary]") {
  std::vector<RunSummary> runs = {finished(1, "sgd", "1Gbps", 1, 0.5),
                                  finished(2, "sgd", "1Gbps", 2, 0.5),
                                  finished(3, "adam", "1Gbps", 1, 0.5)};
  runs[0].final_accuracy = 0.9;
  runs[1].status = runs[2].status = RunStatus::kDiverged;
  const auto groups = group_runs(runs);
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].diverged == 1);
  CHECK(groups[0].unfinished == 0);
  CHECK(groups[0].final_accuracy.n == 1);
  CHECK(shown_with_diverged(groups[0], groups[0].final_accuracy, Quantity::kShare) ==
        shown(groups[0].final_accuracy, Quantity::kShare) + " (1 of 2 diverged)");
  CHECK(shown_with_diverged(groups[1], groups[1].final_accuracy, Quantity::kShare) == "diverged");
  // Negative control: a run that failed is no result.
  runs[1].status = RunStatus::kFailed;
  CHECK(group_runs(runs)[0].diverged == 0);
  CHECK(group_runs(runs)[0].unfinished == 1);
}
