#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace gradwire::testing;
using Catch::Contains;

TEST_CASE("bench codecs prints rows in the form of all benchmarks", "[unit]") {
  const Result result = run_program({"bench", "codecs", "--codecs", "fp16", "--sizes", "4KiB",
                                     "--threads", "1", "--no-twins", "--format", "json"});
  CHECK(result.exit_code == 0);  // no bar for this codec and size
  const auto table = nlohmann::json::parse(result.out);
  CHECK(table.at("schema_version") == 1);
  bool found = false;
  for (const auto& row : table.at("rows")) {
    CHECK(row.contains("value"));
    CHECK(row.contains("unit"));
    CHECK(row.at("bar").is_null());
    CHECK(row.at("holds").is_null());
    found = found || row.at("name") == "codecs.fp16.decode_add.4KiB.t1.speed";
  }
  CHECK(found);
}

TEST_CASE("bench codecs shows people a table, and what instruction set it used",
          "[unit][needs-x86]") {
  const Result result =
      run_program({"bench", "codecs", "--codecs", "fp16", "--sizes", "4KiB", "--threads", "1",
                   "--no-twins", "--instructions", "sse2", "--format", "markdown"});
  if (result.exit_code == 2) skip("the processor is not x86: " + result.err);
  CHECK_THAT(result.out,
             Contains("Instruction set sse2") && Contains("| fp16 ") && Contains(" decode_add |"));
}

TEST_CASE("bench fidelity finds the shipped traces from any folder", "[unit][needs-packet]") {
  require_packets();
  const Result result =
      run_program({"bench", "fidelity", "--regime", "mobile", "--cases", "1", "--format", "json"},
                  "cd / && exec \"$@\"");
  INFO(result.err);
  CHECK((result.exit_code == 0 || result.exit_code == 7));  // 7: the bar of 10 cases, on 4
  double cases = 0, errors = 0;
  const auto table = nlohmann::json::parse(result.out);
  for (const auto& row : table.at("rows")) {
    if (row.at("name") == "fidelity.mobile.cases") cases = row.at("value");
    if (row.at("name") == "fidelity.mobile.median_error") errors += 1;
  }
  CHECK(cases == 4);  // one for each shipped trace: train and walk, up and down
  CHECK(errors == 1);
  // Negative control: a folder without traces is refused by name.
  const Result none = run_program({"bench", "fidelity", "--regime", "mobile", "--traces", "/"});
  CHECK(none.exit_code == 2);
  CHECK_THAT(none.err, Contains(".up or .down"));
}

TEST_CASE("bench methods gives a method's work beside LibTorch's and its share of a step") {
  const Result result = run_program({"bench", "methods", "--methods", "rigl", "--format", "json"});
  if (result.exit_code == 5) skip("no training in this build: " + result.err);
  INFO(result.err);
  CHECK(result.exit_code == 0);  // rigl has no bar
  std::map<std::string, double> values;
  const auto table = nlohmann::json::parse(result.out);
  for (const auto& row : table.at("rows")) values[row.at("name")] = row.at("value");
  const std::string stem = "methods.rigl.m10.n8.";
  REQUIRE(values.size() == 5);
  CHECK(values.at(stem + "own_work") > 0);
  CHECK(values.at(stem + "share_of_step") ==
        Approx(values.at(stem + "own_work") /
               (values.at(stem + "own_work") + values.at(stem + "passes"))));
  // A median of ratios is not the ratio of medians, but near it.
  const double medians = values.at(stem + "torch_work") / values.at(stem + "own_work");
  CHECK(values.at(stem + "ratio_to_torch") > medians / 3);
  CHECK(values.at(stem + "ratio_to_torch") < medians * 3);
  const Result unknown = run_program({"bench", "methods", "--methods", "terngard"});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, Contains("did you mean terngrad"));
}

TEST_CASE("what cannot be measured is refused with exit code 2", "[unit]") {
  CHECK(run_program({"bench"}).exit_code == 2);
  CHECK(run_program({"bench", "nothing"}).exit_code == 2);
  const Result unknown = run_program({"bench", "codecs", "--codecs", "fp61"});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, Contains("fp61") && Contains("fp16"));
  const Result set = run_program({"bench", "codecs", "--instructions", "mmx"});
  CHECK(set.exit_code == 2);
  CHECK_THAT(set.err, Contains("mmx") && Contains("best"));
  CHECK(run_program({"bench", "codecs", "--sizes", "3B"}).exit_code == 2);
  CHECK(run_program({"bench", "codecs", "--sizes", "4096"}).exit_code == 2);  // no unit
}

TEST_CASE("doctor names the instruction set of the codecs", "[unit]") {
  CHECK_THAT(run_program({"doctor"}).out, Contains("codecs' instruction set"));
}
