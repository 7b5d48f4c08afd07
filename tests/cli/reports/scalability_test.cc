#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"
#include "tests/results/scalability/claims.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;

namespace {

/// AlexNet's layer table under two methods; `more`: further members.
std::string write_scenario(const TemporaryFolder& folder, const std::string& more) {
  const std::string file = folder.file("alex.json");
  write_file(file, R"({"schema_version": 1, "name": "alex",
    "workload": {"profile": "alexnet", "batch_per_worker": 32, "steps": 2},
    "cluster": {"workers": 4, "device": "reference-cpu"},
    "network": {"topology": "star", "link": {"bandwidth": "10Gbps", "delay": "50us"}},
    "executor": "flow", "seeds": [1])" +
                       more + "}");
  return file;
}

}  // namespace

TEST_CASE("report --scalability runs what is missing, once, and writes all forms") {
  const TemporaryFolder folder;
  const std::string database = folder.file("g.db"), out = folder.file("out"),
                    file =
                        write_scenario(folder, R"(, "sweep": {"/method/name": ["none", "fp16"]})");
  const std::vector<std::string> command = {"report", "--scalability", file, "--db", database, "-o",
                                            out};
  const Result first = run_program(command);
  INFO(first.err);
  REQUIRE(first.exit_code == 0);
  // One number of workers in the file: 2, 4, 8 and 16 are run, under two methods.
  CHECK_THAT(first.err, Contains("0 runs of alex are stored, 8 more are run now"));
  CHECK_THAT(first.out, Contains("16 workers") && Contains("report: " + out));
  for (const char* name : {"report.html", "report.md", "report.csv", "report.json",
                           "figures/throughput.svg", "figures/throughput.csv"})
    CHECK(read_file(out + "/" + name).size() > 100);
  CHECK_THAT(read_file(out + "/report.md"),
             Contains("gradwire report --scalability " + file + " --db " + database));

  const Result again = run_program(command);
  CHECK_THAT(again.err, Contains("8 stored runs of alex"));
  CHECK(again.out == first.out);

  const Result json = run_program({"report", "--scalability", file, "--db", database, "-o", out,
                                   "--at", "8", "--format", "json"});
  REQUIRE(json.exit_code == 0);
  const auto parsed = nlohmann::json::parse(json.out);
  CHECK(parsed.at("workers") == 8);
  CHECK(parsed.at("validation").size() == 4);  // 8 and 16 of both methods

  const Result filtered =
      run_program({"report", "--scalability", "--filter", "method=none", "--db", database, "-o",
                   folder.file("none"), "--gpu-hour", "2.5", "--epoch-samples", "1281167"});
  REQUIRE(filtered.exit_code == 0);
  CHECK_THAT(read_file(folder.file("none/report.md")), Contains("--filter method=none") &&
                                                           Contains("--epoch-samples 1281167") &&
                                                           Contains("2.50 USD"));

  const Result priced =
      run_program({"report", "--scalability", file, "--db", database, "-o", out, "--set",
                   "/prices/gpu_hour=3", "--set", "/prices/currency=EUR"});
  REQUIRE(priced.exit_code == 0);
  CHECK_THAT(priced.err, Contains("8 stored runs of alex"));  // prices make no other runs
  CHECK_THAT(read_file(out + "/report.md"), Contains("a GPU hour at 3.00 EUR"));
  const Result untrained = run_program(
      {"report", "--scalability", file, "--db", database, "-o", out, "--target-accuracy", "0.9"});
  CHECK(untrained.exit_code == 1);
  CHECK_THAT(untrained.err, Contains("--training-runs"));
}

TEST_CASE("a report quotes the errors on steps that others measured on such devices") {
  const TemporaryFolder folder;
  const std::string out = folder.file("out"), file = write_scenario(folder, "");
  const auto strangers = [&](const char* table, const char* device) {
    const Result result =
        run_program({"report", "--scalability", file, "--db", folder.file("g.db"), "-o", out,
                     "--workers", "2,4", "--set", std::string("/workload/profile=") + table,
                     "--set", std::string("/cluster/device=") + device, "--format", "json"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return nlohmann::json::parse(result.out).at("published_errors");
  };
  const auto near = strangers("resnet50", "v100");
  REQUIRE(near.size() == 1);
  CHECK(near[0].at("device") == "v100");
  CHECK(near[0].at("inside_band").get<double>() > 0);
  CHECK_THAT(read_file(out + "/report.md"),
             Contains("Against steps that others measured") && Contains("resnet50 on v100"));
  CHECK(strangers("alexnet", "reference-cpu").empty());  // the table has times of its own
  CHECK_THAT(read_file(out + "/report.md"), !Contains("Against steps that others measured"));
}

TEST_CASE("one number of workers: a report with its warning; no runs: none") {
  const TemporaryFolder folder;
  const std::string database = folder.file("g.db"), file = write_scenario(folder, "");
  REQUIRE(run_program({"run", file, "--db", database, "--no-report", "-q"}).exit_code == 0);
  const Result one = run_program(
      {"report", "--scalability", file, "--no-run", "--db", database, "-o", folder.file("one")});
  INFO(one.err);
  CHECK(one.exit_code == 0);
  CHECK_THAT(one.err, Contains("all runs have 4 workers") && Contains("cannot show"));
  const Result none = run_program({"report", "--scalability", "--filter", "workers=99", "--db",
                                   database, "-o", folder.file("none")});
  CHECK(none.exit_code == 1);
  CHECK_THAT(none.err, Contains("no run passes"));
  const Result both = run_program({"report", "--scalability", file, "--filter", "workers=4", "--db",
                                   database, "-o", folder.file("both")});
  CHECK(both.exit_code == 2);
  const Result lone = run_program({"report", "--at", "8", "--db", database});
  CHECK(lone.exit_code == 2);
}

TEST_CASE("several workloads are not one report") {
  const TemporaryFolder folder;
  const std::string database = folder.file("g.db"), file = write_scenario(folder, "");
  for (const char* profile : {"alexnet", "resnet50"})
    REQUIRE(run_program({"run", file, "--set", std::string("/workload/profile=") + profile, "--db",
                         database, "--no-report", "-q"})
                .exit_code == 0);
  const Result mixed =
      run_program({"report", "--scalability", "--db", database, "-o", folder.file("out")});
  CHECK(mixed.exit_code == 1);
  CHECK_THAT(mixed.err,
             Contains("several workloads") && Contains("alexnet") && Contains("resnet50"));
}

TEST_CASE("what a report concludes is what its rows show, on nodes and on racks") {
  const TemporaryFolder folder;
  struct Case {
    const char* file;
    const char* target;
    const char* answer;
  };
  // p3: 8 workers share a node, 16 two of them over 25 Gbps: 99.6 % and 39 %. two-tier: a worker
  // sends 51 MB each way of a ring whose racks share 10 Gbps, beside 39 ms of compute.
  for (const Case& one : {Case{"p3", "0.8", "it scales to 8 workers, with 99.6 % (simulated)"},
                          Case{"two-tier", "0.5", "Not even 2 workers have the target"}}) {
    const std::string out = folder.file(one.file);
    const Result result = run_program(
        {"report", "--scalability",
         source_path("tests/cli/reports/samples/" + std::string(one.file) + ".json"), "--set",
         "/workload/batch_per_worker=8", "--db", folder.file(std::string(one.file) + ".db"), "-o",
         out, "--target", one.target, "--format", "json"});
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    const auto report = nlohmann::json::parse(result.out);
    CHECK(refuted_claims(report, {}) == std::vector<std::string>{});
    CHECK_THAT(report.at("answer").at(1).get<std::string>(), Contains(one.answer));
  }
}

TEST_CASE("what cannot be a scalability report is refused before anything is run") {
  const TemporaryFolder folder;
  const Result rounds =
      run_program({"report", "--scalability", source_path("scenarios/federated.json"), "--db",
                   folder.file("g.db"), "-o", folder.file("out")});
  CHECK(rounds.exit_code != 0);
  CHECK_THAT(rounds.err,
             Contains("a round of some clients") && Contains("gradwire report compares"));
  const Result many = run_program({"report", "--scalability", source_path("scenarios/sweep.json"),
                                   "--db", folder.file("g.db"), "-o", folder.file("out")});
  CHECK(many.exit_code != 0);
  CHECK_THAT(many.err, Contains("its sweep makes 48 series, 8 fit on a page"));
}
