#include "bench/rows/row.h"

#include <catch2/catch.hpp>

using namespace gradwire::bench;
using Catch::Contains;

namespace {

BenchRow lower(const char* name, double value, double bar) {
  return {.name = name, .value = value, .bar = bar, .at_most = false};
}

/// One demand: both shares, or the cycles.
std::vector<BenchRow> demand(double share1, double share2, double cycles) {
  std::vector<BenchRow> rows = {lower("share.t1", share1, .38),
                                lower("share.t2", share2, .58),
                                {.name = "cycles", .value = cycles, .bar = .9}};
  for (BenchRow& row : rows) row.either = "terngrad";
  rows[2].alternative = true;
  return rows;
}

}  // namespace

TEST_CASE("a row without a bar holds nothing up; bars bound from above or from below", "[unit]") {
  std::vector<BenchRow> rows = {{.name = "plain", .value = 7},
                                {.name = "time", .value = 0.4, .unit = "us", .bar = 0.4},
                                lower("share", .9, .9)};
  CHECK(judge(rows));
  CHECK(!rows[0].holds);
  CHECK(rows[1].holds == true);
  CHECK(rows[2].holds == true);
  rows[1].value = 0.401;
  CHECK_FALSE(judge(rows));
  CHECK(rows[1].holds == false);
  CHECK(rows[2].holds == true);
}

TEST_CASE("a demand in two ways holds if either way does, whole", "[unit]") {
  std::vector<BenchRow> by_share = demand(.5, .6, 2.0), by_cycles = demand(.1, .6, .8),
                        neither = demand(.5, .5, 2.0);
  CHECK(judge(by_share));
  CHECK(by_share[2].holds == true);
  CHECK(judge(by_cycles));
  CHECK(by_cycles[0].holds == true);
  CHECK_FALSE(judge(neither));  // one thread's share alone is not enough
  CHECK(neither[0].holds == false);
  std::vector<BenchRow> shares_only = demand(.5, .5, 2.0);
  shares_only.pop_back();
  CHECK_FALSE(judge(shares_only));  // what was not measured does not hold
}

TEST_CASE("rows are written as JSON and Markdown", "[unit]") {
  std::vector<BenchRow> rows = {{.name = "a.b", .value = 1.5, .unit = "GB/s"}, lower("c", .25, .5)};
  judge(rows);
  rows[1].provenance = "simulated";
  rows = labelled(std::move(rows), "measured");
  const std::string json = rows_as_json(rows);
  CHECK_THAT(json, Contains("{\"schema_version\": 1, \"rows\": ["));
  CHECK_THAT(json, Contains("{\"name\": \"a.b\", \"value\": 1.5, \"unit\": \"GB/s\", "
                            "\"bar\": null, \"holds\": null, \"provenance\": \"measured\"}"));
  CHECK_THAT(json, Contains("\"value\": 0.25, \"unit\": \"\", \"bar\": 0.5, \"holds\": false, "
                            "\"provenance\": \"simulated\"}"));
  CHECK_THAT(rows_as_markdown(rows), Contains("| a.b | 1.5 | GB/s |  |  | measured |\n") &&
                                         Contains("| c | 0.25 |  | 0.5 | false | simulated |\n"));
}

TEST_CASE("a row that was skipped says why, and is neither held nor failed", "[unit]") {
  std::vector<BenchRow> rows = {lower("ratio", 0, 20), lower("other", 21, 20)};
  rows[0].skipped = "it was not built";
  CHECK(judge(rows));
  CHECK(!rows[0].holds);
  CHECK(rows[1].holds == true);
  rows = labelled(std::move(rows), "measured");
  CHECK_THAT(rows_as_json(rows),
             Contains("{\"name\": \"ratio\", \"value\": null, \"unit\": \"\", \"bar\": 20, "
                      "\"holds\": null, \"provenance\": \"measured\", "
                      "\"skipped\": \"it was not built\"}"));
  CHECK_THAT(rows_as_markdown(rows), Contains("| ratio | skipped |  | 20 |  | measured |\n"));
  // Negative control: what was measured and does not hold fails.
  rows[0].skipped.clear();
  CHECK_FALSE(judge(rows));
}
