#include <catch2/catch.hpp>
#include <chrono>
#include <filesystem>

#include "results/store/store.h"
#include "tests/cli/emulation/emulated.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using results::Store;

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
  CHECK_THAT(run_program({"fit", "--db", database, "--filter", "executor=emulator"}).err,
             Contains("1 measured point of 2 workers"));
  CHECK_THAT(on_hosts("localhost,localhost,localhost").err, Contains("there are 3 processes"));
  CHECK_THAT(on_hosts("a,b").err, Contains("--rendezvous"));
  CHECK_THAT(on_hosts("mpi").err, Contains("no rank of mpirun"));
  CHECK_THAT(on_hosts("").err, Contains("it names no host"));
  const Result option = on_hosts("-oProxyCommand=touch " + folder.file("made") + ",b");
  CHECK(option.exit_code == 2);
  CHECK_THAT(option.err, Contains("an option of ssh"));
  CHECK_FALSE(std::filesystem::exists(folder.file("made")));
  // Rank 1 never comes.
  const Result alone = on_hosts("mpi",
                                "OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2 "
                                "OMPI_COMM_WORLD_LOCAL_SIZE=2 exec \"$@\"");
  CHECK(alone.exit_code != 0);
  CHECK_THAT(alone.err, Contains("rank 1 did not come within 8.00 s"));
}

TEST_CASE("mpirun: four ranks are measured, and one that does not come is named",
          "[net][needs-mpi]") {
  if (run_program({}, "command -v mpirun").exit_code != 0) skip("there is no mpirun");
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), scenario_text(kRing, "0us"));
  const auto ranks = [&](const std::string& program) {
    return run_program({"emulate", folder.file("m.json"), "--set", "/cluster/workers=4", "--db",
                        folder.file("a.db"), "--no-report", "--hosts", "mpi"},
                       "exec mpirun --allow-run-as-root --oversubscribe -n 4 " + program);
  };
  const auto start = std::chrono::steady_clock::now();
  const Result missing =
      ranks(R"(sh -c '[ "$OMPI_COMM_WORLD_RANK" = 2 ] && exit 0; exec "$@"' sh "$@")");
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (missing.exit_code == kNoCapability) skip("no emulator: " + missing.err);
  CHECK(missing.exit_code != 0);
  CHECK_THAT(missing.err, Contains("rank 2 did not come within 8.00 s"));
  CHECK(took.count() < 30);  // 8 s, and what starting four ranks takes
  const Result result = ranks(R"("$@")");
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("rank 3 at 127.0.0.1: its clock is"));
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
  const results::RunSummary run = run_on(*store, "emulator");
  CHECK(run.steps_done == 4);
  CHECK(figures(*store, run.id).at("step_time_s").provenance == results::Provenance::kMeasured);
}

namespace {

/// Trains on processes of their own, and says what was learnt there and in `flow`.
std::pair<std::string, std::string> hashes_of(const std::string& scenario,
                                              const std::vector<std::string>& more,
                                              const std::string& prefix = {}) {
  const TemporaryFolder folder;
  write_file(folder.file("t.json"), scenario);
  std::vector<std::string> arguments = {"emulate", folder.file("t.json"), "--db",
                                        folder.file("a.db"), "--no-report"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  const Result result = run_program(arguments, prefix);
  if (result.exit_code == kNoCapability) skip("no emulator: " + result.err);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
  const results::RunSummary run = run_on(*store, "emulator");
  CHECK(has_note(*store, run.id, "arrived as they were sent, byte by byte: what the method's"));
  CHECK(figures(*store, run.id).at("step_time_s").provenance == results::Provenance::kMeasured);
  return {run.learning_hash, run_on(*store, "flow").learning_hash};
}

}  // namespace

TEST_CASE("emulate --hosts: processes send what the method's encoders made, and learn flow's",
          "[net]") {
  require_training();
  for (const std::string method : {"none", "terngrad", "topk"}) {
    CAPTURE(method);
    const auto [measured, flow] =
        hashes_of(training(method, R"("exchange": {"collective": "ring"})"),
                  {"--hosts", "localhost,localhost,localhost"});
    CHECK_FALSE(measured.empty());
    CHECK(measured == flow);
  }
  // A fourth process is the server of the rounds.
  const auto [measured, flow] =
      hashes_of(training("topk", R"("exchange": {"collective": "parameter-server"},
      "schedule": {"kind": "rounds", "local_steps": 2})"),
                {"--hosts", "localhost,localhost,localhost,localhost"});
  CHECK_FALSE(measured.empty());
  CHECK(measured == flow);
}

TEST_CASE("mpirun: four ranks send what the method's encoders made, and learn flow's",
          "[net][needs-mpi]") {
  require_training();
  if (run_program({}, "command -v mpirun").exit_code != 0) skip("there is no mpirun");
  const auto [measured, flow] =
      hashes_of(training("terngrad", R"("exchange": {"collective": "ring"})"),
                {"--set", "/cluster/workers=4", "--hosts", "mpi"},
                R"(exec mpirun --allow-run-as-root --oversubscribe -n 4 "$@")");
  CHECK_FALSE(measured.empty());
  CHECK(measured == flow);
}
