#include "bench/report/report.h"

#include <filesystem>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "bench/rows/timing.h"
#include "results/report/report.h"
#include "results/scalability/page.h"
#include "runner/prediction/scalability.h"
#include "runner/sweep.h"

namespace gradwire::bench {
namespace {

constexpr std::size_t kRuns = 100;
constexpr int kRepetitions = 5;
constexpr double kSecondsBar = 2, kBytesBar = 1e6;

constexpr const char* kScenario = R"({"schema_version": 1, "name": "hundred",
  "workload": {"profile": "alexnet", "batch_per_worker": 32, "steps": 40},
  "cluster": {"device": "reference-cpu"},
  "network": {"topology": "star", "link": {"bandwidth": "10Gbps", "delay": "50us"}},
  "executor": "flow", "seeds": [1, 2, 3, 4],
  "sweep": {"/method/name": ["none", "fp16", "terngrad", "qsgd", "topk"],
            "/cluster/workers": [2, 4, 8, 16, 32]}})";

void store_runs(const std::string& database, const Say& say) {
  const TemporaryFile scenario(kScenario, ".json");
  const auto file = scenarios::read_scenario_file(scenario.path());
  GRADWIRE_ASSERT(file.runs.size() == kRuns);
  say("simulating and storing " + std::to_string(kRuns) + " runs");
  const auto store = results::Store::open(database, results::Store::Mode::kReadWrite);
  runner::RunObserver quiet;
  const auto result = runner::run_sweep(file, {}, *store, quiet);
  if (result.runs.size() != kRuns)
    throw Error(ErrorKind::kFailure, "store", "the benchmark's runs", "not all of them finished");
}

std::vector<results::RunId> ids_of(const results::Store& store) {
  std::vector<results::RunId> ids;
  for (const results::RunSummary& run : store.runs()) ids.push_back(run.id);
  return ids;
}

void report_scalability(const std::string& database, const std::string& out) {
  const auto store = results::Store::open(database, results::Store::Mode::kReadOnly);
  std::vector<std::string> remarks;
  results::ScalabilityOptions options;
  options.model.step_at = runner::step_at_size(remarks);
  options.costs.prices.gpu_hour = 2.5;
  results::write_scalability(results::scalability_of(*store, ids_of(*store), options), out);
}

void report_runs(const std::string& database, const std::string& out) {
  const auto store = results::Store::open(database, results::Store::Mode::kReadOnly);
  results::write_report(*store, ids_of(*store), out);
}

double median_seconds(const std::function<void()>& call) {
  std::vector<double> seconds;
  for (int i = 0; i < kRepetitions; ++i) {
    const double start = now_s();
    call();
    seconds.push_back(now_s() - start);
  }
  return median(std::move(seconds));
}

}  // namespace

std::vector<BenchRow> bench_report(const Say& say) {
  const TemporaryFolder folder;
  const std::string database = folder.file("runs.db"), out = folder.file("scalability"),
                    plain = folder.file("report.html");
  store_runs(database, say);
  say("making reports of them");
  std::vector<BenchRow> rows;
  rows.push_back({.name = "report.scalability.runs100.seconds",
                  .value = median_seconds([&] { report_scalability(database, out); }),
                  .unit = "s",
                  .bar = kSecondsBar});
  rows.push_back({.name = "report.scalability.runs100.html_bytes",
                  .value = static_cast<double>(read_file(out + "/report.html").size()),
                  .unit = "B",
                  .bar = kBytesBar});
  rows.push_back({.name = "report.runs.runs100.seconds",
                  .value = median_seconds([&] { report_runs(database, plain); }),
                  .unit = "s",
                  .bar = kSecondsBar});
  rows.push_back({.name = "report.runs.runs100.html_bytes",
                  .value = static_cast<double>(read_file(plain).size()),
                  .unit = "B",
                  .bar = kBytesBar});
  return labelled(std::move(rows), "measured");
}

}  // namespace gradwire::bench
