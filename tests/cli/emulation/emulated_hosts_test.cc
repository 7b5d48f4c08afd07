#include <catch2/catch.hpp>
#include <chrono>

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
