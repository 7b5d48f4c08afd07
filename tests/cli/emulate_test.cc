#include <catch2/catch.hpp>
#include <filesystem>
#include <map>

#include "base/file_descriptor.h"
#include "results/store/store.h"
#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using results::Store;

namespace {

constexpr int kNoCapability = 5;

std::string scenario_text(const std::string& workload, const std::string& delay) {
  return R"({"schema_version": 1, "name": "m", "workload": )" + workload +
         R"(, "cluster": {"workers": 2}, "network": {"link": {"bandwidth": "200Mbps", "delay": ")" +
         delay + R"("}}, "executor": "emulator"})";
}

const std::string kRing =
    R"({"collective": "ring-all-reduce", "bytes": "100kB", "repetitions": 4})";

/// Runs a scenario on the emulator; skips the case where this machine has none.
Result emulated(const std::vector<std::string>& arguments) {
  Result result = run_program(arguments);
  if (result.exit_code == kNoCapability) skip("no emulator: " + result.err);
  return result;
}

std::map<std::string, results::MetricRow> figures(const Store& store, results::RunId run) {
  std::map<std::string, results::MetricRow> figures;
  for (const results::MetricRow& row : store.metrics(run))
    if (row.step < 0) figures[row.name] = row;
  return figures;
}

}  // namespace

TEST_CASE("run: what an executor cannot serve is refused by name", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), scenario_text(kRing, "0us"));
  const auto refusal = [&](const std::string& executor, std::vector<std::string> options) {
    options.insert(options.begin(), {"run", folder.file("m.json"), "--db", folder.file("a.db"),
                                     "--executor", executor});
    const Result result = run_program(options);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  for (const std::string executor : {"model", "flow", "emulator"}) {
    CAPTURE(executor);
    for (const std::string option : {"--pcap", "--flow-monitor"}) {
      const std::string said = refusal(executor, {option, folder.file("packets")});
      CHECK_THAT(said, Contains(option));
      CHECK_THAT(said, Contains("executor " + executor));
    }
  }
  CHECK_THAT(refusal("emulator", {"--jobs", "2"}), Contains("--jobs 2"));
  // Nothing was run, and so nothing stored.
  CHECK_FALSE(std::filesystem::exists(folder.file("a.db")));
}

TEST_CASE("run --executor emulator: a report where asked, and --resume keeps what is done",
          "[net][needs-namespaces]") {
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), scenario_text(kRing, "3ms"));
  const std::string database = folder.file("a.db"), report = folder.file("own/report.html");
  const Result result = emulated(
      {"run", folder.file("m.json"), "--db", database, "-j", "1", "--shaper", "tbf", "-o", report});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(std::filesystem::exists(report));
  results::RunId twin = 0;
  {
    const auto store = Store::open(database, Store::Mode::kReadOnly);
    REQUIRE(store->runs().size() == 2);
    for (const results::RunSummary& run : store->runs()) {
      const auto found = figures(*store, run.id);
      const results::MetricRow& time = found.at("step_time_s");
      if (run.header.executor == "flow") {
        twin = run.id;
        CHECK(time.provenance == results::Provenance::kSimulated);
        continue;
      }
      // A link delay of 3 ms was emulated, or the run says that it was not.
      const bool whole = time.provenance == results::Provenance::kEmulated;
      bool noted = false;
      for (const auto& [name, row] : found)
        noted = noted || name.starts_with("note: link delays of up to 3.00 ms are not emulated");
      CHECK(noted == !whole);
      if (!whole) CHECK(time.provenance == results::Provenance::kPartlyEmulated);
      // A round trip crosses four links of 3 ms each, if they have that delay.
      const Result shown =
          run_program({"show", std::to_string(run.id), "--db", database, "--format", "json"});
      CHECK((shown.out.find("are not emulated") != std::string::npos) == !whole);
      const double beyond = found.at("base_rtt_s").value - found.at("base_rtt_overhead_s").value;
      CHECK(beyond == Approx(whole ? 12e-3 : 0).margin(1e-9));
    }
  }
  const Result again = run_program({"run", folder.file("m.json"), "--db", database, "--resume",
                                    "--no-report", "--format", "csv"});
  INFO(again.err);
  CHECK(again.exit_code == 0);
  CHECK(Store::open(database, Store::Mode::kReadOnly)->runs().size() == 2);
  CHECK_THAT(again.out, Contains("m,none,2,4,"));
  CHECK_FALSE(std::filesystem::exists(folder.file("gradwire-report")));
  // A twin that is gone is run again, on the links that were emulated.
  Store::open(database, Store::Mode::kReadWrite)->remove_run(twin);
  REQUIRE(
      run_program({"emulate", folder.file("m.json"), "--db", database, "--resume", "--no-report"})
          .exit_code == 0);
  CHECK(Store::open(database, Store::Mode::kReadOnly)->runs().size() == 2);
}

TEST_CASE("emulate --shaper link: delays and traces, and how late it was, or why it is invalid",
          "[net][needs-namespaces]") {
  const TemporaryFolder folder;
  write_file(folder.file("m.json"),
             R"({"schema_version": 1, "name": "m", "workload": )" + kRing +
                 R"(, "cluster": {"workers": 2}, "network": {"link": {"bandwidth": "50Mbps",
      "delay": "3ms", "jitter": "1ms", "outages": [{"begin": "0s", "end": "200ms"}]}},
      "executor": "emulator"})");
  const std::string database = folder.file("a.db");
  const Result result = emulated({"emulate", folder.file("m.json"), "--db", database, "--shaper",
                                  "link", "--no-report", "--format", "json"});
  INFO(result.err);
  const auto store = Store::open(database, Store::Mode::kReadOnly);
  REQUIRE_FALSE(store->runs().empty());
  const results::RunSummary run = store->runs().front();
  const auto found = figures(*store, run.id);
  CHECK(found.at("link_late_99_s").value > 0);
  CHECK(found.at("base_rtt_s").value >= 12e-3);
  CHECK(found.at("step_time_s").provenance == results::Provenance::kEmulated);
  CHECK(found.at("simulated_s").value >= 0.2);  // the outage
  // A machine under test may be too busy for links that are exact.
  if (run.status == results::RunStatus::kInvalid) {
    CHECK(result.exit_code != 0);
    CHECK_THAT(run.error, Contains("late") || Contains("missed"));
    CHECK_THAT(result.err, Contains("invalid"));
  } else {
    CHECK(result.exit_code == 0);
    CHECK(store->runs().size() == 2);  // its twin
  }
}

TEST_CASE("emulate: switches and traces of a scenario, without a word about who makes the links",
          "[net][needs-namespaces]") {
  const TemporaryFolder folder;
  // 1,500 bytes each millisecond from the left switch to the right one and back: 12 Mbps.
  write_file(folder.file("even.trace"), "1\n");
  write_file(folder.file("t.json"), R"({"schema_version": 1, "name": "t", "workload": )" + kRing +
                                        R"(, "cluster": {"workers": 2}, "network": {
      "topology": "explicit", "hosts": ["a", "b"], "switches": ["s", "t"], "links": [
        {"a": "a", "b": "s", "bandwidth": "100Mbps", "delay": "1ms"},
        {"a": "s", "b": "t", "bandwidth": "100Mbps", "delay": "1ms", "schedule": ")" +
                                        folder.file("even.trace") + R"(",
         "schedule_back": ")" + folder.file("even.trace") +
                                        R"("},
        {"a": "t", "b": "b", "bandwidth": "100Mbps", "delay": "1ms"}]}, "executor": "emulator"})");
  const std::string database = folder.file("a.db");
  const Result result =
      emulated({"emulate", folder.file("t.json"), "--db", database, "--no-report"});
  INFO(result.err);
  const auto store = Store::open(database, Store::Mode::kReadOnly);
  REQUIRE_FALSE(store->runs().empty());
  const results::RunSummary run = store->runs().front();
  const auto found = figures(*store, run.id);
  CHECK(found.at("base_rtt_s").value >= 6e-3);
  // Two hops of 50 kB, 35 packets of 1,500 bytes each: 70 ms.
  CHECK(found.at("step_time_s").value >= 0.07);
  CHECK(
      (run.status == results::RunStatus::kFinished || run.status == results::RunStatus::kInvalid));
}

TEST_CASE("--shaper is the emulator's", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), scenario_text(kRing, "3ms"));
  const Result result = run_program({"run", folder.file("m.json"), "--db", folder.file("a.db"),
                                     "--executor", "flow", "--shaper", "link"});
  CHECK(result.exit_code == 2);
  CHECK_THAT(result.err, Contains("--shaper"));
}

TEST_CASE("run --executor emulator: a round's deadline cuts off who is late",
          "[net][needs-namespaces]") {
  const TemporaryFolder folder;
  // Client 1 trains for 20 ms x 200 = 4 s, the round ends after 1 s.
  write_file(folder.file("f.json"),
             R"({"schema_version": 1, "name": "f", "workload": {"federated": {"upload": "50kB",
      "download": "50kB", "compute": "20ms", "deadline": "1s"}, "repetitions": 2},
      "cluster": {"workers": 3, "stragglers": [{"worker": 1, "factor": 200}]},
      "network": {"link": {"bandwidth": "200Mbps", "delay": "0us"}}, "executor": "emulator"})");
  const Result result =
      emulated({"run", folder.file("f.json"), "--db", folder.file("a.db"), "--no-report"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
  REQUIRE(store->runs().size() == 2);
  for (const results::RunSummary& run : store->runs()) {
    CAPTURE(run.header.executor);
    const auto found = figures(*store, run.id);
    CHECK(run.steps_done == 2);
    CHECK(found.at("clients_sampled").value == 6);
    CHECK(found.at("clients_arrived").value == 4);
    CHECK(found.at("clients_late").value == 2);
    CHECK(run.simulated_s >= 2 * 1.0);
  }
}

namespace {

/// Of the run on that executor.
results::RunSummary run_on(const Store& store, const std::string& executor) {
  for (const results::RunSummary& run : store.runs())
    if (run.header.executor == executor) return run;
  FAIL("no run on " << executor);
  return {};
}

bool has_note(const Store& store, results::RunId run, const std::string& words) {
  for (const auto& [name, row] : figures(store, run))
    if (name.starts_with("note: ") && name.find(words) != std::string::npos) return true;
  return false;
}

std::string training(const std::string& method, const std::string& rest) {
  return R"({"schema_version": 1, "name": "t", "workload": {"model": "mlp", "data": {"set": "digits"},
      "batch_per_worker": 8, "steps": 3, "optimizer": {"name": "sgd", "lr": 0.05}},
      "method": {"name": ")" +
         method + R"("}, "cluster": {"workers": 3}, "network": {"link": {"bandwidth": "100Mbps",
      "delay": "0us"}}, "executor": "emulator", )" +
         rest + "}";
}

}  // namespace

TEST_CASE("emulate: workers send what the method's encoders made, and learn what flow's learn",
          "[net][needs-namespaces]") {
  require_training();
  for (const std::string method : {"none", "terngrad", "topk"}) {
    CAPTURE(method);
    const TemporaryFolder folder;
    write_file(folder.file("t.json"), training(method, R"("exchange": {"collective": "ring"})"));
    const Result result = emulated({"emulate", folder.file("t.json"), "--db", folder.file("a.db"),
                                    "--shaper", "tbf", "--no-report"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
    const results::RunSummary run = run_on(*store, "emulator");
    CHECK(has_note(*store, run.id, "arrived as they were sent, byte by byte: what the method's"));
    CHECK_FALSE(run.learning_hash.empty());
    CHECK(run.learning_hash == run_on(*store, "flow").learning_hash);
  }
}

TEST_CASE("emulate: federated rounds are trained, and real time decides who is late",
          "[net][needs-namespaces]") {
  require_training();
  const TemporaryFolder folder;
  const std::string schedule = R"("exchange": {"collective": "parameter-server"},
      "schedule": {"kind": "rounds", "local_steps": 2)";
  write_file(folder.file("all.json"), training("topk", schedule + "}"));
  // Client 1 takes a million times as long, and is cut off in every round.
  write_file(folder.file("late.json"), training("topk", schedule + R"(, "deadline": "1s"})"));
  const auto run = [&](const std::string& file, const std::string& cluster) {
    const Result result =
        emulated({"emulate", folder.file(file + ".json"), "--set", "/cluster=" + cluster, "--db",
                  folder.file(file + ".db"), "--shaper", "tbf", "--no-report"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return Store::open(folder.file(file + ".db"), Store::Mode::kReadOnly);
  };
  const auto all = run("all", R"({"workers": 3})");
  CHECK(run_on(*all, "emulator").learning_hash == run_on(*all, "flow").learning_hash);
  CHECK(has_note(*all, run_on(*all, "emulator").id, "what the method's encoders made"));
  const auto late =
      run("late", R"({"workers": 3, "stragglers": [{"worker": 1, "factor": 1000000}]})");
  for (const char* executor : {"emulator", "flow"}) {
    CAPTURE(executor);
    const auto found = figures(*late, run_on(*late, executor).id);
    CHECK(found.at("clients_arrived").value == 6);
    CHECK(found.at("clients_late").value == 3);
    CHECK(found.at("simulated_s").value >= 3);
  }
  CHECK(run_on(*late, "emulator").learning_hash == run_on(*late, "flow").learning_hash);
}

TEST_CASE("emulate --chaos: what goes wrong is said, and what was recorded kept",
          "[net][needs-namespaces]") {
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), scenario_text(R"({"collective": "ring-all-reduce",
      "bytes": "1MB", "repetitions": 40})",
                                                  "0us"));
  const auto run = [&](const std::string& incident, const std::string& database) {
    return emulated({"emulate", folder.file("m.json"), "--db", folder.file(database), "--shaper",
                     "tbf", "--no-report", "--chaos", incident});
  };
  // 40 steps of 40 ms, in the middle of which a worker stands still for a second.
  const Result paused = run("pause:1@500ms+1s", "paused.db");
  INFO(paused.err);
  REQUIRE(paused.exit_code == 0);
  {
    const auto store = Store::open(folder.file("paused.db"), Store::Mode::kReadOnly);
    const results::RunSummary summary = run_on(*store, "emulator");
    CHECK(has_note(*store, summary.id, "chaos: host 1 is paused at 500 ms, for 1.00 s"));
    double longest = 0;
    for (const results::StepRow& step : store->steps(summary.id))
      longest = std::max(longest, step.end_s - step.start_s);
    CHECK(longest >= 0.9);
  }
  const Result killed = run("kill:1@500ms", "killed.db");
  CHECK(killed.exit_code != 0);
  CHECK_THAT(killed.err, Contains("worker process 1"));
  {
    const auto store = Store::open(folder.file("killed.db"), Store::Mode::kReadOnly);
    const results::RunSummary summary = run_on(*store, "emulator");
    CHECK(summary.status == results::RunStatus::kFailed);
    CHECK(summary.steps_done > 0);
    CHECK(summary.steps_done < 40);
    CHECK(has_note(*store, summary.id, "chaos: host 1 is killed"));
  }
  CHECK(run("kill:7@1s", "none.db").exit_code == 2);
  const Result wrong = run("stop:1@1s", "none.db");
  CHECK(wrong.exit_code == 2);
  CHECK_THAT(wrong.err, Contains("pause:HOST@TIME+TIME"));
}

TEST_CASE("emulate --hosts: steps of processes on machines are measured, and ranks are named",
          "[net]") {
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), scenario_text(kRing, "0us"));
  const std::string database = folder.file("a.db");
  const auto on_hosts = [&](const std::string& hosts, const std::string& prefix = {}) {
    return run_program(
        {"emulate", folder.file("m.json"), "--db", database, "--no-report", "--hosts", hosts},
        prefix);
  };
  const Result result = on_hosts("localhost,localhost");
  if (result.exit_code == kNoCapability) skip("no emulator: " + result.err);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("rank 1 at 127.0.0.1: its clock is"));
  {
    const auto store = Store::open(database, Store::Mode::kReadOnly);
    const results::RunSummary run = run_on(*store, "emulator");
    CHECK(figures(*store, run.id).at("step_time_s").provenance == results::Provenance::kMeasured);
    CHECK(has_note(*store, run.id, "rank 1 at 127.0.0.1: its clock is"));
    CHECK(run.steps_done == 4);
  }
  CHECK_THAT(on_hosts("localhost,localhost,localhost").err, Contains("there are 3 processes"));
  CHECK_THAT(on_hosts("a,b").err, Contains("--rendezvous"));
  CHECK_THAT(on_hosts("mpi").err, Contains("no rank of mpirun"));
  // Rank 1 never comes.
  const Result alone = on_hosts("mpi",
                                "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "
                                "OMPI_COMM_WORLD_LOCAL_SIZE=2 exec \"$@\"");
  CHECK(alone.exit_code != 0);
  CHECK_THAT(alone.err, Contains("rank 1 did not come within 8.00 s"));
}
