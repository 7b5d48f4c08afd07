// Perfetto opens what `gradwire export --format chrome-trace` writes.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <sstream>

#include "base/child_process.h"
#include "base/file_descriptor.h"
#include "tests/cli/program.h"
#include "tests/results/export/trace_events.h"
#include "tests/skip.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using nlohmann::json;

namespace {

/// Layers that overlap with their transfers, codecs, and links that carry something: every kind of
/// event that a trace has.
constexpr const char* kScenario = R"({"schema_version": 1, "name": "traced",
    "workload": {"profile": "alexnet", "batch_per_worker": 32, "steps": 3},
    "cluster": {"workers": 4, "device": "reference-cpu"}, "method": {"name": "topk", "ratio": 0.05},
    "exchange": {"overlap": true}, "network": {"topology": "star",
    "link": {"bandwidth": "1Gbps", "delay": "50us"}}, "executor": "flow"})";

/// Writes the trace of a fresh run to `file`.
json exported_trace(const TemporaryFolder& folder, const std::string& file) {
  write_file(folder.file("traced.json"), std::string(kScenario));
  const std::string database = folder.file("runs.db");
  const Result run = run_program({"run", folder.file("traced.json"), "--db", database, "-q"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const Result exported =
      run_program({"export", "1", "--format", "chrome-trace", "-o", file, "--db", database});
  INFO(exported.err);
  REQUIRE(exported.exit_code == 0);
  return json::parse(read_file(file));
}

std::size_t count(const json& trace, const char* phase) {
  std::size_t events = 0;
  for (const json& event : trace["traceEvents"]) events += event["ph"] == phase;
  return events;
}

json& event_of(json& trace, const char* phase, std::size_t skipped = 0) {
  for (json& event : trace["traceEvents"])
    if (event["ph"] == phase && skipped-- == 0) return event;
  FAIL("no event " << phase);
  return trace;
}

}  // namespace

TEST_CASE("a run's trace is whole by the Trace Event Format, and broken ones are not") {
  const TemporaryFolder folder;
  const json trace = exported_trace(folder, folder.file("trace.json"));
  CHECK(count(trace, "X") > 50);
  CHECK(count(trace, "C") > 5);
  CHECK(TraceCheck::faults(trace) == std::vector<std::string>{});
  const auto broken = [&](const std::function<void(json&)>& damage) {
    json copy = trace;
    damage(copy);
    const auto faults = TraceCheck::faults(copy);
    return faults.empty() ? std::string("nothing is found") : faults[0];
  };
  CHECK_THAT(broken([](json& t) { event_of(t, "X")["ph"] = "Y"; }), Contains("ph \"Y\""));
  CHECK_THAT(broken([](json& t) { event_of(t, "X").erase("ts"); }), Contains("ts is no number"));
  CHECK_THAT(broken([](json& t) { event_of(t, "X")["dur"] = -1; }), Contains("dur is negative"));
  CHECK_THAT(broken([](json& t) { event_of(t, "X")["ts"] = 0.12345; }),
             Contains("whole nanosecond"));
  CHECK_THAT(broken([](json& t) { event_of(t, "X")["tid"] = "codec"; }),
             Contains("tid is no integer"));
  CHECK_THAT(broken([](json& t) { event_of(t, "X")["pid"] = 4711; }), Contains("no process_name"));
  CHECK_THAT(broken([](json& t) { event_of(t, "X")["tid"] = 4711; }), Contains("no thread_name"));
  CHECK_THAT(broken([](json& t) { event_of(t, "C")["args"] = json::object(); }),
             Contains("without a value"));
  CHECK_THAT(broken([](json& t) {
               event_of(t, "M")["args"] = {{"title", "a"}};
             }),
             Contains("wrong args"));
  CHECK_THAT(broken([](json& t) { t["traceEvents"].push_back(event_of(t, "M")); }),
             Contains("given twice"));
  CHECK_THAT(broken([](json& t) { t["displayTimeUnit"] = "s"; }), Contains("displayTimeUnit"));
  // A slice that begins within another one and ends behind it.
  CHECK_THAT(broken([](json& t) {
               json late = event_of(t, "X");
               const double half = std::round(500 * late["dur"].get<double>()) / 1e3;
               REQUIRE(half > 0);
               late["ts"] = late["ts"].get<double>() + half;
               t["traceEvents"].push_back(late);
             }),
             Contains("overlaps"));
}

namespace {

/// Perfetto's own importer. It is no package of Debian's: who has it names it, or has it in PATH.
std::string trace_processor() {
  if (const char* named = std::getenv("TRACE_PROCESSOR_SHELL")) return named;
  std::istringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    for (const char* name : {"/trace_processor_shell", "/trace_processor"})
      if (std::filesystem::exists(folder + name)) return folder + name;
  skip(
      "Perfetto's trace_processor is not in PATH; https://get.perfetto.dev/trace_processor has it");
}

/// The one number that a query gives: the last line of its table.
std::string asked(const std::string& program, const TemporaryFolder& folder,
                  const std::string& trace, const std::string& sql) {
  write_file(folder.file("query.sql"), sql + "\n");
  const std::string out = folder.file("answer.csv");
  REQUIRE(ChildProcess({"sh", "-c", "exec \"$1\" -q \"$2\" \"$3\" > \"$4\" 2> /dev/null", "sh",
                        program, folder.file("query.sql"), trace, out},
                       {})
              .wait() == 0);
  std::istringstream lines(read_file(out));
  std::string last;
  for (std::string line; std::getline(lines, line);)
    if (!line.empty()) last = line;
  return last;
}

}  // namespace

TEST_CASE("Perfetto takes every slice of a trace, and no error", "[needs-perfetto]") {
  const std::string program = trace_processor();
  const TemporaryFolder folder;
  const std::string file = folder.file("trace.json");
  json trace = exported_trace(folder, file);
  const std::string errors =
      "select count(*) from stats where severity in ('error', 'data_loss') and value > 0;";
  CHECK(asked(program, folder, file, "select count(*) from slice;") ==
        std::to_string(count(trace, "X")));
  CHECK(asked(program, folder, file, errors) == "0");
  // What is broken is seen by it, too.
  event_of(trace, "X").erase("ts");
  write_file(file, trace.dump());
  CHECK(asked(program, folder, file, errors) != "0");
}
