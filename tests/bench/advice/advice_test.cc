#include "bench/advice/advice.h"

#include <catch2/catch.hpp>
#include <map>

using namespace gradwire::bench;

TEST_CASE("Should I compress: verdicts are flow's, and the all-gather rule comes out of times") {
  auto rows = bench_advice({.seed = 3, .cases = 3, .most_workers = 9, .rule_workers = {8}},
                           [](const std::string&) {});
  CHECK(judge(rows));
  std::map<std::string, double> values;
  for (const BenchRow& row : rows) values[row.name] = row.value;
  CHECK(values.at("advice.cases") == 3);
  CHECK(values.at("advice.agree") >= 3);
  CHECK(values.at("advice.candidates") > 300);
  CHECK(values.at("advice.median_error") < 0.01);
  // The negative control: whoever counts bytes alone chooses worse.
  CHECK(values.at("advice.fewest_bytes_agree") < values.at("advice.agree"));
  // An all-gather of eight breaks even at a ratio of 4.
  CHECK(values.at("advice.all_gather.p8.break_even_ratio.flow") == Approx(4).epsilon(0.1));
}
