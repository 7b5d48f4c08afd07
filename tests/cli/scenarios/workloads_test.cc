// Workloads without training: figures that only their kind has.
#include <unistd.h>

#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

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
  write_file(folder.file("scenario.json"), scenario);
  const Result ran = run_program({"run", folder.file("scenario.json"), "--executor", executor,
                                  "--db", folder.file("runs.db"), "--no-report", "-q"});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const Result exported = run_program(
      {"export", "1", "--what", "metrics", "--as", "json", "--db", folder.file("runs.db")});
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

namespace {

/// Four clients that compute 1 s, worker 2 for 3 s; nothing takes time on the way.
std::string federated(const std::string& parts) {
  return R"({"schema_version": 1, "name": "f", "workload": {"federated": {"download": "0B",
      "upload": "0B")" +
         parts + R"(}, "repetitions": 2},
      "cluster": {"workers": 4, "stragglers": [{"worker": 2, "factor": 3}]}})";
}

}  // namespace

TEST_CASE("federated: a round ends with its last client, or at its deadline", "[unit]") {
  CHECK(figures_of(federated(""), "step_time_s").at(-1) == Approx(3));
  CHECK(figures_of(federated(""), "clients_late").at(-1) == 0);
  const std::string cut = federated(R"(, "deadline": "2s")");
  CHECK(figures_of(cut, "step_time_s").at(-1) == Approx(2));
  CHECK(figures_of(cut, "clients_arrived").at(0) == 3);
  CHECK(figures_of(cut, "clients_late").at(1) == 1);  // worker 2, which was not set free by then
  CHECK(figures_of(cut, "clients_arrived").at(-1) == 6);
  CHECK(figures_of(federated(R"(, "deadline": "3.5s")"), "step_time_s").at(-1) == Approx(3));
}

TEST_CASE("federated: the server adds one update after the other", "[unit]") {
  // Three are there at 1 s and are added by 1.4, 1.8 and 2.2 s; the fourth comes at 3 s.
  CHECK(figures_of(federated(R"(, "aggregate": "400ms")"), "step_time_s").at(-1) == Approx(3.4));
  const std::string cut = federated(R"(, "aggregate": "400ms", "deadline": "2s")");
  CHECK(figures_of(cut, "clients_arrived").at(0) == 2);
}

TEST_CASE("federated: who drops out is waited for until the deadline", "[unit]") {
  const std::string none = federated(R"(, "drop_out": 1, "deadline": "5s")");
  CHECK(figures_of(none, "step_time_s").at(-1) == Approx(5));
  CHECK(figures_of(none, "clients_dropped_out").at(-1) == 8);
  CHECK(figures_of(none, "clients_arrived").at(-1) == 0);
  CHECK(figures_of(federated(R"(, "sample": 3)"), "clients_sampled").at(-1) == 6);
}

namespace {

void check_rounds_cut_off(const std::string& executor) {
  // 1 MB at 20 Mbps takes 0.4 s either way and 1 s of work: 1.9 s, but 3.9 s for worker 2.
  const std::string text = R"({"schema_version": 1, "name": "f", "workload": {"federated":
      {"download": "1MB", "upload": "1MB", "deadline": "3s"}, "repetitions": 2},
      "cluster": {"workers": 4, "stragglers": [{"worker": 2, "factor": 3}]},
      "network": {"link": {"bandwidth": "20Mbps", "delay": "5ms"},
                  "server_link": {"bandwidth": "1Gbps", "delay": "1ms"}}})";
  CHECK(figures_of(text, "clients_arrived", executor).at(1) == 3);
  CHECK(figures_of(text, "clients_late", executor).at(-1) == 2);
  CHECK(figures_of(text, "step_time_s", executor).at(-1) == Approx(3));
  // A round: 4 downloads and the 3 uploads that arrive. Worker 2 would begin its own at 3.4 s.
  CHECK(figures_of(text, "payload_bytes", executor).at(-1) == 2 * 7e6);
}

}  // namespace

TEST_CASE("federated: flow cuts rounds off at their deadline", "[unit]") {
  check_rounds_cut_off("flow");
}

TEST_CASE("federated: packet cuts rounds off at their deadline", "[unit][needs-packet]") {
  require_packets();
  check_rounds_cut_off("packet");
}

TEST_CASE("auto: a collective workload takes the fastest all-reduce, and plan says which",
          "[unit]") {
  // Small buffers go by a tree's few hops, large ones by a ring, whose bytes are the fewest.
  const TemporaryFolder folder;
  const std::string file = folder.file("auto.json");
  for (const auto& [bytes, others] : {std::pair("100B", "ring"), std::pair("100MB", "tree")}) {
    write_file(file, std::string(R"({"schema_version": 1, "name": "a", "workload": {"collective":
        "auto", "bytes": ")") +
                         bytes + R"("}, "cluster": {"workers": 12}})");
    const Result planned = run_program({"plan", file, "--db", folder.file("none.db")});
    INFO(planned.out + planned.err);
    CHECK(planned.exit_code == 0);
    CHECK((planned.out + planned.err).find("collective auto took ") != std::string::npos);
    CHECK(planned.out.find(std::string("auto: ") + others) == std::string::npos);
  }
  const auto ring = figures_of(read_file(file), "auto_ring_s");
  const auto tree = figures_of(read_file(file), "auto_tree_s");
  CHECK(ring.at(-1) < tree.at(-1));
}

TEST_CASE("export: a trace whose critical path is as long as the run, and series of its links",
          "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("p.json"), pipeline("1f1b", 6, R"(, "activations": "4MB")"));
  const std::string database = folder.file("runs.db");
  REQUIRE(run_program({"run", folder.file("p.json"), "--db", database, "--no-report", "-q"})
              .exit_code == 0);
  const Result exported =
      run_program({"export", "1", "--format", "chrome-trace", "--db", database});
  REQUIRE(exported.exit_code == 0);
  const json trace = json::parse(exported.out);
  double path = 0, end = 0;
  std::set<std::string> categories;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") != "X") continue;
    categories.insert(event.at("cat").get<std::string>());
    if (event.at("cat") == "critical") path += event.at("dur").get<double>();
    end = std::max(end, event.at("ts").get<double>() + event.at("dur").get<double>());
  }
  CHECK(path == Approx(end));
  CHECK(categories.contains("exposed"));
  CHECK(categories.contains("link"));
  const Result series =
      run_program({"export", "1", "--what", "links", "--as", "json", "--db", database});
  const json rows = json::parse(series.out).at("rows");
  std::int64_t from_first = 0;
  for (const json& row : rows) {
    CHECK(row.at("utilisation").get<double>() <= 1.001);
    if (row.at("name") == "worker0 -> switch") from_first += row.at("wire_bytes").get<int>();
  }
  // Two steps of six micro-batches: 48 MB of activations with the headers' 6 %, and 90 bytes of
  // acknowledgement for every second segment of as many bytes of gradients.
  CHECK(static_cast<double>(from_first) == Approx(48e6 / 1448 * (1538 + 90.0 / 2)).epsilon(0.005));
}

TEST_CASE("export: no link of gossiping workers is fuller than full", "[unit]") {
  // Each sends to both neighbours, so that data and acknowledgements share each direction; the last
  // ones stand there when the run ends.
  const TemporaryFolder folder;
  const std::string database = folder.file("runs.db");
  REQUIRE(run_program(
              {"run", source_path("scenarios/gossip.json"), "--db", database, "--no-report", "-q"})
              .exit_code == 0);
  for (const char* run : {"1", "2", "3", "4"}) {
    const Result series =
        run_program({"export", run, "--what", "links", "--as", "json", "--db", database});
    double fullest = 0;
    const json rows = json::parse(series.out).at("rows");
    for (const json& row : rows) fullest = std::max(fullest, row.at("utilisation").get<double>());
    CHECK(fullest > 0.95);
    CHECK(fullest <= 1.001);
  }
}

TEST_CASE("run: a sweep takes the emulator for all of its runs or for none", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), R"({"schema_version": 1, "name": "m", "workload": {"collective":
      "ring-all-reduce", "bytes": "1kB"}, "sweep": {"/executor": ["flow", "emulator"]}})");
  const Result result = run_program({"run", folder.file("m.json"), "--db", folder.file("runs.db")});
  CHECK(result.exit_code == 2);
  CHECK(result.err.find("run them apart") != std::string::npos);
}

namespace {

void check_worker_that_never_returns(const std::string& executor) {
  const TemporaryFolder folder;
  const std::string absent = R"("cluster": {"workers": 3, "absences": [{"worker": 1,
      "from": "150ms"}]}})";
  write_file(folder.file("a.json"), R"({"schema_version": 1, "name": "a", "workload": {"collective":
      "ring-all-reduce", "bytes": "1MB", "compute": "100ms", "repetitions": 3}, )" +
                                        absent);
  const std::string rounds = R"({"schema_version": 1, "name": "a", "workload": {"federated": {
      "upload": "100kB", "download": "100kB", "compute": "100ms", "deadline": "1s"},
      "repetitions": 3}, )" + absent;
  const Result result = run_program({"run", folder.file("a.json"), "--executor", executor, "--db",
                                     folder.file("runs.db"), "--no-report"});
  CHECK(result.exit_code == 1);
  CHECK(result.err.find("worker 1 is away from 150 ms on and never returns") != std::string::npos);
  // Two of three arrive in each round that it misses.
  CHECK(figures_of(rounds, "clients_late", executor).at(-1) == 2);
  CHECK(figures_of(rounds, "clients_arrived", executor).at(-1) == 7);
}

}  // namespace

TEST_CASE("a worker that never returns is named, and a deadline does without it", "[unit]") {
  check_worker_that_never_returns("flow");
}

TEST_CASE("over packet too a worker that never returns is named, and a deadline does without it",
          "[unit][needs-packet]") {
  require_packets();
  check_worker_that_never_returns("packet");
}
