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

/// Runs a scenario in a fresh database and gives its rows.
json rows_of_file(const std::string& file, std::vector<std::string> arguments = {}) {
  const TemporaryFolder folder;
  arguments.insert(arguments.begin(), {"run", file, "--db", folder.file("runs.db"), "--no-report",
                                       "--format", "json", "-q"});
  const Result result = run_program(arguments);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return json::parse(result.out).at("rows");
}
json run_rows(const std::string& shipped, std::vector<std::string> arguments = {}) {
  return rows_of_file(source_path("scenarios/" + shipped + ".json"), std::move(arguments));
}

std::vector<std::string> column(const json& rows, const std::string& name) {
  std::vector<std::string> values;
  for (const json& row : rows) values.push_back(row.at(name));
  return values;
}

/// The `expected` block: every check holds for every run of its method, and there is such a run.
void check_expected(const std::string& name, const json& rows) {
  const json expected =
      json::parse(read_file(source_path("scenarios/" + name + ".json"))).at("expected");
  if (expected.contains("runs")) CHECK(rows.size() == expected.at("runs").get<std::size_t>());
  for (const json& check : expected.value("checks", json::array())) {
    int runs = 0;
    for (const json& row : rows) {
      const std::string method = row.at("method");
      if (check.contains("method") && method.rfind(check.at("method").get<std::string>(), 0) != 0)
        continue;
      ++runs;
      CAPTURE(name, method, check.dump());
      const double value = row.at(check.at("metric").get<std::string>()).get<double>();
      CHECK(value >= check.value("min", -1e300));
      CHECK(value <= check.value("max", 1e300));
    }
    INFO(name << ": no run is of the method of " << check.dump());
    CHECK(runs > 0);
  }
}

}  // namespace

TEST_CASE("what the shipped scenarios expect of themselves holds", "[golden]") {
  check_expected("collective", run_rows("collective"));
  check_expected("alexnet", run_rows("alexnet"));
  check_expected("dumbbell", run_rows("dumbbell"));
}

TEST_CASE("what the shipped scenarios that train expect of themselves holds",
          "[golden][needs-torch]") {
  require_training();
  for (const char* name :
       {"quickstart", "fast-lan", "lan", "mobile", "parameter-server", "sweep", "gradient-loss"})
    check_expected(name, run_rows(name));
}

TEST_CASE("fedavg-traces.json: a deadline shortens rounds and costs little accuracy",
          "[golden][needs-torch]") {
  require_training();
  const json rows = run_rows("fedavg-traces");
  check_expected("fedavg-traces", rows);
  REQUIRE(rows.size() == 4);  // no deadline, 2 s, 1.5 s, 1.5 s with late phones kept
  const auto of = [&](std::size_t run, const char* name) {
    return rows[run].at(name).get<double>();
  };
  CHECK(of(2, "time_to_target_s") < 0.8 * of(0, "time_to_target_s"));
  CHECK(of(1, "final_accuracy") > of(0, "final_accuracy") - 0.03);
  CHECK(of(3, "time_to_target_s") < of(2, "time_to_target_s"));
  CHECK(of(2, "simulated_s") < of(1, "simulated_s"));
  // Keeping late phones changes what is learnt, not when rounds end.
  CHECK(rows[2].at("learning_hash") != rows[3].at("learning_hash"));
  const json threaded = run_rows("fedavg-traces", {"--threads", "2"});
  CHECK(column(threaded, "learning_hash") == column(rows, "learning_hash"));
  CHECK(column(threaded, "timeline_hash") == column(rows, "timeline_hash"));
}

TEST_CASE("checkpointing.json: equal learning, less memory, one forward pass more",
          "[golden][needs-torch]") {
  require_training();
  const json rows = run_rows("checkpointing");
  check_expected("checkpointing", rows);
  REQUIRE(rows.size() == 4);  // none, 2, 3 and 11 segments
  const auto learning = column(rows, "learning_hash");
  CHECK(std::set<std::string>(learning.begin(), learning.end()).size() == 1);
  const auto seconds = [&](std::size_t run) { return rows[run].at("simulated_s").get<double>(); };
  CHECK(seconds(1) > seconds(0));
  for (const std::size_t run : {2u, 3u}) CHECK(seconds(run) == seconds(1));
}

TEST_CASE("large-batch.json: a small batch's rate learns too little, scaled or layer-wise ones do",
          "[golden][needs-torch]") {
  require_training();
  const json rows = run_rows("large-batch");
  check_expected("large-batch", rows);
  REQUIRE(rows.size() == 4);  // sgd, sgd scaled and warmed up, lars, lamb
  const auto accuracy = [&](std::size_t run) {
    return rows[run].at("final_accuracy").get<double>();
  };
  for (const std::size_t run : {1u, 2u, 3u}) CHECK(accuracy(run) > accuracy(0) + 0.1);
  // No two updates learn the same, nor take as long.
  const auto learning = column(rows, "learning_hash"), timelines = column(rows, "timeline_hash");
  CHECK(std::set<std::string>(learning.begin(), learning.end()).size() == 4);
  CHECK(std::set<std::string>(timelines.begin(), timelines.end()).size() == 3);  // both sgd: 20 B
}

TEST_CASE("asynchronous.json: nobody waits for the slow link, but with a bound",
          "[golden][needs-torch]") {
  require_training();
  const json rows = run_rows("asynchronous");
  REQUIRE(rows.size() == 5);  // lockstep, asynchronous, divided, power, bound of 4
  const auto number = [&](std::size_t run, const char* name) {
    return rows[run].at(name).get<double>();
  };
  for (const std::size_t run : {0u, 2u, 3u, 4u}) CHECK(number(run, "final_accuracy") > 0.9);
  for (const std::size_t run : {2u, 3u})
    CHECK(number(run, "time_to_target_s") < number(0, "time_to_target_s") / 5);
  // At this rate old gradients do no harm: heeding them cannot bring anyone there earlier by more
  // than the evaluation interval, 40 updates.
  const double interval = 40 * number(1, "step_time_s");
  for (const std::size_t run : {2u, 3u})
    CHECK(number(run, "time_to_target_s") > number(1, "time_to_target_s") - 2 * interval);
  CHECK(number(4, "simulated_s") > number(0, "simulated_s") / 2);
  // Rates do not change when things happen.
  const auto timelines = column(rows, "timeline_hash");
  CHECK(timelines[1] == timelines[2]);
  CHECK(timelines[1] == timelines[3]);
}

TEST_CASE("asynchronous.json at a greater rate: what heeds no staleness learns nothing",
          "[golden][needs-torch]") {
  require_training();
  const json rows = run_rows("asynchronous", {"--set", "/workload/optimizer/lr=0.1", "--set",
                                              R"(/sweep={"/schedule": [{"kind": "asynchronous"},
                                {"kind": "asynchronous", "staleness": "power"}],
                  "/workload/steps": [800, 800], "/workload/evaluate_every": [400, 400],
                  "zip": true})"});
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("final_accuracy") < 0.3);  // the negative control; chance is 0.1
  CHECK(rows[1].at("final_accuracy") > 0.85);
}

TEST_CASE("the collective's timelines are what they were", "[golden]") {
  // Virtual time is exact: a change of these is a change of the flow model, and deliberate. They
  // are written anew with GRADWIRE_UPDATE_GOLDEN=1.
  const std::string path = source_path("tests/cli/golden/collective.json");
  json found = json::object();
  for (const json& row : run_rows("collective"))
    found[std::to_string(row.at("bandwidth_bps").get<std::int64_t>())] = row.at("timeline_hash");
  if (std::getenv("GRADWIRE_UPDATE_GOLDEN")) write_file(path, found.dump(2) + "\n");
  CHECK(found == json::parse(read_file(path)));
}

TEST_CASE("the network scenarios' timelines are what they were, and hold what they expect",
          "[golden]") {
  const std::string path = source_path("tests/cli/golden/networks.json");
  json found = json::object();
  for (const char* name :
       {"two-tier", "fat-tree", "torus", "ring", "wan", "gpu-nodes", "mobile-traces", "wifi-cell",
        "lte-cell", "outages", "background", "pipeline", "gossip", "federated"}) {
    const json rows = run_rows(name);
    check_expected(name, rows);
    found[name] = column(rows, "timeline_hash");
  }
  if (std::getenv("GRADWIRE_UPDATE_GOLDEN")) write_file(path, found.dump(2) + "\n");
  CHECK(found == json::parse(read_file(path)));
}

TEST_CASE("lan.json: the same hashes with one thread and two, twice", "[golden][needs-torch]") {
  require_training();
  const json first = run_rows("lan");
  for (const char* threads : {"1", "2", "2"}) {
    const json again = run_rows("lan", {"--threads", threads});
    CHECK(column(again, "learning_hash") == column(first, "learning_hash"));
    CHECK(column(again, "timeline_hash") == column(first, "timeline_hash"));
  }
  // Negative control: another seed learns something else.
  CHECK(column(run_rows("lan", {"--seed", "2"}), "learning_hash") !=
        column(first, "learning_hash"));
}

TEST_CASE("the network does not change synchronous learning", "[golden][needs-torch-packet]") {
  require_training();
  require_packets();
  const json flow = run_rows("quickstart");
  const json packet = run_rows("quickstart", {"--executor", "packet"});
  CHECK(column(flow, "learning_hash") == column(packet, "learning_hash"));
  CHECK(column(flow, "timeline_hash") != column(packet, "timeline_hash"));
}

TEST_CASE("gradient-loss.json: loss costs time over tcp, gradients over udp-lossy",
          "[golden][needs-torch]") {
  require_training();
  const json rows = run_rows("gradient-loss");
  REQUIRE(rows.size() == 6);  // tcp, then udp-lossy, at three rates of loss each
  const auto learning = column(rows, "learning_hash"), timelines = column(rows, "timeline_hash");
  const auto distinct = [](const auto& all, std::ptrdiff_t first) {
    return std::set<std::string>(all.begin() + first, all.begin() + first + 3).size();
  };
  CHECK(distinct(learning, 0) == 1);
  CHECK(distinct(timelines, 0) == 3);
  CHECK(distinct(learning, 3) == 3);
  CHECK(distinct(timelines, 3) == 3);  // receivers wait for last segments that are lost
  // Host threads change neither.
  const json threaded = run_rows("gradient-loss", {"--threads", "3"});
  CHECK(column(threaded, "learning_hash") == learning);
  CHECK(column(threaded, "timeline_hash") == timelines);
  // Device times and sizes that depend on no value: exact on every machine.
  const std::string path = source_path("tests/cli/golden/gradient-loss.json");
  const json found = timelines;
  if (std::getenv("GRADWIRE_UPDATE_GOLDEN")) write_file(path, found.dump(2) + "\n");
  CHECK(found == json::parse(read_file(path)));
}

TEST_CASE("training over datagrams on ns-3: nothing lost is tcp's learning, what is lost counts",
          "[golden][needs-torch-packet]") {
  require_training();
  require_packets();
  const TemporaryFolder folder;
  const std::string file = folder.file("datagrams.json");
  write_file(file, R"({"schema_version": 1, "name": "datagrams",
    "workload": {"model": "logistic", "steps": 6}, "executor": "packet",
    "cluster": {"workers": 3, "device": "reference-cpu"},
    "network": {"topology": "star", "link": {"bandwidth": "10Mbps", "delay": "1ms", "loss": 0}},
    "sweep": {"/network/transport/protocol": ["tcp", "udp-lossy"],
              "/network/link/loss": [0, 0.2]}})");
  const auto hashes = column(rows_of_file(file), "learning_hash");
  REQUIRE(hashes.size() == 4);
  CHECK(hashes[1] == hashes[0]);  // tcp repairs what is lost
  CHECK(hashes[2] == hashes[0]);
  CHECK(hashes[3] != hashes[0]);
  CHECK(column(rows_of_file(file), "learning_hash") == hashes);
}

namespace {

/// Learning hashes by collective, six workers: no power of two.
std::vector<std::string> hashes_of_exchanges(const std::string& executor) {
  const TemporaryFolder folder;
  const std::string file = folder.file("exchange.json");
  write_file(file, R"({"schema_version": 1, "name": "exchange",
    "workload": {"model": "logistic", "steps": 4}, "method": {"name": "fp16"},
    "cluster": {"workers": 6, "device": "reference-cpu"},
    "exchange": {"collective": "ring", "bucket": "1kB"},
    "sweep": {"/exchange/collective": ["ring", "tree", "halving-doubling", "two-level"]}})");
  return column(rows_of_file(file, {"--executor", executor}), "learning_hash");
}

}  // namespace

TEST_CASE("the executor does not change what an exchange computes", "[golden][needs-torch]") {
  require_training();
  const auto hashes = hashes_of_exchanges("model");
  CHECK(hashes_of_exchanges("flow") == hashes);
  // Negative control: another order of additions rounds differently.
  CHECK(std::set<std::string>(hashes.begin(), hashes.end()).size() == 4);
}

TEST_CASE("ns-3 does not change what an exchange computes", "[golden][needs-torch-packet]") {
  require_training();
  require_packets();
  CHECK(hashes_of_exchanges("packet") == hashes_of_exchanges("model"));
}

TEST_CASE("lan.json: packet step times within 3 % of flow", "[golden][needs-torch-packet]") {
  require_training();
  require_packets();
  const json flow = run_rows("lan");
  const json packet = run_rows("lan", {"--executor", "packet"});
  for (std::size_t i = 0; i < flow.size(); ++i) {
    const double ratio =
        packet[i].at("step_time_s").get<double>() / flow[i].at("step_time_s").get<double>();
    CAPTURE(flow[i].at("method"), ratio);
    CHECK(std::abs(ratio - 1) <= 0.03);
  }
}
