#include "results/export.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/fields.h"
#include "tests/results/test_store.h"

using namespace gradwire::results;
using Json = nlohmann::json;

namespace {

struct OneRun {
  OneRun() : store(Store::open(folder.file("a.db"), Store::Mode::kReadWrite)) {
    auto header = sample_header();
    header.method = "topk, \"1%\"";
    id = store->begin_run(header, 2);
    auto second = sample_step(1);
    second.loss = std::nan("");
    store->append(id, std::vector{sample_step(0), second},
                  std::vector<MetricRow>{{1, "accuracy", 0.5, "share", Provenance::kMeasured}});
    const std::vector<TimelineSegment> segments = {{0, 2, 1, "forward", 0.25, 0.5, 0},
                                                   {0, 2, 255, "bucket 0", 0.5, 0.75, 4096}};
    store->put_timeline(id, "simulated", segments);
  }
  TemporaryFolder folder;
  std::unique_ptr<Store> store;
  RunId id = 0;
};

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

}  // namespace

TEST_CASE("runs as CSV and JSON", "[export]") {
  const OneRun one;
  const auto runs = one.store->runs();
  const Json document = Json::parse(export_runs(runs, ExportFormat::kJson));
  CHECK(document["schema_version"] == 1);
  REQUIRE(document["rows"].size() == 1);
  const Json& row = document["rows"][0];
  CHECK(row["name"] == "sample.1");
  CHECK(row["method"] == "topk, \"1%\"");
  CHECK(row["workers"] == 8);
  CHECK(row["simulated_s"] == 0.5);
  CHECK(row["final_accuracy"].is_null());
  CHECK(row.size() == run_fields().size() + 1);
  const std::string csv = export_runs(runs, ExportFormat::kCsv);
  CHECK(lines(csv) == 2);
  CHECK(csv.starts_with("name,id,scenario_name,"));
  CHECK(csv.find("\"topk, \"\"1%\"\"\"") != std::string::npos);
}

TEST_CASE("steps, metrics and timelines", "[export]") {
  const OneRun one;
  const Json steps = Json::parse(export_steps(*one.store, one.id, ExportFormat::kJson))["rows"];
  REQUIRE(steps.size() == 2);
  CHECK(steps[0]["loss"] == 2.0);
  CHECK(steps[1]["loss"].is_null());  // diverged
  CHECK(steps[1]["wire_bytes"] == 1100);
  CHECK(export_steps(*one.store, one.id, ExportFormat::kCsv)
            .find("sample.step1,1,1,,0.25,0.5,1000,1100,1,0.1,0.05,0.1\r\n") != std::string::npos);
  const Json metrics = Json::parse(export_metrics(*one.store, one.id, ExportFormat::kJson))["rows"];
  CHECK(metrics[0]["provenance"] == "measured");
  const Json segments =
      Json::parse(export_timeline(*one.store, one.id, ExportFormat::kJson))["rows"];
  REQUIRE(segments.size() == 2);
  CHECK(segments[1]["lane"] == "network");
  CHECK(segments[1]["provenance"] == "simulated");
  CHECK_THROWS_AS(export_steps(*one.store, 99, ExportFormat::kCsv), StoreError);
}

TEST_CASE("an empty export still has its header", "[export]") {
  const TemporaryFolder folder;
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadWrite);
  const RunId id = store->begin_run(sample_header(), 1);
  CHECK(export_steps(*store, id, ExportFormat::kCsv).starts_with("name,run,step,loss,"));
  CHECK(lines(export_steps(*store, id, ExportFormat::kCsv)) == 1);
  CHECK(Json::parse(export_steps(*store, id, ExportFormat::kJson))["rows"].empty());
  CHECK_THROWS_WITH(chrome_trace(*store, id), Catch::Contains("no timeline"));
}

TEST_CASE("a timeline as Chrome trace events", "[export]") {
  const OneRun one;
  const Json trace = Json::parse(chrome_trace(*one.store, one.id));
  const Json& events = trace["traceEvents"];
  REQUIRE(events.size() == 2 + 2 * 2);  // two segments; names of process and thread for two lanes
  CHECK(events[0]["ph"] == "X");
  CHECK(events[0]["ts"].get<double>() == Approx(250'000));   // 0.25 s in microseconds
  CHECK(events[0]["dur"].get<double>() == Approx(250'000));  // 0.5 - 0.25
  CHECK(events[0]["pid"] == 2);
  CHECK(events[1]["args"]["bytes"] == 4096);
  CHECK(trace["otherData"]["provenance"] == "simulated");
  CHECK(trace["otherData"]["scenario_hash"] == "00c0ffee00c0ffee");
}
