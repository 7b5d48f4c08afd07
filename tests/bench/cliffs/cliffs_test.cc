#include "bench/cliffs/cliffs.h"

#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "bench/cliffs/draw.h"
#include "bench/cliffs/shrink.h"
#include "bench/cliffs/stored.h"
#include "bench/cliffs/verdict.h"
#include "scenarios/scenario.h"
#include "sim/packet/packet_executor.h"
#include "tests/skip.h"

using namespace gradwire;
using namespace gradwire::bench;
using nlohmann::ordered_json;

namespace {

bool are_near(const std::vector<double>& values, const std::vector<double>& expected) {
  return std::ranges::equal(values, expected, [](double value, double wanted) {
    return std::abs(value - wanted) <= 1e-6 * wanted;
  });
}

/// Fluid at fair rates: 100 kB over 8 Mbps take 0.1 s.
ordered_json ideal_push(const char* bytes = "100kB") {
  return {{"schema_version", 1},
          {"name", "push"},
          {"workload", {{"collective", "parameter-server"}, {"bytes", bytes}}},
          {"cluster", {{"workers", 2}}},
          {"network",
           {{"topology", "star"},
            {"link", {{"bandwidth", "8Mbps"}, {"delay", "0s"}}},
            {"server_link", {{"bandwidth", "1Gbps"}, {"delay", "0s"}}},
            {"transport", {{"protocol", "ideal"}}}}}};
}

std::vector<Operation> two_steps() {
  return {{0, "push", true, 0.1, 0.3},   // 0.2 by itself
          {0, "push", true, 0.2, 0.6},   // 0.4
          {1, "pull", true, 1.0, 1.1},   // 0.1
          {1, "add", false, 1.2, 1.3}};  // 0.1, no transfer
}

Verdict verdict_of(CliffKind kind, double flow, double packet, double error = 0) {
  Verdict verdict;
  verdict.kind = kind;
  verdict.flow.mean = flow;
  verdict.packet.mean = packet;
  verdict.packet.error = error;
  return verdict;
}

std::string stored_line(double mean, int operations, const std::string& name) {
  return ordered_json{{"name", name},
                      {"scenario", ideal_push()},
                      {"packet", {{"mean", mean}, {"se", 0}, {"n", operations}, {"k", 1}}}}
             .dump() +
         "\n";
}

BenchRow row_of(const CliffsResult& result, const std::string& name) {
  for (const BenchRow& row : result.rows)
    if (row.name == name) return row;
  FAIL("there is no row " + name);
  return {};
}

}  // namespace

TEST_CASE("Times count from an operation's start, its step's first, or the run's", "[unit]") {
  Measure measure;
  CHECK(times_of(two_steps(), measure).size() == 4);
  measure.transfers_alone = true;
  measure.only = "^pu";
  CHECK(are_near(times_of(two_steps(), measure), {0.2, 0.4, 0.1}));
  measure.since = Measure::Since::kFirst;
  CHECK(are_near(times_of(two_steps(), measure), {0.2, 0.5, 0.1}));
  measure.since = Measure::Since::kRun;
  CHECK(are_near(times_of(two_steps(), measure), {0.2, 0.5, 1.0}));
}

TEST_CASE("A scenario is off by the bar of its kind, and beyond ns-3's own spread", "[unit]") {
  CHECK_FALSE(verdict_of(CliffKind::kClean, 1.09, 1).is_off());
  CHECK(verdict_of(CliffKind::kClean, 1.11, 1).is_off());
  CHECK(verdict_of(CliffKind::kClean, 0.89, 1).is_off());
  Verdict chaotic = verdict_of(CliffKind::kClean, 1.2, 1);
  chaotic.spread = 0.3;
  CHECK_FALSE(chaotic.is_off());
  CHECK(chaotic.is_close());
  // 20 % are 4 standard errors of 5 %, and 6.7 of 3 %.
  CHECK_FALSE(verdict_of(CliffKind::kChance, 1.2, 1, 0.05).is_off());
  CHECK(verdict_of(CliffKind::kChance, 1.2, 1, 0.03).is_off());
  CHECK_FALSE(verdict_of(CliffKind::kChance, 1.14, 1, 0.001).is_off());
  CHECK(verdict_of(CliffKind::kChance, 1.14, 1, 0.05).is_close());     // 2.8
  CHECK_FALSE(verdict_of(CliffKind::kChance, 1.14, 1, 0).is_close());  // one seed: no known chance
  CHECK(verdict_of(CliffKind::kChance, 1.04, 1, 0).is_close());
  CHECK(verdict_of(CliffKind::kCell, 1.16, 1).is_off());
  CHECK_FALSE(verdict_of(CliffKind::kCell, 1.14, 1).is_off());
  Verdict cell = verdict_of(CliffKind::kCell, 1.25, 1);
  cell.spread = 0.2;
  CHECK(cell.is_off());
  cell.spread = 0.3;
  CHECK_FALSE(cell.is_off());
  CHECK(cell.is_close());
  CHECK(verdict_of(CliffKind::kClean, INFINITY, 1).is_off());
  CHECK_FALSE(verdict_of(CliffKind::kClean, 0, 0).is_off());  // nothing takes time
}

TEST_CASE("What is drawn in a scenario makes it one of chance", "[unit]") {
  ordered_json scenario = ideal_push();
  CHECK(kind_of(scenario) == CliffKind::kClean);
  scenario["network"]["link"]["loss"] = 0;
  CHECK(kind_of(scenario) == CliffKind::kClean);
  scenario["network"]["link"]["loss"] = 0.01;
  CHECK(kind_of(scenario) == CliffKind::kChance);
  scenario["network"]["link"].erase("loss");
  scenario["network"]["transport"]["congestion_control"] = "bbr";
  CHECK(kind_of(scenario) == CliffKind::kChance);
  scenario["network"]["topology"] = "lte-cell";
  CHECK(kind_of(scenario) == CliffKind::kCell);
}

TEST_CASE("Scenarios are drawn from the seed, and most can be read", "[unit]") {
  int readable = 0;
  for (int number = 0; number < 100; ++number) {
    const ordered_json scenario = draw_scenario(1, number);
    CHECK(scenario == draw_scenario(1, number));
    CHECK(scenario != draw_scenario(2, number));
    try {
      scenarios::read_scenario_text(scenario.dump(), "drawn.json");
      ++readable;
    } catch (const Error&) {
    }
  }
  CHECK(readable >= 70);
}

TEST_CASE("A scenario is made smaller for as long as it shows what it did", "[unit]") {
  ordered_json scenario = ideal_push("64kB");
  scenario["cluster"] = {{"workers", 32}, {"stragglers", {{{"worker", 1}, {"factor", 2}}}}};
  scenario["network"]["link"]["loss"] = 0.01;
  scenario["network"]["link"]["jitter"] = "2ms";
  // It takes five workers or more and the loss.
  const auto shows = [](const ordered_json& candidate) {
    return candidate["cluster"].value("workers", 0) >= 5 &&
           candidate["network"]["link"].contains("loss");
  };
  const ordered_json small = shrink(scenario, shows);
  CHECK(small["cluster"] == ordered_json{{"workers", 8}});  // 32, 16, 8; 4 are too few
  CHECK(small["network"]["link"] ==
        ordered_json{{"bandwidth", "8Mbps"}, {"delay", "0us"}, {"loss", 0.01}});
  CHECK(small["workload"]["bytes"] == "1B");
  CHECK_FALSE(small["network"].contains("transport"));
  CHECK_FALSE(small["network"].contains("server_link"));
  // Negative control: where nothing smaller shows it, it stays as it was.
  CHECK(shrink(scenario, [](const ordered_json&) { return false; }) == scenario);
}

TEST_CASE("Transfers are halved, and hosts that nobody uses go", "[unit]") {
  ordered_json scenario = {{"workload", {{"transfers", ordered_json::array()}}},
                           {"network",
                            {{"topology", "explicit"},
                             {"hosts", ordered_json::array()},
                             {"links", ordered_json::array()}}}};
  for (int i = 0; i < 8; ++i) {
    const std::string host = "h" + std::to_string(i);
    scenario["network"]["hosts"].push_back(host);
    scenario["network"]["links"].push_back({{"a", host}, {"b", "s"}});
    if (i > 0)
      scenario["workload"]["transfers"].push_back({{"from", host}, {"to", "h0"}, {"bytes", "1kB"}});
  }
  const ordered_json small = shrink(scenario, [](const ordered_json& candidate) {
    for (const ordered_json& each : candidate["workload"]["transfers"])
      if (each["from"] == "h5" && candidate["network"]["hosts"].size() >= 2) return true;
    return false;
  });
  CHECK(small["network"]["hosts"] == ordered_json{"h0", "h5"});
  CHECK(small["workload"]["transfers"].size() == 1);
  CHECK(small["network"]["links"].size() == 2);
}

TEST_CASE("Shifted starts are up to two microseconds later, and drawn", "[unit]") {
  ordered_json scenario = {
      {"workload",
       {{"transfers", {{{"from", "a"}, {"to", "b"}, {"bytes", "1kB"}, {"start", "1ms"}}}}}}};
  const auto start = [&](std::uint64_t shift) {
    const ordered_json shifted = with_shifted_starts(scenario, shift);
    return parse_duration(shifted["workload"]["transfers"][0]["start"].get<std::string>()).value();
  };
  CHECK(start(1) >= 1e-3);
  CHECK(start(1) <= 1e-3 + 2e-6);
  CHECK(start(1) == start(1));
  CHECK(start(1) != start(2));
  // Workers who are to send together compute for as long first.
  const ordered_json pushed = with_shifted_starts(ideal_push(), 1);
  CHECK(pushed["workload"]["compute"] == "2us");
  CHECK_NOTHROW(scenarios::read_scenario_text(pushed.dump(), "shifted.json"));
}

TEST_CASE("Operations of a scenario are those that a run of it has", "[unit]") {
  const auto file = scenarios::read_scenario_text(ideal_push().dump(), "push.json");
  const auto operations = run_operations(file.runs.at(0), "flow", 1);
  Measure measure;
  CHECK(are_near(times_of(operations, measure), {0.1, 0.1, 0.1, 0.1}));
  measure.only = "^pull$";
  CHECK(times_of(operations, measure).size() == 2);
}

TEST_CASE("Stored scenarios agree with their times, or do not", "[unit]") {
  const auto cases = read_stored_cases(stored_line(0.1, 2, "a pull"), "cases");
  REQUIRE(cases.size() == 1);
  const auto file = scenarios::read_scenario_text(cases[0].scenario.dump(), "push.json");
  const auto operations = run_operations(file.runs.at(0), "flow", 1);
  // Four operations, the reference has two: the case's name says which.
  CHECK(fitted_measure(cases[0], operations).only == "^pull$");
  CHECK_THROWS_AS(read_stored_cases("{\"name\": 1}\n", "cases"), Error);
  CHECK_THROWS_AS(read_stored_cases("no JSON\n", "cases"), Error);

  const TemporaryFile stored("");
  CliffsOptions options;
  options.cases_file = stored.path();
  options.folder = ".";
  const Say quiet = [](const std::string&) {};
  write_file(stored.path(), stored_line(0.1, 4, "all") + stored_line(0.1, 2, "push alone"));
  CliffsResult result = bench_cliffs(options, quiet);
  CHECK(judge(result.rows));
  CHECK(row_of(result, "cliffs.stored.close").value == 1);
  // Negative control: a scenario that has another number of operations is not compared.
  write_file(stored.path(), stored_line(0.1, 3, "three"));
  result = bench_cliffs(options, quiet);
  CHECK_FALSE(judge(result.rows));
  CHECK(row_of(result, "cliffs.stored.not_compared").value == 1);
}

TEST_CASE("packet's times of stored scenarios are recorded anew", "[unit][needs-packet]") {
  const std::string program = sim::packet_program(sim::ExecutorOptions{});
  if (::access(program.c_str(), X_OK) != 0)
    gradwire::testing::skip(program + " was not built (ns-3 is absent)");
  ordered_json tcp = ideal_push();
  tcp["network"].erase("transport");
  const auto line = [&](const char* name) {
    return ordered_json{{"name", name},
                        {"scenario", tcp},
                        {"packet", {{"mean", 7.0}, {"se", 0}, {"n", 4}, {"k", 1}}}}
               .dump() +
           "\n";
  };
  const TemporaryFile stored(line("one") + line("other")), recorded("");
  CliffsOptions options;
  options.cases_file = stored.path();
  options.record_file = recorded.path();
  options.only = "one";
  options.folder = ".";
  const CliffsResult result = bench_cliffs(options, [](const std::string&) {});
  CHECK(row_of(result, "cliffs.stored.close").value == 1);
  const auto cases = read_stored_cases(read_file(recorded.path()), "recorded");
  REQUIRE(cases.size() == 2);
  // 100 kB and 6 % of headers over 8 Mbps, each way: 106 ms, and 3 % of acknowledgements at most.
  CHECK(cases[0].packet.mean > 0.106);
  CHECK(cases[0].packet.mean < 0.112);
  CHECK(cases[1].packet.mean == 7);  // not asked for
}
