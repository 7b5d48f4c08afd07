#include <signal.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <thread>

#include "base/child_process.h"
#include "base/file_descriptor.h"
#include "base/units.h"
#include "results/store/store.h"
#include "tests/cli/emulation/python.h"
#include "tests/cli/program.h"
#include "tests/skip.h"
#include "tests/trainers/replays/recorded_text.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using results::Store;

namespace {

constexpr const char* kNetwork = R"({"link": {"bandwidth": "1Gbps", "delay": "50us"}})";

/// Two ranks, three steps of a millisecond's compute and an all-reduce of 400 kB.
std::string three_steps() {
  RecordedText text(2);
  for (int step = 0; step < 3; ++step)
    for (int rank = 0; rank < 2; ++rank) {
      text.wait(rank, 0, text.call(rank, 0.001, members("all-reduce", 100'000, ",\"o\":\"sum\"")));
      text.step(rank, 0.0005);
    }
  for (int rank = 0; rank < 2; ++rank) text.end(rank);
  return text.text();
}

/// A folder with a network, and commands in it.
struct Work {
  Work() {
    write_file(file("net.json"), kNetwork);
    write_file(file("a.jsonl"), three_steps());
  }
  std::string file(const std::string& name) const { return folder.file(name); }

  Result torch(std::vector<std::string> arguments, const std::string& database = "runs.db") const {
    arguments.insert(arguments.begin(), {"torch", "--db", file(database), "--no-report"});
    return run_program(arguments);
  }
  Result replay(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--network", file("net.json"), "--replay", file("a.jsonl")});
    return torch(more);
  }
  /// Ranks without PyTorch (tests/bridge/fake_ranks.py).
  Result fake(const std::string& behaviour) const {
    if (std::system("python3 -c '' 2>/dev/null") != 0) skip("there is no python3");
    return torch({"--network", file("net.json"), "--patience", "1s", "--", "env",
                  "PYTHONPATH=" + source_path("python") + ":" + source_path("tests/bridge"),
                  "PYTHONDONTWRITEBYTECODE=1", "python3", source_path("tests/bridge/fake_ranks.py"),
                  "3", behaviour});
  }
  std::unique_ptr<Store> store(const std::string& database = "runs.db") const {
    return Store::open(file(database), Store::Mode::kReadOnly);
  }
  std::string hash(results::RunId run) const { return store()->run(run)->timeline_hash; }

  TemporaryFolder folder;
};

std::vector<std::string> torchrun(int ranks, std::vector<std::string> script) {
  script[0] = source_path("tests/cli/torch/" + script[0]);
  script.insert(script.begin(), {python_with_torch(), "-m", "torch.distributed.run", "--standalone",
                                 "--nproc-per-node", std::to_string(ranks)});
  return script;
}

std::string losses(const std::string& output) {
  std::string found;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("loss ")) found += line + "\n";
  return found;
}

/// What a command prints that is none of ours.
std::string output_of_command(const std::vector<std::string>& command, const std::string& file) {
  std::string text = "OMP_NUM_THREADS=1";
  for (const std::string& word : command) text += " '" + word + "'";
  REQUIRE(std::system((text + " >'" + file + "' 2>/dev/null").c_str()) == 0);
  return read_file(file);
}

}  // namespace

TEST_CASE("torch --replay: a recording on a network is a run like any other", "[unit]") {
  const Work work;
  const Result result = work.replay();
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("a step takes") && Contains("exposed communication"));
  CHECK_THAT(result.out, Contains("what would help"));
  const auto store = work.store();
  REQUIRE(store->runs().size() == 1);
  const results::RunSummary run = *store->run(1);
  CHECK(run.steps_done == 3);
  CHECK(run.header.workers == 2);
  CHECK(run.header.executor == "flow");
  for (const results::StepRow& step : store->steps(1)) {
    CHECK(step.payload_bytes == 2 * 400'000);
    CHECK(step.compute_s == Approx(0.0015));
    // 400 kB round a ring of two take 3.2 ms at 1 Gbps; nothing hides them.
    CHECK(step.exposed_s > 0.0032);
    CHECK(step.exposed_s < 0.006);
  }
  CHECK_FALSE(store->timeline(1).empty());
  const Result trace = run_program({"export", "1", "--format", "chrome-trace", "-o",
                                    work.file("trace.json"), "--db", work.file("runs.db")});
  INFO(trace.err);
  CHECK(trace.exit_code == 0);
  CHECK_THAT(read_file(work.file("trace.json")), Contains("all-reduce"));
}

TEST_CASE("torch --replay: the same network gives the same timeline, and another another",
          "[unit]") {
  const Work work;
  REQUIRE(work.replay().exit_code == 0);
  REQUIRE(work.replay().exit_code == 0);
  CHECK(work.hash(1) == work.hash(2));
  REQUIRE(work.replay({"--set", "/network/link/bandwidth=100Mbps"}).exit_code == 0);
  CHECK(work.hash(3) != work.hash(1));
  REQUIRE(work.replay({"--compute", "scale=0.5"}).exit_code == 0);
  CHECK(work.store()->steps(4)[1].compute_s == Approx(0.00075));
  // A scenario says the same.
  write_file(work.file("s.json"),
             R"({"schema_version": 1, "name": "s", "workload": {"recording": "a.jsonl"},
                 "cluster": {"workers": 2}, "network": )" +
                 std::string(kNetwork) + "}");
  const Result run =
      run_program({"run", work.file("s.json"), "--db", work.file("runs.db"), "--no-report"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(work.hash(5) == work.hash(1));
}

TEST_CASE("torch --compute profile: a recording's own rate makes compute a device's", "[unit]") {
  const Work work;
  // The recording has no rate: its machine is not known.
  const Result without = work.replay({"--compute", "profile=v100"});
  CHECK(without.exit_code == 1);
  CHECK_THAT(without.err, Contains("a.jsonl") && Contains("how fast the machine"));
  CHECK_FALSE(std::filesystem::exists(work.file("runs.db")));
  const std::string head = R"("clock":"none")";
  std::string text = three_steps();
  text.replace(text.find(head), head.size(), head + R"(,"flops_per_s":1.57e11)");
  write_file(work.file("a.jsonl"), text);
  const Result with = work.replay({"--compute", "profile=v100"});
  INFO(with.err);
  REQUIRE(with.exit_code == 0);
  CHECK_THAT(with.err, Contains("as on v100 (fp32): 0.01 of the processor time"));
  // 0.157 of 15.7 Tflop/s: a hundredth of 1.5 ms.
  CHECK(work.store()->steps(1)[1].compute_s == Approx(15e-6));
  REQUIRE(work.replay({"--compute", "scale=0.01"}).exit_code == 0);
  CHECK(work.hash(2) == work.hash(1));
  REQUIRE(work.replay().exit_code == 0);
  CHECK(work.store()->steps(3)[1].compute_s == Approx(0.0015));
}

TEST_CASE("torch --replay --alike: a recording stands for more ranks", "[unit]") {
  const Work work;
  REQUIRE(work.replay().exit_code == 0);
  const Result more = work.replay({"--alike", "8"});
  INFO(more.err);
  REQUIRE(more.exit_code == 0);
  const auto store = work.store();
  CHECK(store->run(2)->header.workers == 8);
  // 400 kB round a ring: 2 (N - 1) / N of it a worker, on links that all have.
  const double ratio = store->steps(2)[1].exposed_s / store->steps(1)[1].exposed_s;
  CHECK(ratio > 1.75);
  CHECK(ratio < 2.6);  // 12 delays and starts more
}

TEST_CASE("torch --chakra: traces of a recording give the same timeline", "[unit]") {
  const Work work;
  REQUIRE(work.replay({"--chakra", work.file("traces")}).exit_code == 0);
  const Result again =
      work.torch({"--network", work.file("net.json"), "--replay", work.file("traces")});
  INFO(again.err);
  REQUIRE(again.exit_code == 0);
  CHECK(work.hash(2) == work.hash(1));
}

TEST_CASE("torch --replay: steps of profilers' traces are as long on a fast network", "[unit]") {
  // The traced steps (ProfilerStep, two ranks): 71.7, 67.7, 85.1 and 71.4, 74.3, 79.3 ms. In them
  // the ranks wait for each other, and for gloo on one machine.
  const double traced[] = {(71.745 + 71.444) / 2, (67.741 + 74.263) / 2, (85.116 + 79.344) / 2};
  const Work work;
  const auto replayed = [&](const char* bandwidth) {
    const Result result = work.torch(
        {"--network", work.file("net.json"), "--replay", source_path("tests/bridge/kineto/ddp"),
         "--set", std::string("/network/link/bandwidth=") + bandwidth},
        std::string(bandwidth) + ".db");
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return work.store(std::string(bandwidth) + ".db")->steps(1);
  };
  const auto fast = replayed("100Gbps");
  REQUIRE(fast.size() == 3);
  const double all = 1e3 * (fast.back().end_s - fast.front().start_s);
  CHECK(all == Approx(traced[0] + traced[1] + traced[2]).epsilon(0.05));
  // The control: 2.7 MB at 10 Mbps take seconds.
  CHECK(replayed("10Mbps")[1].end_s > 4);
}

TEST_CASE("torch: of a scenario the network, the cluster and the executor are taken", "[unit]") {
  const Work work;
  const Result result =
      work.torch({"--network", "lan", "--replay", work.file("a.jsonl"), "--executor", "model"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("workload") && Contains("cluster/device"));
  CHECK(work.store()->run(1)->header.executor == "model");
}

TEST_CASE("torch --network: names are those of other commands", "[unit]") {
  const Work work;
  const auto step = [&](const std::string& network) {
    const std::string database = network + ".db";
    const Result result =
        work.torch({"--network", network, "--replay", work.file("a.jsonl")}, database);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return work.store(database)->run(1);
  };
  // 800 kB a step, of which each rank sends 400: 3.2 ms at 1 Gbps, 0.32 at 10.
  CHECK(*step("1gbe")->step_time_s > 0.0047);
  const auto fast = step("10gbe");
  CHECK(*fast->step_time_s < 0.0025);
  CHECK_THAT(fast->header.scenario_json, Contains("10Gbps"));
  CHECK_THAT(step("ib-hdr")->header.scenario_json, Contains("rdma") && Contains("nccl"));
  CHECK_THAT(work.torch({"--network", "10gb", "--replay", work.file("a.jsonl")}).err,
             Contains("did you mean \"10gbe\"?"));
}

TEST_CASE("torch --replay: table, sentence and remedies have one figure, without the start-up",
          "[unit]") {
  // Three steps of 1.5 ms and an all-reduce of 3.2 ms; a second of start-up before the first, and
  // a barrier behind the last.
  RecordedText text(2);
  for (int rank = 0; rank < 2; ++rank) text.wait(rank, 0, text.call(rank, 1, ",\"k\":\"barrier\""));
  for (int step = 0; step < 4; ++step)
    for (int rank = 0; rank < 2; ++rank) {
      text.wait(rank, 0, text.call(rank, 0.001, members("all-reduce", 100'000, ",\"o\":\"sum\"")));
      text.step(rank, 0.0005);
    }
  for (int rank = 0; rank < 2; ++rank) {
    text.wait(rank, 0, text.call(rank, 0.25, ",\"k\":\"barrier\""));
    text.end(rank);
  }
  const Work work;
  write_file(work.file("a.jsonl"), text.text());
  const Result result = work.replay();
  INFO(result.out << result.err);
  REQUIRE(result.exit_code == 0);
  const auto store = work.store();
  const double step = *store->run(1)->step_time_s;
  CHECK(step > 0.0047);
  CHECK(step < 0.0075);
  const std::string shown = format_duration(Seconds(step));
  CHECK_THAT(result.out, Contains(shown));
  std::string said = result.err;
  std::ranges::replace(said, '\n', ' ');  // it is wrapped
  CHECK_THAT(said, Contains("a step takes " + shown) && Contains("the mean of 3 steps") &&
                       Contains("the first of the 4 recorded") && Contains("1.01 s") &&
                       Contains("behind the last step"));
  double start_up = 0, after = 0;
  for (const auto& metric : store->metrics(1)) {
    if (metric.name == "start_up_s") start_up = metric.value;
    if (metric.name == "after_steps_s") after = metric.value;
  }
  CHECK(start_up > 1.004);
  CHECK(after == Approx(0.25).margin(0.005));
  // Half the compute: 0.75 ms less of the same figure.
  const std::size_t faster = result.out.find("devices twice as fast");
  REQUIRE(faster != std::string::npos);
  CHECK_THAT(result.out.substr(faster), Contains(format_duration(Seconds(step - 0.00075))));
}

TEST_CASE("torch --replay: Chakra's operations need a device's rate, and lanes lie side by side",
          "[unit]") {
  const Work work;
  const std::string counted = source_path("tests/bridge/samples/chakra-numops");
  const Result refused = work.torch({"--network", "lan", "--replay", counted});
  CHECK(refused.exit_code == 1);
  CHECK_THAT(refused.err, Contains("2 of its computing nodes") && Contains("flops="));
  // 1e12 operations at 100 Tflop/s are 10 ms; a mebibyte round a ring of two 8.4 at 1 Gbps.
  const Result result = work.torch(
      {"--network", "lan", "--replay", counted, "--compute", "flops=100e12"}, "counted.db");
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(work.store("counted.db")->steps(1)[0].compute_s == Approx(0.01));
  CHECK_THAT(result.out, Contains("tensor_size"));
  const auto step_of = [&](const std::string& folder) {
    const std::string path = source_path("tests/bridge/samples/" + folder);
    REQUIRE(work.torch({"--network", "lan", "--replay", path}, folder + ".db").exit_code == 0);
    return *work.store(folder + ".db")->run(1)->step_time_s;
  };
  CHECK(step_of("chakra-cpu-gpu") == Approx(0.100).margin(0.001));
  CHECK(step_of("kineto-ok") == Approx(0.192).margin(0.0005));
  CHECK(step_of("kineto-pt21-nogroups") == Approx(0.192).margin(0.0005));
  // A scenario says it by its own field.
  const auto run = [&](const std::string& scale) {
    write_file(work.file("s.json"),
               R"({"schema_version": 1, "name": "s", "cluster": {"workers": 2}, "workload":
                   {"recording": ")" +
                   counted + "\"" + scale + R"(}, "network": )" + std::string(kNetwork) + "}");
    return run_program({"run", work.file("s.json"), "--db", work.file("s.db"), "--no-report"});
  };
  CHECK_THAT(run("").err, Contains("num_ops") && Contains("/workload/compute_scale"));
  CHECK(run(", \"compute_scale\": 1e-14").exit_code == 0);
}

TEST_CASE("torch: what cannot be run is refused before anything runs", "[unit]") {
  const Work work;
  const auto refusal = [&](int code, const std::vector<std::string>& arguments) {
    const Result result = work.torch(arguments);
    CHECK(result.exit_code == code);
    return result.err;
  };
  const std::string net = work.file("net.json"), recording = work.file("a.jsonl");
  CHECK_THAT(refusal(2, {"--network", net}), Contains("it needs a script to run"));
  CHECK_THAT(refusal(2, {"--network", net, "--replay", recording, "--", "true"}),
             Contains("there is a command, too"));
  CHECK_THAT(refusal(2, {"--network", net, "--compute", "scale=-1", "--", "true"}),
             Contains("scale=0.02"));
  CHECK_THAT(refusal(2, {"--network", net, "--compute", "profile", "--", "true"}),
             Contains("it names no device") && Contains("v100"));
  CHECK_THAT(refusal(3, {"--network", net, "--compute", "profile=v1000", "--", "true"}),
             Contains("did you mean \"v100\"?"));
  CHECK_THAT(refusal(2, {"--network", net, "--patience", "8", "--", "true"}), Contains("8"));
  CHECK_THAT(refusal(3, {"--network", "no-such-net", "--", "true"}), Contains("no-such-net"));
  write_file(work.file("bad.json"), R"({"link": {"bandwith": "1Gbps"}})");
  CHECK_THAT(refusal(3, {"--network", work.file("bad.json"), "--", "true"}),
             Contains("did you mean \"bandwidth\"?"));
  CHECK_THAT(refusal(3, {"--network", net, "--replay", work.file("none.jsonl")}),
             Contains("none.jsonl"));
  CHECK_THAT(refusal(1, {"--network", net, "--", "/no/such/program"}),
             Contains("/no/such/program"));
  CHECK_FALSE(std::filesystem::exists(work.file("runs.db")));
}

TEST_CASE("torch: a recording of other ranks than the network has places for is refused",
          "[unit]") {
  const Work work;
  write_file(work.file("three.json"),
             R"({"topology": "explicit", "hosts": ["a"], "switches": ["s"],
                 "links": [{"a": "a", "b": "s"}]})");
  const Result result =
      work.torch({"--network", work.file("three.json"), "--replay", work.file("a.jsonl")});
  CHECK(result.exit_code == 3);
  write_file(work.file("s.json"),
             R"({"schema_version": 1, "name": "s", "workload": {"recording": "a.jsonl"},
                 "cluster": {"workers": 4}})");
  const Result run = run_program({"validate", work.file("s.json")});
  CHECK(run.exit_code == 3);
  CHECK_THAT(run.err, Contains("/cluster/workers") && Contains("the recording has 2 ranks"));
}

TEST_CASE("torch: a script's ranks are followed, and their run is stored", "[unit]") {
  const Work work;
  const Result result = work.fake("alike");
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(work.store()->run(1)->header.workers == 3);
  CHECK(std::filesystem::exists(work.file("runs.db.recordings/fake_ranks-1.jsonl")));
}

TEST_CASE("torch: of a script that fails the whole steps are stored, and the reason is said",
          "[unit]") {
  const Work work;
  const Result dies = work.fake("dies");
  CHECK(dies.exit_code == 1);
  CHECK_THAT(dies.err, Contains("rank 1 died") && Contains("fake_ranks-1.jsonl"));
  CHECK(work.store()->run(1)->steps_done == 1);
  const Result order = work.fake("order");
  CHECK(order.exit_code == 1);
  CHECK_THAT(order.err, Contains("rank 1 does not call its collectives in the order"));
  CHECK(work.store()->run(2)->steps_done == 1);
}

TEST_CASE("torch: a script that is none is told what it lacks", "[unit]") {
  const Work work;
  const Result none = work.fake("none");
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.err, Contains("init_process_group"));
  const Result silent = work.fake("silent");
  CHECK(silent.exit_code == 1);
  CHECK_THAT(silent.err, Contains("its ranks called no collective"));
  const Result fails = work.torch({"--network", work.file("net.json"), "--", "false"});
  CHECK(fails.exit_code == 1);
  CHECK_THAT(fails.err, Contains("exit code 1"));
  CHECK_FALSE(std::filesystem::exists(work.file("runs.db")));
}

TEST_CASE("torch: a PyTorch that cannot be followed is named, with the oldest that can", "[unit]") {
  if (std::system("python3 -c '' 2>/dev/null") != 0) skip("there is no python3");
  const Work work;
  // In PyTorch's place a package of its name, which loads ours as PyTorch does.
  const auto of = [&](const std::string& contents) {
    std::filesystem::create_directory(work.file("torch"));
    write_file(work.file("torch/__init__.py"), contents);
    return work.torch({"--network", work.file("net.json"), "--", "env",
                       "PYTHONPATH=" + source_path("python") + ":" + work.file(""),
                       "PYTHONDONTWRITEBYTECODE=1", "python3", "-c",
                       "import gradwire_torch; gradwire_torch.activate()"});
  };
  const Result old = of("__version__ = '2.3.1+cpu'\n");
  CHECK(old.exit_code == 1);
  CHECK_THAT(old.err, Contains("it is 2.3.1+cpu, and 2.5 is the oldest"));
  const Result bare = of("__version__ = '2.11.0'\n");
  CHECK(bare.exit_code == 1);
  CHECK_THAT(bare.err, Contains("2.11.0 was built without torch.distributed"));
  CHECK_FALSE(std::filesystem::exists(work.file("runs.db")));
}

TEST_CASE("torch: what a script prints does not get into a table for machines", "[unit]") {
  const Work work;
  const Result result = work.torch({"--format", "json", "--network", work.file("net.json"), "--",
                                    "sh", "-c", "echo noise; exit 3"});
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.out, !Contains("noise") && Contains("exit code 3"));
  CHECK_THAT(result.err, Contains("noise"));
}

TEST_CASE("torch: PyTorch's scripts run unchanged, with gloo's losses to the last bit",
          "[needs-pytorch]") {
  const std::pair<const char*, int> cases[] = {{"ddp", 2},  {"ddp", 4},   {"fsdp", 2},
                                               {"fsdp", 4}, {"fsdp2", 2}, {"zero", 2}};
  for (const auto& [way, ranks] : cases) {
    CAPTURE(way, ranks);
    const Work work;
    const auto command = torchrun(ranks, {"train.py", way, "4"});
    const std::string alone = losses(output_of_command(command, work.file("alone")));
    std::vector<std::string> arguments = {"--network", work.file("net.json"), "--"};
    arguments.insert(arguments.end(), command.begin(), command.end());
    const Result result = work.torch(arguments);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    CHECK(std::count(alone.begin(), alone.end(), '\n') == 4);
    CHECK(losses(result.out) == alone);
    const auto store = work.store();
    CHECK(store->run(1)->header.workers == ranks);
    CHECK(store->run(1)->steps_done >= 4);
    const Result again = work.torch({"--network", work.file("net.json"), "--replay",
                                     work.file("runs.db.recordings/train-1.jsonl")});
    REQUIRE(again.exit_code == 0);
    CHECK(work.hash(2) == work.hash(1));
  }
}

TEST_CASE("torch: the rate of matrix products is measured, and nothing of the script's changes",
          "[needs-pytorch]") {
  const Work work;
  auto command = torchrun(1, {"undisturbed.py"});
  const std::string alone = losses(output_of_command(command, work.file("alone")));
  CHECK(std::count(alone.begin(), alone.end(), '\n') == 5);
  CHECK_THAT(alone, Contains("loss 2 torch.float64"));
  const std::vector<std::string> options = {"--network", work.file("net.json"), "--compute",
                                            "profile=v100"};
  std::vector<std::string> arguments = options;
  arguments.push_back("--");
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Result result = work.torch(arguments);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK(losses(result.out) == alone);
  CHECK_THAT(result.err, Contains("as on v100 (fp32)"));
  // A thread of any machine that runs this makes more than 1 Gflop/s, and less than 10 Tflop/s.
  const std::string path = work.file("runs.db.recordings/undisturbed-1.jsonl");
  const std::string text = read_file(path), key = "\"flops_per_s\":";
  REQUIRE(text.find(key) < text.find('\n'));
  const double rate = std::stod(text.substr(text.find(key) + key.size()));
  CHECK(rate > 1e9);
  CHECK(rate < 1e13);
  // From the recording alone it is the same.
  std::vector<std::string> again = options;
  again.insert(again.end(), {"--replay", path});
  REQUIRE(work.torch(again).exit_code == 0);
  CHECK(work.hash(2) == work.hash(1));
  REQUIRE(work.torch({"--network", work.file("net.json"), "--replay", path}).exit_code == 0);
  const auto store = work.store();
  CHECK(store->steps(1)[2].compute_s ==
        Approx(store->steps(3)[2].compute_s * rate / 15.7e12).epsilon(1e-3));
}

TEST_CASE("torch --alike: one process's steps are those of four", "[needs-pytorch]") {
  for (const char* way : {"ddp", "fsdp", "fsdp2", "zero"}) {
    CAPTURE(way);
    const Work work;
    const auto last_step = [&](std::vector<std::string> arguments, const std::string& database) {
      arguments.insert(arguments.begin(),
                       {"--network", work.file("net.json"), "--compute", "scale=0"});
      const Result result = work.torch(arguments, database);
      INFO(result.err);
      REQUIRE(result.exit_code == 0);
      const auto steps = work.store(database)->steps(1);
      REQUIRE(steps.size() >= 4);
      CHECK(work.store(database)->run(1)->header.workers == 4);
      return steps[3].end_s - steps[2].end_s;
    };
    std::vector<std::string> real = {"--"}, alike = {"--alike",
                                                     "4",
                                                     "--",
                                                     python_with_torch(),
                                                     source_path("tests/cli/torch/train.py"),
                                                     way,
                                                     "4"};
    const auto command = torchrun(4, {"train.py", way, "4"});
    real.insert(real.end(), command.begin(), command.end());
    CHECK(last_step(alike, "alike.db") == Approx(last_step(real, "real.db")).epsilon(0.05));
  }
}

TEST_CASE("torch: a codec's bytes take the floats' place", "[needs-pytorch]") {
  const auto of = [](const char* codec) {
    const Work work;
    std::vector<std::string> arguments = {"--network", work.file("net.json"), "--"};
    const auto command = torchrun(2, {"hooked.py", codec, "12"});
    arguments.insert(arguments.end(), command.begin(), command.end());
    const Result result = work.torch(arguments);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto steps = work.store()->steps(1);
    return std::pair(losses(result.out), steps[10].payload_bytes);
  };
  const auto plain = of("plain"), none = of("none"), topk = of("topk");
  // A mean of two is the same to the last bit, however it is made.
  CHECK(none.first == plain.first);
  CHECK(topk.first != plain.first);
  // 84,488 gradients: floats, or a twentieth of them with their indices.
  CHECK(none.second > 4 * 84'488);
  CHECK(topk.second < none.second / 8);
}

TEST_CASE("torch: every collective of PyTorch is followed", "[needs-pytorch]") {
  const Work work;
  const auto command = torchrun(4, {"collectives.py"});
  std::vector<std::string> arguments = {"--network", work.file("net.json"), "--"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Result result = work.torch(arguments);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const std::string recording = read_file(work.file("runs.db.recordings/collectives-1.jsonl"));
  for (const std::string kind :
       {"all-reduce", "all-gather", "reduce-scatter", "broadcast", "reduce", "gather", "scatter",
        "all-to-all", "barrier", "send", "receive"})
    CHECK_THAT(recording, Contains("\"k\":\"" + kind + "\""));
}

TEST_CASE("torch: ranks of PyTorch that call in another order are named", "[needs-pytorch]") {
  const Work work;
  const auto command = torchrun(2, {"disorder.py"});
  std::vector<std::string> arguments = {"--network", work.file("net.json"), "--"};
  arguments.insert(arguments.end(), command.begin(), command.end());
  const Result result = work.torch(arguments);
  CHECK(result.exit_code == 1);
  CHECK_THAT(result.err, Contains("do not call their collectives in one order") &&
                             Contains("disorder.py:") && Contains("broadcast"));
}

TEST_CASE("torch: of ranks of PyTorch that fail, the one that went first is named",
          "[needs-pytorch]") {
  const std::pair<const char*, const char*> cases[] = {{"killed", "rank 1 died (process "},
                                                       {"exits", "rank 1 died (process "},
                                                       {"leaves", "rank 1 is through"},
                                                       {"raises", "rank 1 failed: ValueError"}};
  for (const auto& [way, cause] : cases) {
    CAPTURE(way);
    const Work work;
    std::vector<std::string> arguments = {"--network", work.file("net.json"), "--"};
    const auto command = torchrun(2, {"lost.py", way});
    arguments.insert(arguments.end(), command.begin(), command.end());
    const Result result = work.torch(arguments);
    CHECK(result.exit_code == 1);
    CHECK_THAT(result.err, Contains(std::string("warning: ") + cause));
    CHECK_THAT(result.err, Contains("after its call 2, all-reduce (sum) of 16 float32"));
  }
}

TEST_CASE("torch: where it is killed, a process that has made no group yet ends, too",
          "[needs-pytorch]") {
  using namespace std::chrono_literals;
  const Work work;
  const std::string named = work.file("pid");
  ChildProcess gradwire({program_path(), "torch", "--db", work.file("runs.db"), "--no-report",
                         "--network", work.file("net.json"), "--", python_with_torch(), "-c",
                         "import os, sys, time, torch\n"
                         "open(sys.argv[1] + '-', 'w').write(str(os.getpid()))\n"
                         "os.rename(sys.argv[1] + '-', sys.argv[1])\n"
                         "time.sleep(60)",
                         named},
                        {});
  const auto within = [](std::chrono::seconds time, const auto& holds) {
    for (const auto begun = std::chrono::steady_clock::now();
         !holds() && std::chrono::steady_clock::now() - begun < time;)
      std::this_thread::sleep_for(50ms);
    return holds();
  };
  REQUIRE(within(60s, [&] { return std::filesystem::exists(named); }));
  const std::string stat = "/proc/" + read_file(named) + "/stat";
  const auto gone = [&] {  // or a zombie that nobody has taken
    return !std::filesystem::exists(stat) || read_file(stat).find(") Z ") != std::string::npos;
  };
  CHECK_FALSE(gone());
  ::kill(gradwire.pid(), SIGKILL);
  gradwire.wait();
  CHECK(within(10s, gone));
}
