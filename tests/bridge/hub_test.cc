#include "bridge/hub.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <thread>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "tests/skip.h"

using namespace gradwire;
using namespace gradwire::bridge;
using namespace std::chrono_literals;
using Catch::Contains;

namespace {

std::string source(const std::string& relative) {
  const char* root = std::getenv("GRADWIRE_SOURCE_DIR");
  return std::string(root ? root : ".") + "/" + relative;
}

/// Runs fake_ranks.py under a hub.
struct Script {
  explicit Script(const std::string& behaviour, int world = 3) {
    if (std::system("python3 -c '' 2>/dev/null") != 0) testing::skip("there is no python3");
    options.recording = folder.file("a.jsonl");
    options.patience = 1500ms;
    command = {"python3", source("tests/bridge/fake_ranks.py"), std::to_string(world), behaviour};
  }

  HubReport run() {
    Hub hub(options);
    ::setenv(kHubVariable, hub.socket_path().c_str(), 1);
    ::setenv("PYTHONPATH", (source("python") + ":" + source("tests/bridge")).c_str(), 1);
    ::setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
    HubReport report = hub.run(command);
    CHECK(descendants_of(::getpid()).empty());  // nobody is left
    return report;
  }

  Recording recording() const { return read_recording(options.recording); }

  TemporaryFolder folder;
  HubOptions options;
  std::vector<std::string> command;
};

}  // namespace

TEST_CASE("hub: a script that is well runs to its end, and all of it is recorded", "[unit]") {
  Script script("alike");
  int world = 0;
  script.options.on_world = [&](int ranks) { world = ranks; };
  const HubReport report = script.run();
  CHECK(report.problem == "");
  CHECK(report.exit_code == 0);
  CHECK(report.ranks == 3);
  CHECK(world == 3);
  CHECK(report.calls == 6);
  CHECK(report.steps == 1);
  const Recording recording = script.recording();
  CHECK(recording.whole);
  REQUIRE(recording.events[2].size() == 6);  // 2 calls, 2 waits, a step, the end
  CHECK_THAT(recording.events[2][0].call.place, Contains("fake_ranks.py:"));
}

TEST_CASE("hub: one process stands for all ranks, and waits for none of them", "[unit]") {
  Script script("alike", 5);
  script.command.insert(script.command.begin(), {"env", std::string(kAlikeVariable) + "=5"});
  const HubReport report = script.run();
  CHECK(report.problem == "");
  CHECK(report.ranks == 1);
  CHECK(report.calls == 2);
  CHECK(report.steps == 1);
  const Recording recording = script.recording();
  CHECK(recording.whole);
  CHECK(recording.header.alike);
  REQUIRE(recording.events.size() == 5);
  for (int rank = 0; rank < 5; ++rank) {
    const auto& events = recording.events[static_cast<std::size_t>(rank)];
    REQUIRE(events.size() == recording.events[0].size());
    CHECK(events[0].rank == rank);
    CHECK(events[0].compute == recording.events[0][0].compute);
  }
  // Of a group of two nobody knows what the third would do.
  Script pair("pair", 3);
  pair.command.insert(pair.command.begin(), {"env", std::string(kAlikeVariable) + "=3"});
  CHECK_THAT(pair.run().problem, Contains("has 2 of 3 ranks"));
}

TEST_CASE("hub: a rank that calls in another order is named, and what the others called",
          "[unit]") {
  Script script("order");
  const HubReport report = script.run();
  CHECK_THAT(report.problem,
             Contains("rank 1 does not call its collectives in the order of the others") &&
                 Contains("broadcast of 16 float32 from rank 0 (its call 2)") &&
                 Contains("ranks 0 and 2 called all-reduce (sum) of 16 float32"));
  CHECK(report.calls == 6);  // what was told is kept
  CHECK(script.recording().events[0].size() >= 4);
}

TEST_CASE("hub: other sizes are another order", "[unit]") {
  CHECK_THAT(Script("size").run().problem, Contains("17 float32") && Contains("rank 1"));
}

TEST_CASE("hub: a rank that dies is named, with its last call", "[unit]") {
  Script script("dies");
  const HubReport report = script.run();
  CHECK_THAT(report.problem, Contains("rank 1 died") &&
                                 Contains("after its call 1, all-reduce (sum) of 16 float32"));
  CHECK(report.steps == 1);
}

TEST_CASE("hub: a rank's exception is told", "[unit]") {
  CHECK_THAT(Script("raises").run().problem, Contains("rank 1 failed: ValueError: no such layer"));
}

TEST_CASE("hub: a victim's exception that comes first is not taken for the cause", "[unit]") {
  const std::string victim =
      "; then rank 0 failed after its call 2, all-reduce (sum) of 16 float32 at fake_ranks.py:";
  const std::string dies = Script("victim-dies").run().problem;
  CHECK_THAT(dies, Catch::StartsWith("rank 1 died (process ") && Contains("without a farewell") &&
                       Contains("after its call 1,") && Contains(victim) &&
                       Contains("Connection closed by peer"));
  CHECK_THAT(Script("victim-forks").run().problem, Catch::StartsWith("rank 1 died (process "));
  const std::string leaves = Script("victim-leaves").run().problem;
  CHECK_THAT(leaves, Catch::StartsWith("rank 1 is through with its script after its call 1,") &&
                         Contains(victim));
  // The control: what the launcher ends after a failure is not its cause.
  CHECK_THAT(Script("launcher").run().problem,
             Catch::StartsWith("rank 1 failed: ValueError: no such layer"));
}

TEST_CASE("hub: a rank that does nothing while others wait is named", "[unit]") {
  CHECK_THAT(Script("hangs").run().problem, Contains("nothing has happened for 1.50 s") &&
                                                Contains("rank 1 does nothing") &&
                                                Contains("--patience"));
  CHECK_THAT(Script("stops").run().problem, Contains("rank 1 is stopped"));
}

TEST_CASE("hub: a rank that computes for longer is waited for", "[unit]") {
  Script script("works");  // 2.5 s, and patience is 1.5 s
  const HubReport report = script.run();
  CHECK(report.problem == "");
  CHECK(report.calls == 6);
}

TEST_CASE("hub: a rank that is through while others wait for it is named", "[unit]") {
  CHECK_THAT(Script("leaves").run().problem,
             Contains("rank 1 is through with its script") && Contains("rank 0 waits for rank 1"));
}

TEST_CASE("hub: a script without ranks or calls is no problem of its own", "[unit]") {
  const HubReport none = Script("none").run();
  CHECK(none.ranks == 0);
  CHECK(none.problem == "");
  const HubReport silent = Script("silent").run();
  CHECK(silent.ranks == 3);
  CHECK(silent.calls == 0);
  CHECK(silent.problem == "");
}

TEST_CASE("hub: a number of ranks that does not fit ends the script", "[unit]") {
  Script script("alike");
  script.options.on_world = [](int ranks) {
    throw Error(ErrorKind::kScenario, "use", "the network",
                "it has no place for " + std::to_string(ranks));
  };
  CHECK_THAT(script.run().problem, Contains("no place for 3"));
}

TEST_CASE("hub: processes that the script leaves behind end with it", "[unit]") {
  Script script("orphan");
  script.command.push_back(script.folder.file("pid"));
  CHECK(script.run().problem == "");
  const int orphan = std::stoi(read_file(script.folder.file("pid")));
  CHECK(::kill(orphan, 0) != 0);
}

TEST_CASE("hub: an interrupt ends the script and keeps what was told", "[unit]") {
  Script script("hangs");
  const auto begun = std::chrono::steady_clock::now();
  script.options.patience = 60s;
  script.options.interrupted = [&] { return std::chrono::steady_clock::now() - begun > 1500ms; };
  const HubReport report = script.run();
  CHECK(report.interrupted);
  CHECK(report.problem == "");
  CHECK_FALSE(script.recording().whole);
}

namespace {

/// Kills a hub that runs `script` once `ready`; true: all of the script's processes end by
/// themselves.
bool ends_with_hub(Script& script, const std::function<bool()>& ready) {
  const pid_t hub = ::fork();
  REQUIRE(hub >= 0);
  if (hub == 0) {
    const auto quiet = [] { return false; };
    script.options.interrupted = quiet;
    Hub listening(script.options);
    ::setenv(kHubVariable, listening.socket_path().c_str(), 1);
    ::setenv("PYTHONPATH", (source("python") + ":" + source("tests/bridge")).c_str(), 1);
    listening.run(script.command);
    ::_exit(0);
  }
  const FamilyKeeper family;  // orphans come to this process
  for (int tries = 0; tries < 200 && !ready(); ++tries) std::this_thread::sleep_for(50ms);
  ::kill(hub, SIGKILL);
  ::waitpid(hub, nullptr, 0);
  const auto killed = std::chrono::steady_clock::now();
  while (!descendants_of(::getpid()).empty() && std::chrono::steady_clock::now() - killed < 10s)
    std::this_thread::sleep_for(50ms);
  const bool nobody = descendants_of(::getpid()).empty();
  family.end_all(0ms, 0);
  return nobody;
}

}  // namespace

TEST_CASE("hub: where it is killed, its ranks end, and the file has what they told", "[unit]") {
  Script script("hub", 2);
  CHECK(ends_with_hub(script, [&] {
    std::ifstream file(script.options.recording);
    int waits = 0;
    for (std::string line; std::getline(file, line);)
      waits += line.find("\"wait\"") != std::string::npos;
    return waits >= 3;
  }));
  CHECK(read_recording(script.options.recording).events[0].size() >= 3);
}

TEST_CASE("hub: where it is killed, ranks without a process group end, too", "[unit]") {
  Script script("gathering", 2);
  script.command.push_back(script.folder.file("ready"));
  CHECK(ends_with_hub(script, [&] {
    std::ifstream file(script.folder.file("ready"));
    int lines = 0;
    for (std::string line; std::getline(file, line);) ++lines;
    return lines == 2;
  }));
}

TEST_CASE("hub: what it cannot write or start is said", "[unit]") {
  Script script("alike");
  write_file(script.options.recording, "mine");
  CHECK_THROWS_WITH(script.run(), Contains("such a file already"));
  script.options.recording = script.folder.file("no/a.jsonl");
  CHECK_THROWS_WITH(script.run(), Contains("no/a.jsonl"));
  script.options.recording = script.folder.file("b.jsonl");
  script.command = {"/no/such/program"};
  CHECK_THROWS_WITH(script.run(), Contains("/no/such/program"));
}
