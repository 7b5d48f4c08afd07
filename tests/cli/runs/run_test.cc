#include <signal.h>
#include <sqlite3.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>

#include "base/child_process.h"
#include "base/file_descriptor.h"
#include "results/runs/notes.h"
#include "results/store/store.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using results::Store;

namespace {

/// 12 runs of one collective, 300 repetitions each: no LibTorch, a few hundred milliseconds in all.
const char* kSweep = R"({"schema_version": 1, "name": "kill",
  "workload": {"collective": "ring-all-reduce", "bytes": "1MB", "repetitions": 300},
  "cluster": {"workers": 8},
  "network": {"link": {"bandwidth": "1Gbps", "delay": "50us"}},
  "executor": "flow",
  "sweep": {"/network/link/bandwidth": ["100Mbps", "200Mbps", "500Mbps", "1Gbps"],
            "/cluster/workers": [4, 6, 8]}})";

nlohmann::json rows_of(const std::string& database) {
  const Result result = run_program({"list", "--db", database, "--format", "json"});
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(result.out).at("rows");
}

}  // namespace

TEST_CASE("kill -9 ten times at random moments, then --resume: nothing lost, nothing twice",
          "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("sweep.json"), kSweep);
  const std::string database = folder.file("runs.db");
  std::minstd_rand random(7);
  std::set<std::int64_t> finished;
  for (int kill = 0; kill < 10; ++kill) {
    ChildProcess child({program_path(), "run", folder.file("sweep.json"), "--db", database,
                        "--resume", "--no-report", "-q"},
                       {.pipe_stdout = true});
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + random() % 120));
    child.kill_and_reap();
    if (::access(database.c_str(), F_OK) != 0) continue;
    const auto store = Store::open(database, Store::Mode::kReadWrite);
    REQUIRE(store->integrity() == "ok");
    std::set<std::int64_t> now;
    for (const auto& run : store->runs())
      if (run.status == results::RunStatus::kFinished) now.insert(run.id);
    // What was finished before this kill is still there.
    CHECK(std::includes(now.begin(), now.end(), finished.begin(), finished.end()));
    finished = now;
  }
  const Result last =
      run_program({"run", folder.file("sweep.json"), "--db", database, "--resume", "--no-report"});
  INFO(last.err);
  REQUIRE(last.exit_code == 0);
  const auto store = Store::open(database, Store::Mode::kReadOnly);
  CHECK(store->integrity() == "ok");
  std::set<std::string> hashes;
  for (const auto& run : store->runs()) {
    CHECK(run.status == results::RunStatus::kFinished);
    CHECK(run.steps_done == 300);
    CHECK(store->steps(run.id).size() == 300);
    hashes.insert(run.header.scenario_hash);
  }
  CHECK(store->runs().size() == 12);
  CHECK(hashes.size() == 12);
}

TEST_CASE("SIGINT stops after the current step, keeps the steps and exits with 130", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("long.json"), R"({"schema_version": 1, "name": "long",
    "workload": {"collective": "ring-all-reduce", "bytes": "1MB", "repetitions": 1000000},
    "cluster": {"workers": 8}, "executor": "flow"})");
  const std::string database = folder.file("runs.db");
  ChildProcess child({program_path(), "run", folder.file("long.json"), "--db", database, "-q"},
                     {.pipe_stdout = true});
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  child.signal(SIGINT);
  CHECK(child.wait() == 130);
  const auto rows = rows_of(database);
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].at("status") == "partial");
  const int done = rows[0].at("steps_done").get<int>();
  CHECK(done > 0);
  // Wherever the run is shown it says that it is partial, and how far it came.
  const std::string words = "partial, " + std::to_string(done) + " of 1000000 steps";
  const auto says = [&](std::vector<std::string> command) {
    command.insert(command.end(), {"--db", database});
    return run_program(command).out.find(words) != std::string::npos;
  };
  CHECK(says({"list", "--wide"}));
  CHECK(says({"show", "1"}));
  CHECK(says({"compare", "1", "1", "--wide"}));
}

TEST_CASE("why a run failed is said once", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("sweep.json"), kSweep);
  const auto times = [](const std::string& text, const std::string& part) {
    int count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
    return count;
  };
  // No run may take so long: nothing of the sweep can be done.
  const Result refused = run_program({"run", folder.file("sweep.json"), "--db", folder.file("r.db"),
                                      "--no-report", "--hours", "1e-12"});
  INFO(refused.err);
  CHECK(refused.exit_code == 5);
  CHECK(times(refused.err, "hours of one core") == 1);
}

TEST_CASE("a full disk is reported, and what was stored stays", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("sweep.json"), kSweep);
  const std::string database = folder.file("runs.db");
  // A file-size limit stands in for the full disk; SQLite sees a failed write.
  const Result result =
      run_program({"run", folder.file("sweep.json"), "--db", database, "--no-report"},
                  "trap '' XFSZ; ulimit -f 150; exec \"$@\"");
  INFO(result.err);
  CHECK(result.exit_code == 6);
  CHECK_THAT(result.err, Contains(database));
  CHECK(Store::open(database, Store::Mode::kReadWrite)->integrity() == "ok");
}

TEST_CASE("the same run twice gives the same timeline hash; another rate gives another", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("sweep.json"), kSweep);
  std::vector<std::string> hashes;
  for (const char* database : {"a.db", "b.db"}) {
    REQUIRE(run_program({"run", folder.file("sweep.json"), "--db", folder.file(database),
                         "--no-report", "-q"})
                .exit_code == 0);
    for (const auto& row : rows_of(folder.file(database)))
      hashes.push_back(row.at("timeline_hash"));
  }
  REQUIRE(hashes.size() == 24);
  for (std::size_t i = 0; i < 12; ++i) CHECK(hashes[i] == hashes[i + 12]);
  CHECK(std::set<std::string>(hashes.begin(), hashes.end()).size() == 12);
}

TEST_CASE("two programs write to one database: each run is there once and whole", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("sweep.json"), kSweep);
  const std::string database = folder.file("runs.db");
  const auto start = [&](const char* seed) {
    return ChildProcess({program_path(), "run", folder.file("sweep.json"), "--db", database,
                         "--seed", seed, "--no-report", "-q"},
                        {.pipe_stdout = true});
  };
  ChildProcess first = start("1"), second = start("2");
  CHECK(first.wait() == 0);
  CHECK(second.wait() == 0);
  const auto store = Store::open(database, Store::Mode::kReadOnly);
  CHECK(store->integrity() == "ok");
  std::map<std::uint64_t, std::set<std::string>> scenarios;
  for (const auto& run : store->runs()) {
    CHECK(run.status == results::RunStatus::kFinished);
    CHECK(store->steps(run.id).size() == 300);
    CHECK(scenarios[run.header.seed].insert(run.header.scenario_hash).second);
  }
  CHECK(scenarios[1].size() == 12);
  CHECK(scenarios[2].size() == 12);
}

TEST_CASE("a database that another program has locked is not waited for without end", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("sweep.json"), kSweep);
  const std::string database = folder.file("runs.db");
  REQUIRE(run_program({"run", folder.file("sweep.json"), "--db", database, "--no-report", "-q"})
              .exit_code == 0);
  sqlite3* other = nullptr;
  REQUIRE(sqlite3_open(database.c_str(), &other) == SQLITE_OK);
  REQUIRE(sqlite3_exec(other, "BEGIN EXCLUSIVE", nullptr, nullptr, nullptr) == SQLITE_OK);
  const Result locked = run_program(
      {"run", folder.file("sweep.json"), "--db", database, "--seed", "2", "--no-report", "-q"});
  CHECK(locked.exit_code == 6);
  CHECK_THAT(locked.err, Contains(database) && Contains("another process holds its write lock") &&
                             Contains("wait until that process has finished"));
  REQUIRE(sqlite3_exec(other, "ROLLBACK", nullptr, nullptr, nullptr) == SQLITE_OK);
  sqlite3_close(other);
  CHECK(rows_of(database).size() == 12);  // what was there is there
}

TEST_CASE("two runs at a time give the hashes of one at a time", "[unit]") {
  const TemporaryFolder folder;
  write_file(folder.file("sweep.json"), kSweep);
  std::vector<std::string> hashes[2];
  for (const int jobs : {1, 2}) {
    const std::string database = folder.file(std::to_string(jobs) + ".db");
    const Result result =
        run_program({"run", folder.file("sweep.json"), "--db", database, "--no-report", "-j",
                     std::to_string(jobs), "--format", "json"});
    REQUIRE(result.exit_code == 0);
    const nlohmann::json printed = nlohmann::json::parse(result.out);
    for (const auto& row : printed.at("rows")) hashes[jobs - 1].push_back(row.at("timeline_hash"));
  }
  CHECK(hashes[0].size() == 12);
  CHECK(hashes[0] == hashes[1]);
}

TEST_CASE(
    "runs that differ in their network alone are trained once, and store what they would alone",
    "[unit][needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  write_file(folder.file("links.json"), R"({"schema_version": 1, "name": "links",
    "workload": {"model": "mlp", "data": {"set": "digits"}, "batch_per_worker": 8, "steps": 12,
                 "evaluate_every": 4, "target_accuracy": 0.2},
    "cluster": {"workers": 2, "device": "reference-cpu"}, "method": {"name": "terngrad"},
    "sweep": {"/network/link/bandwidth": ["10Mbps", "1Gbps"],
              "/workload/optimizer/lr": [0.05, 0.1]}})");
  const auto run = [&](const std::string& database, std::vector<std::string> more) {
    std::vector<std::string> command = {"run",  folder.file("links.json"), "--no-report", "-q",
                                        "--db", folder.file(database)};
    command.insert(command.end(), more.begin(), more.end());
    REQUIRE(run_program(command).exit_code == 0);
  };
  run("together.db", {"-j", "2"});
  for (const char* link : {"10Mbps", "1Gbps"})
    for (const char* rate : {"0.05", "0.1"})
      run("alone.db", {"--set", std::string("/network/link/bandwidth=") + link, "--set",
                       std::string("/workload/optimizer/lr=") + rate});
  // By what it is of each run: what it learnt, when, and how many of them another run trained.
  const auto stored = [&](const std::string& database) {
    const auto store = Store::open(folder.file(database), Store::Mode::kReadOnly);
    std::map<std::string, std::set<std::string>> found;
    int trained_by_others = 0;
    for (const results::RunSummary& run : store->runs()) {
      std::set<std::string>& figures = found[run.learning_hash + run.timeline_hash];
      for (const results::MetricRow& metric : store->metrics(run.id))
        if (metric.name != "wall_s" && metric.name != "peak_rss_bytes" && !results::is_note(metric))
          figures.insert(std::to_string(metric.step) + metric.name + std::to_string(metric.value));
      CHECK(figures.size() > 12);
      for (const std::string& note : results::notes_of(store->metrics(run.id)))
        trained_by_others += note.find("trained it: the two differ") != note.npos;
    }
    CHECK(found.size() == 4);
    return std::pair(found, trained_by_others);
  };
  const auto [together, taken] = stored("together.db");
  const auto [alone, none_taken] = stored("alone.db");
  CHECK(together == alone);
  CHECK(taken == 2);
  CHECK(none_taken == 0);
}

TEST_CASE("gradients that fp16 sends have a mean that it sends, and others are named",
          "[unit][needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  // Two classes at x = -30000 and 30000: with weights near 0 each worker's gradient is some 30000
  // on its batch, whose sum over four workers is beyond 65504.
  std::string table = "x,y,kind\n";
  for (int i = 0; i < 60; ++i)
    table += std::to_string(i % 2 ? 29000 + 40 * i : -31000 + 30 * i) + "," +
             std::to_string(100 * (i % 7)) + "," + (i % 2 ? "b" : "a") + "\n";
  write_file(folder.file("big.csv"), table);
  const auto run = [&](const std::string& more) {
    write_file(folder.file("s.json"), R"({"schema_version": 1, "name": "big",
      "workload": {"model": "logistic", "data": {"set": "csv", "path": "big.csv",
                   "normalise": false}, "batch_per_worker": 4, "steps": 5,
                   "optimizer": {"name": "sgd", "lr": 1e-9}},
      "cluster": {"workers": 4, "device": "reference-cpu"}, "exchange": {"collective": "ring"},
      "method": )" + more + "}");
    return run_program(
        {"run", folder.file("s.json"), "--db", folder.file("runs.db"), "--no-report"});
  };
  const Result plain = run(R"({"name": "none"})"), half = run(R"({"name": "fp16"})");
  INFO(plain.err << half.err);
  REQUIRE(plain.exit_code == 0);
  REQUIRE(half.exit_code == 0);
  const auto rows = rows_of(folder.file("runs.db"));
  REQUIRE(rows.size() == 2);
  CHECK(rows[1].at("final_loss").get<double>() ==
        Approx(rows[0].at("final_loss").get<double>()).epsilon(0.001));
  // Ten times as large: what one worker has is beyond fp16, and the reason says so.
  std::string larger = table;
  for (std::size_t at = larger.find('\n'); (at = larger.find(",", at + 1)) != std::string::npos;
       at = larger.find('\n', at))
    larger.insert(at, "0");
  write_file(folder.file("big.csv"), larger);
  const Result beyond = run(R"({"name": "fp16"})");
  CHECK(beyond.exit_code == 4);
  CHECK_THAT(beyond.err, Contains("fp16") && Contains("65504") && Contains("overflow=saturate"));
}

TEST_CASE("a training that diverges stops there, says so, and is not run again",
          "[unit][needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  write_file(folder.file("lr.json"), R"({"schema_version": 1, "name": "rates",
    "workload": {"model": "mlp", "data": {"set": "digits"}, "batch_per_worker": 32, "steps": 60,
                 "optimizer": {"name": "sgd", "lr": 0.05}},
    "cluster": {"workers": 2, "device": "reference-cpu"},
    "sweep": {"/workload/optimizer/lr": [0.05, 1000]}})");
  const std::string database = folder.file("runs.db");
  const auto run = [&](std::vector<std::string> more) {
    std::vector<std::string> command = {"run", folder.file("lr.json"), "--db", database,
                                        "--no-report"};
    command.insert(command.end(), more.begin(), more.end());
    return run_program(command);
  };
  const Result first = run({});
  INFO(first.err);
  CHECK(first.exit_code == 4);  // some did not learn
  CHECK_THAT(first.err, Contains("is not finite") && Contains("smaller learning rate"));
  CHECK_THAT(first.out, Contains("diverged"));
  auto rows = rows_of(database);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].at("status") == "finished");
  CHECK(rows[0].at("steps_done") == 60);
  CHECK(rows[1].at("status") == "diverged");
  CHECK(rows[1].at("steps_done").get<int>() < 10);
  CHECK(rows[1].at("final_accuracy").is_null());
  CHECK_FALSE(rows[0].at("final_accuracy").is_null());
  CHECK(run({"--resume"}).exit_code == 4);
  CHECK(rows_of(database).size() == 2);
  // A gate on a figure that it does not have does not let it pass.
  const auto gate = [&](const char* first, const char* other) {
    return run_program(
               {"compare", first, other, "--fail-if", "final_accuracy<0.5", "--db", database})
        .exit_code;
  };
  CHECK(gate("1", "2") == 7);
  CHECK(gate("2", "1") == 0);
  // The report recommends nothing that rests on it.
  const Result report = run_program({"report", "-o", folder.file("r.html"), "--db", database});
  CHECK(report.exit_code == 0);
  CHECK_THAT(read_file(folder.file("r.html")), Contains("of which diverged"));
}

TEST_CASE("rounds in which nobody arrives have no loss, and no step time that ranks them",
          "[unit][needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  write_file(folder.file("rounds.json"), R"({"schema_version": 1, "name": "late",
    "workload": {"model": "mlp", "data": {"set": "digits"}, "batch_per_worker": 32, "steps": 3},
    "cluster": {"workers": 2, "device": "reference-cpu"},
    "exchange": {"collective": "parameter-server"},
    "schedule": {"kind": "rounds"},
    "sweep": {"/schedule/deadline": ["1us", "10s"]}})");
  const std::string database = folder.file("runs.db");
  REQUIRE(
      run_program({"run", folder.file("rounds.json"), "--db", database, "--no-report"}).exit_code ==
      0);
  const auto rows = rows_of(database);
  CHECK(rows[0].at("final_loss").is_null());
  CHECK(rows[1].at("final_loss").get<double>() > 0);
  CHECK(run_program({"report", "-o", folder.file("r.html"), "--db", database}).exit_code == 0);
  const std::string report = read_file(folder.file("r.html"));
  CHECK(report.find("times as fast") == std::string::npos);
  CHECK(report.find("the time to the target compares them") != std::string::npos);
  // Nor does throughput in batches of each worker mean anything there, or a closed form.
  const Result scaled = run_program({"report", "--scalability", folder.file("rounds.json"),
                                     "--workers", "2,4", "--db", database});
  CHECK(scaled.exit_code == 3);
  CHECK_THAT(scaled.err, Contains("a round or an update"));
  const Result predicted = run_program({"predict", folder.file("rounds.json"), "--db", database});
  CHECK_THAT(predicted.err, Contains("no closed form describes"));
}
