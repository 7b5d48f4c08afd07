#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "base/child_process.h"
#include "base/file_descriptor.h"
#include "results/store/store.h"
#include "tests/cli/program.h"
#include "tests/skip.h"
#include "tests/store_rows.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using results::Store;
namespace fs = std::filesystem;

namespace {

/// 400 runs: collectives by flow, and a model's layers by closed forms.
constexpr const char* kSweep = R"({"schema_version": 1, "name": "wide",
  "workload": {"collective": "ring-all-reduce", "bytes": "1MB", "repetitions": 20},
  "cluster": {"workers": 8},
  "network": {"link": {"bandwidth": "1Gbps", "delay": "50us"}},
  "sweep": {"/executor": ["model", "flow"],
            "/network/link/bandwidth": {"log_range": ["10Mbps", "10Gbps", 10]},
            "/network/link/delay": ["10us", "100us", "1ms", "10ms"],
            "/cluster/workers": [2, 4, 6, 8, 12]}})";

/// Columns and figures of a run that its rows may differ in: wall clock, and who made it.
const std::set<std::string> kOwn = {"uid",        "node",     "rank",   "host",
                                    "started_at", "ended_at", "wall_s", "peak_rss_bytes"};

void require_mpi() {
  const Result doctor = run_program({"doctor", "--format", "json"});
  const auto rows = nlohmann::json::parse(doctor.out).at("rows");
  for (const auto& row : rows)
    if (row.at("name").get<std::string>().find("MPI") != std::string::npos) {
      if (!row.at("on").get<bool>()) skip(row.at("detail"));
      return;
    }
  FAIL("doctor says nothing of MPI");
}

/// Ranks that work for the database, by their command lines.
std::vector<pid_t> ranks_of(const std::string& database) {
  std::vector<pid_t> ranks;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
      continue;
    std::ifstream file(entry.path() / "cmdline");
    std::string program, argument;
    std::getline(file, program, '\0');
    std::getline(file, argument, '\0');
    if (program.ends_with("/gradwire-mpi") && argument == database + ".parts")
      ranks.push_back(static_cast<pid_t>(std::stol(name)));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

/// Waits until `happened`, a minute at most.
template <class Happened>
bool comes_about(Happened happened) {
  for (int i = 0; i < 6000 && !happened(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  return happened();
}

/// A folder with the sweep, and what the same sweep gives in one process.
class Sweep {
 public:
  explicit Sweep(const std::string& scenario = kSweep) { write_file(file("s.json"), scenario); }
  std::string file(const std::string& name) const { return folder_.file(name); }
  std::vector<std::string> command(const std::string& database,
                                   const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"run", file("s.json"), "--no-report", "--db",
                                          file(database)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Result run(const std::string& database, const std::vector<std::string>& more) const {
    return run_program(command(database, more));
  }
  /// Started and left to itself.
  ChildProcess start(const std::string& database, const std::vector<std::string>& more) const {
    std::vector<std::string> argv = command(database, more);
    argv.insert(argv.begin(), program_path());
    return ChildProcess(argv, {.pipe_stdout = true});
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace

TEST_CASE("four ranks, one of them killed: the store is that of one process, row for row",
          "[unit][needs-mpi]") {
  require_mpi();
  const Sweep sweep;
  REQUIRE(sweep.run("local.db", {"-q"}).exit_code == 0);
  ChildProcess child = sweep.start("mpi.db", {"--engine", "mpi", "-j", "4", "-q"});
  REQUIRE(comes_about([&] { return runs_in(sweep.file("mpi.db")) >= 20; }));
  const std::vector<pid_t> ranks = ranks_of(sweep.file("mpi.db"));
  REQUIRE(ranks.size() == 4);
  REQUIRE(runs_in(sweep.file("mpi.db")) < 400);
  ::kill(ranks[2], SIGKILL);
  CHECK(child.wait() == 0);
  const auto local = rows_by_run(sweep.file("local.db"), kOwn);
  CHECK(local.size() == 400);
  CHECK((rows_by_run(sweep.file("mpi.db"), kOwn) == local));
  const auto store = Store::open(sweep.file("mpi.db"), Store::Mode::kReadOnly);
  CHECK(store->integrity() == "ok");
  std::set<int> used;
  for (const auto& run : store->runs()) used.insert(run.header.rank.value());
  CHECK(used == std::set<int>{0, 1, 2, 3});
  CHECK_FALSE(fs::exists(sweep.file("mpi.db.parts")));
  CHECK_THAT(run_program({"list", "--wide", "--db", sweep.file("mpi.db")}).out, Contains("rank"));
  // What is left out is all that differs.
  CHECK_FALSE((rows_by_run(sweep.file("mpi.db")) == rows_by_run(sweep.file("local.db"))));
}

TEST_CASE("Ctrl-C ends the ranks and keeps what has finished; --resume does the rest",
          "[unit][needs-mpi]") {
  require_mpi();
  const Sweep sweep;
  ChildProcess child = sweep.start("mpi.db", {"--engine", "mpi", "-j", "3", "-q"});
  REQUIRE(comes_about([&] { return runs_in(sweep.file("mpi.db")) >= 10; }));
  child.signal(SIGINT);
  CHECK(child.wait() == 130);
  CHECK(comes_about([&] { return ranks_of(sweep.file("mpi.db")).empty(); }));
  const std::int64_t kept = runs_in(sweep.file("mpi.db"));
  CHECK(kept >= 10);
  CHECK(kept < 400);
  // A launcher that is killed loses nothing either: its ranks end, parts wait in their folder.
  ChildProcess killed = sweep.start("mpi.db", {"--engine", "mpi", "-j", "3", "-q", "--resume"});
  CHECK(comes_about([&] { return runs_in(sweep.file("mpi.db")) > kept + 10; }));
  killed.kill_and_reap();
  CHECK(comes_about([&] { return ranks_of(sweep.file("mpi.db")).empty(); }));
  const Result rest =
      sweep.run("mpi.db", {"--engine", "mpi", "-j", "3", "--resume", "--format", "jsonl"});
  INFO(rest.err);
  CHECK(rest.exit_code == 0);
  CHECK_THAT(rest.out, Contains("\"skipped\":true") && Contains("\"type\":\"summary\""));
  const auto store = Store::open(sweep.file("mpi.db"), Store::Mode::kReadOnly);
  std::set<std::string> hashes;
  for (const auto& run : store->runs()) {
    CHECK(run.status == results::RunStatus::kFinished);
    hashes.insert(run.header.scenario_hash);
  }
  CHECK(hashes.size() == 400);
  CHECK(store->runs().size() == 400);
}

TEST_CASE("training that loses its rank goes on from its checkpoint and learns the same",
          "[unit][needs-mpi-torch]") {
  require_mpi();
  require_training();
  const Sweep sweep(R"({"schema_version": 1, "name": "learn",
    "workload": {"model": "mlp", "data": {"set": "digits"}, "batch_per_worker": 32, "steps": 1200,
                 "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9}, "evaluate_every": 200},
    "method": {"name": "topk", "ratio": 0.05},
    "cluster": {"workers": 4, "device": "reference-cpu"},
    "network": {"link": {"bandwidth": "100Mbps", "delay": "1ms", "loss": 0.001}},
    "exchange": {"bucket": "64kB"}, "seeds": [1, 2]})");
  REQUIRE(sweep.run("local.db", {"-q"}).exit_code == 0);
  ChildProcess child =
      sweep.start("mpi.db", {"--engine", "mpi", "-j", "2", "-q", "--checkpoint-every", "100ms"});
  const std::string checkpoints = sweep.file("mpi.db.checkpoints");
  REQUIRE(comes_about([&] {
    return fs::exists(checkpoints) &&
           std::ranges::any_of(
               fs::recursive_directory_iterator(checkpoints),
               [](const auto& entry) { return entry.path().filename() == "state"; });
  }));
  const std::vector<pid_t> ranks = ranks_of(sweep.file("mpi.db"));
  REQUIRE(ranks.size() == 2);
  ::kill(ranks[1], SIGKILL);
  CHECK(child.wait() == 0);
  CHECK((rows_by_run(sweep.file("mpi.db"), kOwn) == rows_by_run(sweep.file("local.db"), kOwn)));
  CHECK_FALSE(fs::exists(checkpoints));
}

TEST_CASE("a run that fails on a rank is named, the others finish", "[unit][needs-mpi]") {
  require_mpi();
  const Sweep sweep(R"({"schema_version": 1, "name": "gone",
    "workload": {"collective": "ring-all-reduce", "bytes": "1MB", "repetitions": 2},
    "cluster": {"workers": 4, "absences": [{"worker": 1, "from": "1ms"}]}, "executor": "flow",
    "sweep": {"/network/link/bandwidth": ["1Mbps", "100Gbps"]}})");
  const Result local = sweep.run("local.db", {});
  const Result shared = sweep.run("mpi.db", {"--engine", "mpi", "-j", "2"});
  INFO(shared.err);
  CHECK(shared.exit_code == local.exit_code);
  CHECK((rows_by_run(sweep.file("mpi.db"), kOwn) == rows_by_run(sweep.file("local.db"), kOwn)));
}

TEST_CASE("the engine refuses what it cannot share out", "[unit]") {
  const Sweep sweep;
  const Result emulated = sweep.run("x.db", {"--engine", "mpi", "--executor", "emulator"});
  CHECK(emulated.exit_code == 2);
  CHECK_THAT(emulated.err, Contains("--engine mpi"));
  CHECK(sweep.run("x.db", {"--engine", "carrier-pigeon"}).exit_code == 2);
  const Result nowhere =
      run_program(sweep.command("x.db", {"--engine", "mpi"}), "PATH= exec \"$@\"");
  CHECK(nowhere.exit_code == 5);
  CHECK_THAT(nowhere.err, Contains("cannot run a sweep with MPI") && Contains("install"));
}
