#include "results/export/export.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/export/chrome_trace.h"
#include "results/runs/exposed.h"
#include "results/runs/fields.h"
#include "tests/results/export/trace_events.h"
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
            .find("sample.step1,1,1,,0.25,0.5,1000,1100,1,0.1,0.05,0.1,\r\n") != std::string::npos);
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

TEST_CASE("link series as CSV and JSON", "[export]") {
  const OneRun one;
  // 1 Mbps: 125,000 B/s. 12,500 B in 0.2 s are half of it.
  const std::vector<LinkSeries> links = {
      {4, "worker2 -> switch", 1e6, {{0, 0.2, 12'500}, {0.2, 0.3, 0}}}};
  one.store->put_links(one.id, links);
  const Json rows = Json::parse(export_links(*one.store, one.id, ExportFormat::kJson))["rows"];
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["utilisation"].get<double>() == Approx(0.5));
  CHECK(rows[1]["wire_bytes"] == 0);
  CHECK(export_links(*one.store, one.id, ExportFormat::kCsv)
            .starts_with("name,run,channel,start_s,end_s,wire_bytes,rate_bps,utilisation\r\n"
                         "worker2 -> switch,1,4,0.0,0.2,12500,"));
}

TEST_CASE("exposed communication: transfers less what the worker computes meanwhile", "[export]") {
  // Worker 0 computes from 1 to 3 and encodes from 3 to 3.5; transfers of its are under way from 0
  // to 2 and from 1.5 to 5: exposed are 0 to 1 and 3.5 to 5. Worker 1 hides nothing; its two
  // transfers overlap and count once.
  const std::vector<TimelineSegment> segments = {
      {0, 0, 1, "backward", 1, 3, 0},   {0, 0, 2, "encode", 3, 3.5, 0},
      {0, 0, 255, "bucket 0", 0, 2, 9}, {0, 0, 255, "bucket 1", 1.5, 5, 9},
      {0, 1, 255, "bucket 0", 0, 2, 9}, {0, 1, 255, "bucket 1", 1, 3, 9}};
  const auto exposed = exposed_communication(segments);
  REQUIRE(exposed.size() == 3);
  CHECK(exposed[0].start_s == 0);
  CHECK(exposed[0].end_s == 1);
  CHECK(exposed[1].start_s == 3.5);
  CHECK(exposed[1].end_s == 5);
  CHECK(exposed[2].worker == 1);
  CHECK(exposed[2].end_s - exposed[2].start_s == 3);
}

namespace {

/// Events of a kind and category ("" = any).
std::vector<Json> events_of(const Json& trace, const std::string& phase,
                            const std::string& category = "") {
  std::vector<Json> found;
  for (const Json& event : trace["traceEvents"])
    if (event["ph"] == phase && (category.empty() || event["cat"] == category))
      found.push_back(event);
  return found;
}

}  // namespace

TEST_CASE("a timeline as Chrome trace events", "[export]") {
  const OneRun one;
  const Json trace = Json::parse(chrome_trace(*one.store, one.id));
  const auto compute = events_of(trace, "X", "compute");
  REQUIRE(compute.size() == 1);
  CHECK(compute[0]["ts"].get<double>() == Approx(250'000));   // 0.25 s in microseconds
  CHECK(compute[0]["dur"].get<double>() == Approx(250'000));  // 0.5 - 0.25
  CHECK(compute[0]["pid"] == 2);
  CHECK(events_of(trace, "X", "network").at(0)["args"]["bytes"] == 4096);
  CHECK(events_of(trace, "X", "exposed").at(0)["dur"].get<double>() == Approx(250'000));
  CHECK(events_of(trace, "X", "critical").empty());  // none was stored
  CHECK(events_of(trace, "C").empty());
  CHECK(trace["otherData"]["provenance"] == "simulated");
  CHECK(trace["otherData"]["scenario_hash"] == "00c0ffee00c0ffee");
}

TEST_CASE("slices that follow each other do not overlap by a rounding", "[export]") {
  // 0.1 + 0.2 > 0.3 in doubles: the second would begin inside the first, and viewers drop it.
  const OneRun one;
  const double third = 0.1 + 0.2;
  REQUIRE(third > 0.3);
  one.store->put_timeline(one.id, "simulated",
                          std::vector<TimelineSegment>{{0, 2, 1, "forward", 0.1, third, 0},
                                                       {0, 2, 1, "backward", 0.3, 0.7, 0}});
  const Json trace = Json::parse(chrome_trace(*one.store, one.id));
  const auto slices = events_of(trace, "X", "compute");
  REQUIRE(slices.size() == 2);
  CHECK(slices[0]["tid"] == slices[1]["tid"]);
  const auto in_nanoseconds = [](const Json& value) {
    return std::llround(1e3 * value.get<double>());
  };
  CHECK(in_nanoseconds(slices[0]["ts"]) + in_nanoseconds(slices[0]["dur"]) ==
        in_nanoseconds(slices[1]["ts"]));
  CHECK(gradwire::testing::TraceCheck::faults(trace) == std::vector<std::string>{});
}

TEST_CASE("a trace has the critical path and the links on tracks of their own", "[export]") {
  const OneRun one;
  const std::vector<TimelineSegment> segments = {{0, 2, 1, "forward", 0.25, 0.5, 0},
                                                 {0, 2, 255, "bucket 0", 0.5, 0.75, 4096},
                                                 {0, 2, 255, "bucket 1", 0.6, 0.9, 4096},
                                                 {0, 2, kCriticalLane, "forward", 0.25, 0.5, 0},
                                                 {0, 2, kCriticalLane, "bucket 1", 0.6, 0.9, 0}};
  one.store->put_timeline(one.id, "simulated", segments);
  one.store->put_links(
      one.id, std::vector<LinkSeries>{
                  {1,
                   "a -> b",
                   8e6,
                   {{0, 0.1, 50'000}, {0.1, 0.2, 100'000}, {0.2, 0.3, 0}, {0.3, 0.4, 10}}}});
  CHECK(one.store->timeline(one.id).size() == 3);
  CHECK(one.store->critical_path(one.id).size() == 2);
  const Json trace = Json::parse(chrome_trace(*one.store, one.id));
  const auto path = events_of(trace, "X", "critical");
  REQUIRE(path.size() == 2);
  CHECK(path[0]["name"] == "worker 2: forward");
  CHECK(events_of(trace, "X", "compute").at(0)["args"]["critical"] == true);
  // Transfers that overlap stand on threads of their own.
  const auto network = events_of(trace, "X", "network");
  REQUIRE(network.size() == 2);
  CHECK(network[0]["tid"] != network[1]["tid"]);
  CHECK_FALSE(network[0]["args"].contains("critical"));
  CHECK(network[1]["args"]["critical"] == true);
  // 150,000 B in 0.2 s of 8 Mbps, 1 MB/s: three quarters; then a pause, then 10 B.
  const auto link = events_of(trace, "X", "link");
  REQUIRE(link.size() == 2);
  CHECK(link[0]["dur"].get<double>() == Approx(200'000));
  CHECK(link[0]["args"]["utilisation"].get<double>() == Approx(0.75));
  const auto counters = events_of(trace, "C");
  REQUIRE(counters.size() == 5);
  CHECK(counters[0]["args"]["%"].get<double>() == Approx(50));
  CHECK(counters[2]["args"]["%"] == 0);
  CHECK(gradwire::testing::TraceCheck::faults(trace) == std::vector<std::string>{});
}
