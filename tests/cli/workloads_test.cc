// Workloads without training: figures that only their kind has.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using nlohmann::json;

namespace {

/// Runs a scenario and gives the value of `metric` by step (-1: of the run).
std::map<std::int64_t, double> figures_of(const std::string& scenario, const std::string& metric,
                                          const std::string& executor = "flow") {
  const TemporaryFolder folder;
  write_file(folder / "scenario.json", scenario);
  const Result ran = run_program({"run", folder / "scenario.json", "--executor", executor, "--db",
                                  folder / "runs.db", "--no-report", "-q"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Result exported =
      run_program({"export", "1", "--what", "metrics", "--as", "json", "--db", folder / "runs.db"});
  REQUIRE(exported.exit_code == 0);
  std::map<std::int64_t, double> values;
  const json rows = json::parse(exported.out).at("rows");
  for (const json& row : rows)
    if (row.at("name") == metric) values[row.at("step")] = row.at("value");
  return values;
}

std::string pipeline(const std::string& schedule, int micro_batches, const std::string& parts) {
  return R"({"schema_version": 1, "name": "p", "workload": {"pipeline": {"schedule": ")" +
         schedule + R"(", "micro_batches": )" + std::to_string(micro_batches) + parts +
         R"(}, "repetitions": 2}, "cluster": {"workers": 4}})";
}

}  // namespace

TEST_CASE("pipeline: a step's bubble is (p - 1) / (m + p - 1), and what it keeps", "[unit]") {
  // p = 4 stages of 10 + 20 ms, no bytes: m micro-batches take (m + 3) 30 ms, of which each stage
  // works m 30 ms.
  for (const char* schedule : {"gpipe", "1f1b"}) {
    for (const int m : {1, 6}) {
      const std::string scenario = pipeline(schedule, m, R"(, "activations": "0B")");
      CHECK(figures_of(scenario, "pipeline_bubble").at(0) == Approx(3.0 / (m + 3)));
      CHECK(figures_of(scenario, "pipeline_bubble").at(1) == Approx(3.0 / (m + 3)));
      CHECK(figures_of(scenario, "step_time_s").at(-1) == Approx((m + 3) * 0.03));
    }
  }
  const std::string slow = R"(, "activations": "4MB")";
  CHECK(figures_of(pipeline("gpipe", 6, slow), "kept_activations").at(1) == 6);
  CHECK(figures_of(pipeline("1f1b", 6, slow), "kept_activations").at(1) == 4);
  // Negative control: bytes that cross a slow network make the bubble larger.
  CHECK(figures_of(pipeline("gpipe", 6, slow), "pipeline_bubble").at(0) > 3.0 / 9 + 0.01);
}

TEST_CASE("pipeline: the slowest stage sets the pace", "[unit]") {
  // GPipe, m = 5, the second of four stages takes 2 + 4 ms a micro-batch, the others 1 + 2: its
  // forwards end at 1 + 5 x 2 = 11 ms, the last stage's at 13; the first backward reaches it at
  // 13 + 2 + 2 = 17, its backwards end at 17 + 5 x 4 = 37, and the first stage's last one at 39.
  const std::string parts = R"(, "activations": "0B", "forward": "1ms", "backward": "2ms",
      "stages": [{}, {"forward": "2ms", "backward": "4ms"}, {}, {}])";
  CHECK(figures_of(pipeline("gpipe", 5, parts), "step_time_s").at(-1) == Approx(0.039));
}
