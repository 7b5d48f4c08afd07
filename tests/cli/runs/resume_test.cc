#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <thread>

#include "base/child_process.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
namespace fs = std::filesystem;

namespace {

/// Steps of four workers, of which 400 take half a second or more, or six times as many updates;
/// `transport`: of the network.
std::string scenario_text(const std::string& transport, const std::string& method,
                          const std::string& collective = "ring",
                          const std::string& schedule = "lockstep", int steps = 1200) {
  return R"({"schema_version": 1, "name": "resumed",
    "workload": {"model": "mlp", "data": {"set": "digits"}, "batch_per_worker": 32, "steps": )" +
         std::to_string(schedule == "lockstep" ? steps : 6 * steps) + R"(,
                 "optimizer": {"name": "sgd", "lr": 0.05, "momentum": 0.9}, "evaluate_every": 50},
    "method": )" +
         method + R"(, "cluster": {"workers": 4, "device": "reference-cpu"},
    "network": {"topology": "star",
                "link": {"bandwidth": "100Mbps", "delay": "1ms", "loss": 0.001},
                "transport": {"protocol": ")" +
         transport + R"("}},
    "exchange": {"collective": ")" +
         collective + R"(", "bucket": "64kB"}, "schedule": {"kind": ")" + schedule +
         R"("}, "seeds": [1]})";
}

/// A folder with one scenario, and runs of it.
class Folder {
 public:
  explicit Folder(const std::string& scenario)
      : path_(fs::temp_directory_path() / ("gradwire-resume-" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::create_directories(path_);
    std::ofstream(file("s.json")) << scenario;
  }
  ~Folder() { fs::remove_all(path_); }

  std::string file(const std::string& name) const { return (path_ / name).string(); }
  Result run(const std::string& database, const std::vector<std::string>& more,
             const std::string& prefix = {}) const {
    std::vector<std::string> arguments = {
        "run", file("s.json"), "--no-report", "--db", file(database), "--checkpoint-every", "50ms"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_program(arguments, prefix);
  }
  /// Both hashes, the steps' and evaluations' rows of the database's only run.
  std::string contents(const std::string& database) const {
    const auto list = run_program({"list", "--db", file(database), "--format", "json"});
    const auto runs = nlohmann::json::parse(list.out);
    const auto& all = runs.at("rows");
    REQUIRE(all.size() == 1);
    const std::string id = std::to_string(all[0].at("id").get<int>());
    const auto rows = run_program({"export", "--db", file(database), "--what", "steps", id});
    std::string contents = all[0].at("learning_hash").get<std::string>() + " " +
                           all[0].at("timeline_hash").get<std::string>() + "\n";
    std::istringstream lines(rows.out);
    for (std::string line; std::getline(lines, line);) {
      const std::size_t run = line.find("," + id + ",");  // a run that was taken up has another
      contents += (run == std::string::npos ? line : line.erase(run, id.size() + 1)) + "\n";
    }
    return contents;
  }

 private:
  fs::path path_;
};

/// Kills the run over and over after `seconds`, and takes it up again. Gives the kills it took.
int kills_until_finished(const Folder& folder, const std::string& seconds,
                         const std::vector<std::string>& more) {
  int kills = 0;
  Result result = folder.run("killed.db", more, "timeout -s KILL " + seconds + " \"$@\"");
  std::vector<std::string> resumed = more;
  resumed.push_back("--resume");
  for (; result.exit_code != 0 && kills < 12; ++kills) {
    CHECK_THAT(result.err, !Catch::Contains("cannot"));
    result = folder.run("killed.db", resumed,
                        kills == 11 ? std::string() : "timeout -s KILL " + seconds + " \"$@\"");
  }
  CHECK(result.exit_code == 0);
  return kills;
}

/// Runs it with kills at four fifths of the `whole` run's seconds, and sooner on a machine that
/// ends it before that. Gives the kills it took.
int finish_with_kills(const Folder& folder, double whole,
                      const std::vector<std::string>& more = {}) {
  for (double seconds = 0.8 * whole; seconds > 0.01; seconds *= 0.8) {
    if (const int kills = kills_until_finished(folder, std::to_string(seconds), more)) return kills;
    for (const char* end : {"", "-wal", "-shm"}) fs::remove(folder.file("killed.db") + end);
  }
  return 0;
}

/// Seconds that a run without kills takes.
double seconds_of_whole_run(const Folder& folder) {
  const auto start = std::chrono::steady_clock::now();
  REQUIRE(folder.run("whole.db", {}).exit_code == 0);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

TEST_CASE("A killed run goes on from its checkpoint and ends as if it had not been killed",
          "[needs-torch]") {
  require_training();
  const std::string method = R"({"name": "topk", "ratio": 0.05})";
  const std::string text =
      GENERATE_COPY(scenario_text("tcp", method), scenario_text("udp-lossy", method),
                    scenario_text("tcp", method, "parameter-server", "asynchronous"));
  const Folder folder(text);
  const double whole = seconds_of_whole_run(folder);
  CHECK(finish_with_kills(folder, whole) > 0);
  CHECK(folder.contents("killed.db") == folder.contents("whole.db"));
  CHECK_FALSE(fs::exists(folder.file("killed.db.checkpoints")));
}

TEST_CASE("A run that is killed twice in its first seconds goes on both times", "[needs-torch]") {
  require_training();
  const Folder folder(scenario_text("tcp", R"({"name": "none"})", "ring", "lockstep", 1'000'000));
  // Steps of the checkpoint that the database knows of.
  const auto kept = [&]() -> std::int64_t {
    const Result told = run_program({"query", "SELECT max(steps) AS steps FROM checkpoints", "--db",
                                     folder.file("k.db"), "--format", "json"});
    if (told.exit_code != 0) return 0;  // there is no database yet
    const auto rows = nlohmann::json::parse(told.out);
    const auto& steps = rows.at("rows").at(0).at("steps");
    return steps.is_null() ? 0 : steps.get<std::int64_t>();
  };
  std::int64_t before = 0;
  for (int kill = 0; kill < 3; ++kill) {
    CAPTURE(kill, before);
    ChildProcess run({program_path(), "run", folder.file("s.json"), "--no-report", "-q", "--resume",
                      "--db", folder.file("k.db")},
                     {});
    // Far sooner than the usual 30 s, and further than the last time: not from 0 again.
    const auto start = std::chrono::steady_clock::now();
    std::int64_t steps = 0;
    while ((steps = kept()) <= before &&
           std::chrono::steady_clock::now() - start < std::chrono::seconds(20))
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    run.kill_and_reap();
    CHECK(steps > before);
    before = steps;
  }
}

TEST_CASE("Clients whose states lie on the disk learn the same, killed or not", "[needs-torch]") {
  require_training();
  const Folder folder(scenario_text("tcp",
                                    R"({"name": "topk", "ratio": 0.05, "error_feedback": true})",
                                    "parameter-server", "rounds", 30));
  const auto files = [&] {  // but SQLite's own
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(fs::path(folder.file("s.json")).parent_path()))
      if (!entry.path().filename().string().ends_with("-wal") &&
          !entry.path().filename().string().ends_with("-shm"))
        names.insert(entry.path().filename().string());
    return names;
  };
  const auto figure = [&](const std::string& database, const std::string& name) {
    const auto shown = run_program(
        {"export", "--db", folder.file(database), "--what", "metrics", "--format", "json", "1"});
    const auto metrics = nlohmann::json::parse(shown.out);
    for (const auto& row : metrics.at("rows"))
      if (row.at("name") == name) return row.at("value").get<double>();
    FAIL("no figure " << name);
    return 0.0;
  };
  const double whole = seconds_of_whole_run(folder);
  CHECK(figure("whole.db", "state_file_bytes") == 0);
  CHECK(figure("whole.db", "states_on_disk") == 0);
  const Result tight = folder.run("tight.db", {"--memory", "1B"});
  REQUIRE(tight.exit_code == 0);
  CHECK(files() == std::set<std::string>{"s.json", "tight.db", "whole.db"});
  CHECK(figure("tight.db", "memory_states_bytes") == 0);
  CHECK(figure("tight.db", "states_on_disk") == 4);
  CHECK(figure("tight.db", "state_file_bytes") == figure("whole.db", "memory_states_bytes"));
  CHECK(folder.contents("tight.db") == folder.contents("whole.db"));

  CHECK(finish_with_kills(folder, whole, {"--memory", "1B"}) > 0);
  CHECK(folder.contents("killed.db") == folder.contents("whole.db"));
  CHECK(files() == std::set<std::string>{"killed.db", "s.json", "tight.db", "whole.db"});

  const Result wrong = folder.run("wrong.db", {"--memory", "2 sacks"});
  CHECK(wrong.exit_code == 2);
  CHECK(wrong.err.find("2 sacks") != std::string::npos);
}

TEST_CASE("A damaged checkpoint is named, and nothing is lost", "[needs-torch]") {
  require_training();
  const Folder folder(scenario_text("tcp", R"({"name": "none"})", "ring", "lockstep", 4000));
  std::string state;
  for (const std::string seconds : {"1", "2", "4", "8"}) {  // until training has begun
    if (!state.empty()) break;
    folder.run("d.db", {"--resume"}, "timeout -s INT " + seconds + " \"$@\"");
    if (!fs::exists(folder.file("d.db.checkpoints"))) continue;
    for (const auto& entry : fs::recursive_directory_iterator(folder.file("d.db.checkpoints")))
      if (entry.path().filename() == "state") state = entry.path().string();
  }
  REQUIRE_FALSE(state.empty());
  const std::string before = folder.contents("d.db");
  // In the place of another seed's it is refused: it is no part of that run.
  const fs::path own = fs::path(state).parent_path();
  std::string name = own.filename().string();
  name.replace(name.find("-1-"), 3, "-2-");
  fs::copy(own, own.parent_path() / name);
  const Result another = folder.run("d.db", {"--resume", "--seed", "2"});
  CHECK(another.exit_code == 1);
  CHECK(another.err.find("it is of another run") != std::string::npos);
  CHECK(another.err.find(own.filename().string()) != std::string::npos);
  fs::remove_all(own.parent_path() / name);
  {
    std::fstream file(state, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('?');
  }
  const Result refused = folder.run("d.db", {"--resume"});
  CHECK(refused.exit_code == 1);
  CHECK(refused.err.find(state) != std::string::npos);
  CHECK(refused.err.find("check sum") != std::string::npos);
  CHECK(folder.contents("d.db") == before);
  CHECK(folder.run("d.db", {}).exit_code == 0);  // afresh
}
