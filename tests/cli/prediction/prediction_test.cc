#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;

namespace {

nlohmann::json rows_of(const Result& result) {
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return nlohmann::json::parse(result.out).at("rows");
}

/// A ring all-reduce of 10 MB, on 2 to 32 workers.
std::string write_scenario(const TemporaryFolder& folder, const std::string& workers) {
  const std::string file = folder.file("ring" + std::to_string(workers.size()) + ".json");
  write_file(file, R"({"schema_version": 1, "name": "ring", "workload": {"collective":
    "ring-all-reduce", "bytes": "10MB", "repetitions": 2}, "network": {"topology": "star"},
    "executor": "flow", "seeds": [1], "sweep": {"/cluster/workers": )" +
                       workers + "}}");
  return file;
}

}  // namespace

TEST_CASE("reproduce terngrad-chart holds, and writes its report") {
  const TemporaryFolder folder;
  const auto rows = rows_of(
      run_program({"reproduce", "terngrad-chart", "-o", folder.file("out"), "--format", "json"}));
  CHECK(rows.size() == 14);
  int controls = 0;
  for (const auto& row : rows) {
    CHECK(row.at("holds") == true);
    controls += row.at("negative_control") == true;
  }
  CHECK(controls == 4);
  CHECK(read_file(folder.file("out/report.html")).find("<svg") != std::string::npos);
  CHECK(read_file(folder.file("out/bars.csv")).find("VGG-A,TernGrad,512,12583") !=
        std::string::npos);
  // Arithmetic alone: simulations of up to 512 GPUs are only made when they are asked for.
  CHECK_FALSE(std::filesystem::exists(folder.file("out/panel1.svg")));
  const Result both =
      run_program({"reproduce", "terngrad-chart", "--csv", folder.file("out/bars.csv"), "--panel"});
  CHECK(both.exit_code == 2);
  CHECK(both.err.find("--panel") != std::string::npos);
}

TEST_CASE("reproduce terngrad-chart refuses a wrong table with its place") {
  const TemporaryFolder folder;
  write_file(folder.file("c.csv"), "model,method,gpus,images_per_second\na,b,two,3\n");
  const Result result = run_program(
      {"reproduce", "terngrad-chart", "--csv", folder.file("c.csv"), "-o", folder.file("o")});
  CHECK(result.exit_code == 1);
  CHECK(result.err.find("c.csv:2: gpus") != std::string::npos);
}

TEST_CASE("run, fit, predict: what few workers took says what many will") {
  const TemporaryFolder folder;
  const std::string database = folder.file("g.db"), few = write_scenario(folder, "[2, 4, 8]"),
                    many = write_scenario(folder, "[16, 32]");
  REQUIRE(run_program({"run", few, "--db", database, "--no-report", "-q"}).exit_code == 0);
  const auto constants = rows_of(run_program(
      {"fit", "--db", database, "-o", folder.file("ring.fit.json"), "--format", "json"}));
  CHECK(constants.at(0).at("constant") == "bandwidth efficiency");
  CHECK(constants.at(0).at("decided_by") == "points");
  const auto residuals =
      rows_of(run_program({"fit", "--db", database, "--residuals", "--format", "json"}));
  CHECK(residuals.size() == 3);

  const auto predicted =
      rows_of(run_program({"predict", many, "--fit", folder.file("ring.fit.json"), "--db", database,
                           "--format", "json"}));
  const auto filtered = rows_of(run_program(
      {"predict", many, "--filter", "workers<=8", "--db", database, "--format", "json"}));
  CHECK(predicted.at(1).at("step_time_s") == filtered.at(1).at("step_time_s"));
  CHECK(predicted.at(1).at("extrapolated") == true);
  CHECK(predicted.at(1).at("beyond_data") == "workers 4 times the most");
  CHECK(predicted.at(1).at("fitted_to") == "3 simulated points of 2 to 8 workers");
  REQUIRE(run_program({"run", many, "--db", database, "--no-report", "-q"}).exit_code == 0);
  const auto runs = rows_of(
      run_program({"list", "--db", database, "--filter", "workers=32", "--format", "json"}));
  CHECK(runs.at(0).at("step_time_s").get<double>() ==
        Approx(predicted.at(1).at("step_time_s").get<double>()).epsilon(0.05));
}

TEST_CASE("predict --solve answers with an interval, or says what limits") {
  const TemporaryFolder folder;
  const std::string file = write_scenario(folder, "[16]"), database = folder.file("g.db");
  const auto rows = rows_of(run_program({"predict", file, "--db", database, "--solve", "bandwidth",
                                         "--target", "step_time<=10ms", "--format", "json"}));
  // 2 x 15/16 x 10 MB in 10 ms less 30 hops of .11 ms: about 18.75 MB / 6.7 ms / .94 = 24 Gbps.
  CHECK(rows.at(0).at("value").get<double>() == Approx(24e9).epsilon(0.1));
  CHECK(rows.at(0).at("low_90").get<double>() < rows.at(0).at("value").get<double>());
  // Simulated there, within 1 %.
  CHECK(rows.at(0).at("simulations").get<int>() >= 1);
  CHECK(std::abs(rows.at(0).at("simulated_miss").get<double>()) <= 0.01);
  CHECK(rows.at(0).at("provenance") == "simulated");
  const auto alone =
      rows_of(run_program({"predict", file, "--db", database, "--solve", "bandwidth", "--target",
                           "step_time<=10ms", "--unchecked", "--format", "json"}));
  CHECK(alone.at(0).at("simulations") == 0);
  CHECK(alone.at(0).at("provenance") == "predicted");
  const auto never = rows_of(run_program({"predict", file, "--db", database, "--solve", "bandwidth",
                                          "--target", "step_time<=1ms", "--format", "json"}));
  CHECK(never.at(0).at("value").is_null());
  CHECK(never.at(0).at("limit").get<std::string>().find("communication") != std::string::npos);
  const Result wrong = run_program({"predict", file, "--solve", "bandwidth"});
  CHECK(wrong.exit_code == 2);
}

TEST_CASE("predict --solve of one worker searches for workers, and for nothing else") {
  const TemporaryFolder folder;
  const std::string one = write_scenario(folder, "[1]"), database = folder.file("g.db");
  for (const std::string quantity : {"bandwidth", "ratio", "latency"}) {
    const Result refused = run_program({"predict", one, "--db", database, "--solve", quantity,
                                        "--target", "step_time<=10ms", "--unchecked"});
    CHECK(refused.exit_code == 2);
    CHECK(refused.err.find("one worker sends nothing") != std::string::npos);
  }
  const auto answer = [&](const std::string& file) {
    return rows_of(run_program({"predict", file, "--db", database, "--solve", "workers", "--target",
                                "step_time<=165ms", "--unchecked", "--format", "json"}))
        .at(0);
  };
  const auto from_one = answer(one);
  CHECK(from_one.at("workers") == 1);
  // The step of a ring of any size follows from that of two.
  CHECK(from_one.at("value") == answer(write_scenario(folder, "[2]")).at("value"));
  CHECK(from_one.at("value").get<double>() > 1);
}

TEST_CASE("fit takes tables and logs, with stored runs where they are asked for") {
  const TemporaryFolder folder;
  const std::string database = folder.file("g.db");
  const auto path = [](const std::string& name) {
    return source_path("tests/results/points/samples/" + name);
  };
  // No database is needed without runs.
  const Result logs =
      run_program({"fit", "--log", path("all_reduce.txt"), "--bandwidth", "100Gbps", "--delay",
                   "4us", "--db", database, "-o", folder.file("nccl.json"), "--svg",
                   folder.file("r.svg"), "--format", "json"});
  CHECK(rows_of(logs).at(1).at("value").get<double>() == Approx(1.5).epsilon(0.02));
  CHECK(read_file(folder.file("r.svg")).find("measured") != std::string::npos);
  const std::string few = write_scenario(folder, "[2, 4]");
  REQUIRE(run_program({"run", few, "--db", database, "--no-report", "-q"}).exit_code == 0);
  const auto mixed =
      rows_of(run_program({"fit", "--csv", path("steps.csv"), "--filter", "workers<=4", "--db",
                           database, "--residuals", "--format", "json"}));
  REQUIRE(mixed.size() == 5);
  CHECK(mixed.at(0).at("provenance") == "simulated");
  CHECK(mixed.at(4).at("provenance") == "published");

  const Result lone = run_program({"fit", "--log", path("iperf3.json")});
  CHECK(lone.exit_code == 1);
  CHECK(lone.err.find("state its line rate (--bandwidth)") != std::string::npos);
  CHECK(run_program({"fit", "--csv", path("steps.csv"), "--exchange", "rings"}).exit_code == 2);
  CHECK(run_program({"fit", "--csv", path("steps.csv"), "--bandwidth", "10"}).exit_code == 2);
}

TEST_CASE("fit says what a log or table has and is not used, and calls nothing usual that moved") {
  const auto path = [](const std::string& name) {
    return source_path("tests/results/points/samples/" + name);
  };
  const auto says = [](const std::vector<std::string>& arguments, const std::string& what) {
    const Result result = run_program(arguments);
    INFO(result.err);
    CHECK(result.err.find(what) != std::string::npos);
  };
  // Steps that hide most of their messages: an efficiency of 1.26 would explain them.
  const Result moved = run_program({"fit", "--csv", path("throughputs.csv"), "--format", "json"});
  for (const auto& row : rows_of(moved)) {
    if (row.at("constant") != "bandwidth efficiency") continue;
    CHECK(row.at("value").get<double>() <= 1);
    CHECK(row.at("high_90").get<double>() <= 1);
  }
  const auto usual = moved.err.find("usual values are taken");
  const auto line = moved.err.rfind("warning", usual);
  CHECK(moved.err.substr(line, usual - line).find("bandwidth efficiency") == std::string::npos);
  says({"fit", "--log", path("iperf3_target_bitrate.json")}, "170 Mbps");
  says({"fit", "--log", path("nccl_two_single.txt")}, "MPI=1");
  says({"fit", "--log", path("iperf3_stream.jsonl"), "--bandwidth", "1Gbps"}, "938 Mbps arrived");
  for (const char* log : {"nccl_json_g8_32proc.json", "nccl_timestamps.txt", "nccl_pdsh.txt",
                          "nccl_old_allgather.txt", "nccl_alltoall.txt", "nccl_fragment.txt"})
    CHECK(run_program({"fit", "--log", path(log)}).exit_code == 0);
  says({"fit", "--log", path("nccl_json_g8_32proc.json")}, "of 256 workers");
}

TEST_CASE("on a page of 80 columns predict keeps the efficiency and what is beyond the data") {
  const TemporaryFolder folder;
  const std::string database = folder.file("g.db"), few = write_scenario(folder, "[2, 4]");
  REQUIRE(run_program({"run", few, "--db", database, "--no-report", "-q"}).exit_code == 0);
  const Result result = run_program(
      {"predict", write_scenario(folder, "[16, 32]"), "--db", database, "--filter", "workers<=4"},
      "COLUMNS=80 exec \"$@\"");
  INFO(result.out);
  const std::string head = result.out.substr(0, result.out.find("|--"));
  for (const char* column : {"workers", "step", "low", "high", "efficiency", "beyond"})
    CHECK(head.find(column) != std::string::npos);
  CHECK(result.out.find("left out") != std::string::npos);
}

TEST_CASE("predict needs no file, and predicts by the form that is asked for") {
  const TemporaryFolder folder;
  const auto predicted = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"predict", "--db", folder.file("g.db"), "--format", "json"});
    return rows_of(run_program(arguments)).at(0);
  };
  const auto few = predicted({"--set", "/cluster/workers=4"});
  CHECK(few.at("form") == "overlap");
  CHECK(few.at("workers") == 4);
  const auto tree = predicted({"--set", "/cluster/workers=512", "--form", "terngrad-tree"});
  const auto plateau = predicted({"--set", "/cluster/workers=512", "--form", "terngrad-plateau"});
  CHECK(tree.at("form") == "terngrad-tree");
  CHECK(tree.at("low_s").is_null());
  // 25.6 M gradients of 4 B at 10 Gbps and e = .94: 87 ms a message; nine against two of them.
  CHECK(tree.at("step_time_s").get<double>() - plateau.at("step_time_s").get<double>() ==
        Approx(7 * 4 * 25'557'032 / (0.94 * 1.25e9)).epsilon(0.01));
  const auto refused = [](const std::vector<std::string>& arguments) {
    return run_program(arguments).exit_code;
  };
  CHECK(refused({"predict", "--form", "fitted"}) == 2);
  CHECK(refused({"predict", "--form", "tree"}) == 2);
  CHECK(refused({"predict", "--form", "overlap", "--filter", "workers=2"}) == 2);
  CHECK(refused({"predict", "--form", "terngrad-tree", "--solve", "bandwidth", "--target",
                 "efficiency>=0.8"}) == 2);
}

TEST_CASE("predict --model names a layer table, as in advise; bands reckon with what is assumed") {
  const TemporaryFolder folder;
  const auto predicted = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(),
                     {"predict", "--db", folder.file("g.db"), "--format", "json"});
    return rows_of(run_program(arguments)).at(0);
  };
  const auto number = [](const nlohmann::json& row, const char* name) {
    return row.at(name).get<double>();
  };
  // ResNet-50's step from its counts; VGG-16 has 5.4 times the parameters, at 10 Gbps.
  const auto resnet = predicted({}), vgg = predicted({"--model", "vgg16"});
  CHECK(number(vgg, "exposed_s") > 3 * number(resnet, "exposed_s"));
  // V100: compute within what programs on it differ by. Nothing is encoded.
  CHECK(vgg.at("assumed") == "compute 0.663 to 1.51 times what is assumed");
  CHECK(vgg.at("fitted_to").get<std::string>().find("no points") == 0);
  // Compute is most of the step, and the exchange waits for it in part: 51 % more of it is felt.
  CHECK(number(resnet, "high_s") > 1.05 * number(resnet, "step_time_s"));
  CHECK(number(resnet, "low_s") < number(resnet, "step_time_s"));
  // A codec's assumed cost is in the band as well: up to a hundred times.
  const auto topk = predicted({"--set", "/method/name=topk"});
  CHECK(topk.at("assumed").get<std::string>().find("codecs 1 to 100 times") != std::string::npos);
  CHECK(number(topk, "high_s") > number(topk, "step_time_s") + 90 * number(topk, "encode_s"));
  // One worker computes, and that is all: without the 14.4 ms that a step of several adds on a
  // V100.
  const auto lone = predicted({"--set", "/cluster/workers=1"});
  CHECK(number(lone, "exposed_s") == 0);
  CHECK(number(lone, "efficiency") == Approx(1));
  CHECK(number(lone, "step_time_s") ==
        Approx(number(resnet, "step_time_s") * number(resnet, "efficiency") - 14.4e-3));
  CHECK(run_program({"predict", "--model", "terngrad-tree"}).exit_code != 0);
}
