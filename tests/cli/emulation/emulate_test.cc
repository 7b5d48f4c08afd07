#include <catch2/catch.hpp>
#include <filesystem>

#include "results/store/store.h"
#include "tests/cli/emulation/emulated.h"
#include "tests/cli/emulation/python.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using results::Store;

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
  const Result result =
      emulated_or_invalid({"emulate", folder.file("m.json"), "--db", database, "--shaper", "link",
                           "--no-report", "--format", "json"});
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
      emulated_or_invalid({"emulate", folder.file("t.json"), "--db", database, "--no-report"});
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
  // It stands for no emulation in which nothing goes wrong; nor does one with other links.
  const auto emulations = [&](const std::vector<std::string>& more) {
    std::vector<std::string> command = {"emulate",  folder.file("m.json"),
                                        "--db",     folder.file("paused.db"),
                                        "--resume", "--no-report"};
    command.insert(command.end(), more.begin(), more.end());
    run_program(command);
    int count = 0;
    for (const auto& each : Store::open(folder.file("paused.db"), Store::Mode::kReadOnly)->runs())
      count += each.header.executor == "emulator";
    return count;
  };
  CHECK(emulations({"--shaper", "tbf"}) == 2);
  CHECK(emulations({"--shaper", "netem"}) == 2);  // taken where the kernel has it, else refused
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

namespace {

/// `emulate` in a user namespace of its own, after `setup` there.
Result emulate_after(const std::string& unshare, const std::string& setup,
                     const std::string& shaper) {
  if (run_program({}, "exec " + unshare + " sh -c '" + setup + "'").exit_code != 0)
    skip(unshare + " may not do here what the test needs: " + setup);
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), scenario_text(kRing, "1ms"));
  return run_program({"emulate", folder.file("m.json"), "--db", folder.file("a.db"), "--shaper",
                      shaper, "--no-report"},
                     "exec " + unshare + " sh -c '" + setup + R"( && exec "$@"' sh "$@")");
}

}  // namespace

TEST_CASE("emulate: where namespaces are not allowed it says so, and what allows them",
          "[net][needs-namespaces]") {
  const Result result = emulate_after("unshare -Ur",
                                      "echo 0 >/proc/sys/user/max_user_namespaces && "
                                      "echo 0 >/proc/sys/user/max_net_namespaces",
                                      "tbf");
  CHECK(result.exit_code == kNoCapability);
  CHECK_THAT(result.err, Contains("cannot create a user and network namespace") &&
                             Contains("sysctl user.max_user_namespaces"));
}

TEST_CASE("emulate: a kernel parameter that may not be set ends the run by its name",
          "[net][needs-namespaces]") {
  const std::string read_only =
      "mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys";
  for (const auto& [shaper, parameter] :
       {std::pair{"tbf", "ipv4/tcp_slow_start_after_idle"}, std::pair{"link", "ipv4/tcp_rmem"}}) {
    CAPTURE(shaper);
    const Result result = emulate_after("unshare -Urm", read_only, shaper);
    CHECK(result.exit_code == kNoCapability);
    CHECK_THAT(result.err, Contains(parameter) && Contains("Read-only file system"));
    // The control: where it may be set, the same is emulated, or fails for another reason.
    CHECK_THAT(emulate_after("unshare -Urm", "true", shaper).err, !Contains(parameter));
  }
}

TEST_CASE("emulate --gloo: what PyTorch's own engine takes stands beside the run",
          "[net][needs-pytorch]") {
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), scenario_text(kRing, "0us"));
  const std::vector<std::string> arguments = {
      "emulate", folder.file("m.json"), "--db", folder.file("a.db"), "--shaper", "tbf",
      "--gloo",  "--no-report"};
  const Result result =
      run_program(arguments, "GRADWIRE_PYTHON='" + python_with_torch() + R"(' exec "$@")");
  if (result.exit_code == kNoCapability) skip("no emulator: " + result.err);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto store = Store::open(folder.file("a.db"), Store::Mode::kReadOnly);
  const results::RunSummary run = run_on(*store, "emulator");
  // Each of two sends 100 kB at 200 Mbps: 4 ms. Gloo's threads wake up later on a busy machine.
  const double gloo = figures(*store, run.id).at("gloo_exchange_s").value;
  CHECK(gloo > 0.004);
  CHECK(gloo < 0.4);
  CHECK(has_note(*store, run.id, "sums a step's 25000 floats in"));
}

TEST_CASE("emulate --gloo: without PyTorch, or on machines, it is refused", "[net]") {
  const TemporaryFolder folder;
  write_file(folder.file("m.json"), scenario_text(kRing, "0us"));
  const auto refusal = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"emulate", folder.file("m.json"), "--db", folder.file("a.db"),
                               "--gloo", "--no-report"});
    return run_program(more, R"(GRADWIRE_PYTHON=/bin/false exec "$@")");
  };
  const Result none = refusal({});
  CHECK(none.exit_code == kNoCapability);
  CHECK_THAT(none.err, Contains("/bin/false cannot import torch") && Contains("GRADWIRE_PYTHON"));
  const Result machines = refusal({"--hosts", "localhost,localhost"});
  CHECK(machines.exit_code == 2);
  CHECK_THAT(machines.err, Contains("--gloo with --hosts"));
}
