#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;

namespace {

/// A ring on a slow star: start-up decides, which `model` does not have.
std::string write_ring(const TemporaryFolder& folder) {
  const std::string file = folder.file("ring.json");
  write_file(file, R"({"schema_version": 1, "name": "ring",
    "workload": {"collective": "ring-all-reduce", "bytes": "400kB", "repetitions": 3},
    "cluster": {"workers": 3}, "network": {"link": {"bandwidth": "100Mbps", "delay": "2ms"}},
    "executor": "flow", "seeds": [1]})");
  return file;
}

Result compared(const TemporaryFolder& folder, const std::string& executors,
                std::vector<std::string> more = {}) {
  std::vector<std::string> command = {"compare",  "--executors",
                                      executors,  write_ring(folder),
                                      "--db",     folder.file("c.db"),
                                      "-o",       folder.file("figure"),
                                      "--format", "json"};
  command.insert(command.end(), more.begin(), more.end());
  return run_program(command);
}

void check_rows(const Result& result, const std::string& reference, const std::string& other,
                double most) {
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const auto rows = nlohmann::json::parse(result.out).at("rows");
  REQUIRE(rows.size() == 3);
  for (const auto& row : rows) {
    const double truth = row.at(reference + "_s"), told = row.at(other + "_s");
    CHECK(row.at(other + "_error").get<double>() == Approx(told / truth - 1));
    CHECK(std::abs(told / truth - 1) < most);
  }
}

}  // namespace

TEST_CASE("compare --executors says step by step how far one is from another") {
  const TemporaryFolder folder;
  const Result result = compared(folder, "model,flow", {"--against", "flow"});
  check_rows(result, "flow", "model", 1);
  CHECK_THAT(result.err, Contains("model against flow, 3 steps: median error"));
  CHECK_THAT(read_file(folder.file("figure.svg")), Contains("<svg"));
  CHECK_THAT(read_file(folder.file("figure.csv")), Contains("model"));
  // Stored runs are taken; a gate that the errors miss is the exit code.
  const Result again = compared(folder, "model,flow", {"--against", "flow"});
  CHECK(again.out == result.out);
  CHECK(compared(folder, "model,flow", {"--against", "flow", "--most-error", "0.1"}).exit_code ==
        7);
  CHECK(compared(folder, "model,flow", {"--against", "flow", "--most-error", "99"}).exit_code == 0);
}

TEST_CASE("compare --executors holds flow against ns-3", "[needs-packet]") {
  const TemporaryFolder folder;
  check_rows(compared(folder, "flow,packet"), "packet", "flow", 0.01);
}

TEST_CASE("compare --executors holds simulators against real sockets", "[needs-namespaces]") {
  const TemporaryFolder folder;
  const Result result = compared(folder, "flow,model,emulator");
  if (result.exit_code == 5) skip("no emulator: " + result.err);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("flow against emulator, 3 steps") &&
                             Contains("model against emulator, 3 steps"));
  CHECK(nlohmann::json::parse(result.out).at("rows").size() == 3);
}

TEST_CASE("compare --executors holds a fluid against packets, and says what each cost") {
  const TemporaryFolder folder;
  const Result result = compared(folder, "per-packet,fluid");
  check_rows(result, "per-packet", "fluid", 0.05);
  CHECK_THAT(result.err, Contains("fluid against per-packet, 3 steps") &&
                             Contains("took on this machine: per-packet"));
  const auto runs = nlohmann::json::parse(
      run_program({"list", "--db", folder.file("c.db"), "--format", "json"}).out);
  std::set<std::string> details;
  for (const auto& row : runs.at("rows")) details.insert(row.at("detail"));
  CHECK(details == std::set<std::string>{"fluid", "per-packet"});
}

TEST_CASE("compare --executors refuses what it cannot do") {
  const TemporaryFolder folder;
  const auto fails = [&](const std::string& executors, std::vector<std::string> more,
                         const char* words) {
    const Result result = compared(folder, executors, std::move(more));
    CHECK(result.exit_code == 2);
    CHECK_THAT(result.err, Contains(words));
  };
  fails("flow", {}, "at least two");
  fails("flow,flow", {}, "named twice");
  fails("flow,simgrid", {}, "no executor has that name");
  fails("flow,model", {"--against", "packet"}, "not among");
  fails("flow,model", {"another"}, "one scenario");
  fails("fluid,emulator", {}, "leave the emulator or the details out");
}
