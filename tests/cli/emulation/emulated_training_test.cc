#include <array>
#include <catch2/catch.hpp>
#include <cmath>

#include "results/store/store.h"
#include "tests/cli/emulation/emulated.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using results::Store;

/// What is learnt on the emulator: by which messages, and in which order.
namespace {

/// Updates of each of three workers, their mean staleness, and the time that all took.
struct Updates {
  std::array<int, 3> of_worker{};
  double staleness = 0, seconds = 0;
};

Updates updates_of(const Store& store, const results::RunSummary& run) {
  Updates updates;
  for (const results::MetricRow& row : store.metrics(run.id))
    if (row.name == "worker_of_update" && row.step >= 0)
      ++updates.of_worker.at(static_cast<std::size_t>(row.value));
  updates.staleness = figures(store, run.id).at("staleness_mean").value;
  updates.seconds = run.simulated_s;
  return updates;
}

/// What the emulator and `flow` made of asynchronous training whose passes take 0.7 ms, stretched
/// by those factors. Times come from a device file, so that what else runs here does not change
/// them.
std::map<std::string, Updates> asynchronous_updates(const std::string& stragglers) {
  const TemporaryFolder folder;
  write_file(
      folder.file("t.json"),
      R"({"schema_version": 1, "name": "t", "workload": {"model": "mlp", "data": {"set": "digits"},
      "batch_per_worker": 8, "steps": 60, "evaluate_every": 20,
      "optimizer": {"name": "sgd", "lr": 0.05}}, "method": {"name": "topk"},
      "cluster": {"workers": 3, "device": "reference-cpu", "stragglers": )" +
          stragglers + R"(}, "exchange": {"collective": "parameter-server"},
      "schedule": {"kind": "asynchronous"}, "network": {"link": {"bandwidth": "20Mbps",
      "delay": "0us"}}, "executor": "emulator"})");
  const Result result = emulated({"emulate", folder.file("t.json"), "--db", folder.file("a.db"),
                                  "--shaper", "tbf", "--no-report"});
  INFO(result.err);
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
  const results::RunSummary run = run_on(*store, "emulator");
  REQUIRE(result.exit_code == 0);
  CHECK(run.steps_done == 60);
  CHECK(has_note(*store, run.id, "arrived as they were sent, byte by byte: what the method's"));
  CHECK(figures(*store, run.id).at("held_up_share").value < 0.05);
  return {{"emulator", updates_of(*store, run)},
          {"flow", updates_of(*store, run_on(*store, "flow"))}};
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

TEST_CASE("emulate --chaos: a client that is paused over rounds is late in them, and back after",
          "[net][needs-namespaces]") {
  require_training();
  const TemporaryFolder folder;
  write_file(folder.file("t.json"), training("topk", R"("exchange": {"collective":
      "parameter-server"}, "schedule": {"kind": "rounds", "local_steps": 2, "deadline": "1s"})"));
  const Result result =
      emulated({"emulate", folder.file("t.json"), "--db", folder.file("a.db"), "--shaper", "tbf",
                "--no-report", "--chaos", "pause:1@0s+1500ms"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
  const auto found = figures(*store, run_on(*store, "emulator").id);
  // Three rounds of three clients: the second is still paused .5 s long, of a deadline of 1 s.
  CHECK(found.at("clients_late").value == 1);
  CHECK(found.at("clients_arrived").value == 8);
}

TEST_CASE("emulate: asynchronous workers alike have as many updates, as old as flow's",
          "[net][needs-namespaces]") {
  require_training();
  const auto seen = asynchronous_updates("[]");
  // 60 updates of three workers who are alike: 20 each, two more of others between a worker's own.
  // Real ones drift by an update or two.
  for (const auto& [executor, updates] : seen) {
    CAPTURE(executor);
    for (const int own : updates.of_worker) CHECK(std::abs(own - 20) <= 2);
    CHECK(updates.staleness == Approx((0 + 1 + 2 * 58) / 60.0).margin(0.1));
  }
  CHECK(seen.at("emulator").seconds == Approx(seen.at("flow").seconds).epsilon(0.1));
}

TEST_CASE("emulate: a worker that takes longer has fewer updates, and older ones",
          "[net][needs-namespaces]") {
  require_training();
  const auto seen = asynchronous_updates(R"([{"worker": 1, "factor": 1000}])");
  for (const auto& [executor, updates] : seen) {
    CAPTURE(executor);
    CHECK(updates.of_worker[1] <= updates.of_worker[0] / 3);
    CHECK(updates.of_worker[1] <= updates.of_worker[2] / 3);
  }
  CHECK(std::abs(seen.at("emulator").of_worker[1] - seen.at("flow").of_worker[1]) <= 2);
}

/// Whether what was learnt on the emulator is what `flow` learns.
bool learns_as_flow(const std::string& method, const std::string& rest,
                    const std::string& network_or_cluster) {
  const TemporaryFolder folder;
  write_file(folder.file("t.json"), training(method, rest));
  const Result result = emulated({"emulate", folder.file("t.json"), "--set", network_or_cluster,
                                  "--db", folder.file("a.db"), "--shaper", "tbf", "--no-report"});
  INFO(result.err);
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
  const results::RunSummary run = run_on(*store, "emulator");
  CHECK(has_note(*store, run.id, "arrived as they were sent, byte by byte: what the method's"));
  REQUIRE(result.exit_code == 0);
  CHECK(run.steps_done == 3);
  return run.learning_hash == run_on(*store, "flow").learning_hash;
}

TEST_CASE("emulate: stages of a pipeline and workers that gossip send what was trained",
          "[net][needs-namespaces]") {
  require_training();
  CHECK(learns_as_flow("none", R"("schedule": {"kind": "pipeline"})",
                       "/network/link/bandwidth=50Mbps"));
  CHECK(learns_as_flow("topk",
                       R"("exchange": {"collective": "gossip"}, "schedule": {"kind": "gossip"})",
                       "/network/link/bandwidth=50Mbps"));
}

TEST_CASE("emulate: who gossips and waits for nobody sends what was trained, too",
          "[net][needs-namespaces]") {
  require_training();
  // Slow workers, whose passes have time to be made beside them. What comes first here need not in
  // virtual time, so that no hash is held against another.
  learns_as_flow("none", R"("exchange": {"collective": "gossip"},
      "schedule": {"kind": "gossip", "patience": "2s"})",
                 R"(/cluster/stragglers=[{"worker": 0, "factor": 500},
      {"worker": 1, "factor": 500}, {"worker": 2, "factor": 500}])");
}

TEST_CASE("emulate --chaos: of a worker that is killed, what had arrived counts",
          "[net][needs-namespaces]") {
  require_training();
  const TemporaryFolder folder;
  // 40 kB there and back by 1 Mbps: a step takes about a second, and two end before the third
  // second is over.
  write_file(folder.file("t.json"), training("none", R"("exchange": {"collective": "ring"})"));
  const Result result =
      emulated({"emulate", folder.file("t.json"), "--set", "/network/link/bandwidth=1Mbps", "--set",
                "/workload/hidden=[128]", "--set", "/workload/steps=30", "--set",
                "/workload/evaluate_every=1", "--db", folder.file("a.db"), "--shaper", "tbf",
                "--no-report", "--chaos", "kill:1@3s"});
  INFO(result.err);
  CHECK(result.exit_code != 0);
  REQUIRE(run_program({"run", folder.file("t.json"), "--executor", "flow", "--set",
                       "/workload/hidden=[128]", "--set", "/workload/steps=30", "--set",
                       "/workload/evaluate_every=1", "--db", folder.file("a.db"), "--no-report"})
              .exit_code == 0);
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
  const results::RunSummary killed = run_on(*store, "emulator"), whole = run_on(*store, "flow");
  CHECK(killed.status == results::RunStatus::kFailed);
  REQUIRE(killed.steps_done > 0);
  REQUIRE(killed.steps_done < 30);
  // All 30 steps were trained before the first was sent; the run learnt those that arrived.
  const auto last = static_cast<std::size_t>(killed.steps_done - 1);
  CHECK(figures(*store, killed.id).at("final_loss").value == store->steps(whole.id).at(last).loss);
  CHECK(figures(*store, killed.id).at("final_loss").value !=
        figures(*store, whole.id).at("final_loss").value);
  CHECK(killed.learning_hash.empty());
  CHECK_FALSE(whole.learning_hash.empty());
}
