// Every figure that a command prints says, or is known to have, where it comes from.
#include <catch2/catch.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "results/runs/figure_origin.h"
#include "tests/cli/program.h"
#include "tests/skip.h"

using namespace gradwire;
using namespace gradwire::testing;
using nlohmann::json;

namespace {

/// ResNet-50's layers on an assumed GPU, two methods on two sizes: nothing is measured.
constexpr const char* kReplay = R"({"schema_version": 1, "name": "replay",
    "workload": {"profile": "resnet50", "batch_per_worker": 32, "steps": 3},
    "cluster": {"workers": 4, "device": "v100"},
    "network": {"link": {"bandwidth": "10Gbps", "delay": "50us"}},
    "sweep": {"/method": [{"name": "none"}, {"name": "topk", "ratio": 0.05}],
              "/cluster/workers": [2, 4, 8, 16]}})";
constexpr const char* kRounds = R"({"schema_version": 1, "name": "rounds", "workload": {"federated":
      {"download": "1MB", "upload": "1MB", "deadline": "3s"}, "repetitions": 2},
      "cluster": {"workers": 4, "stragglers": [{"worker": 2, "factor": 3}]},
      "network": {"link": {"bandwidth": "20Mbps", "delay": "5ms"},
                  "server_link": {"bandwidth": "1Gbps", "delay": "1ms"}}})";

class Database {
 public:
  Result run(const std::string& scenario) {
    write_file(folder_.file("scenario.json"), scenario);
    return call({"run", folder_.file("scenario.json"), "-q"});
  }
  Result call(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--db", folder_.file("runs.db")});
    Result result = run_program(arguments);
    INFO(result.err);
    REQUIRE(result.exit_code == 0);
    return result;
  }
  json rows(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    return json::parse(call(std::move(arguments)).out).at("rows");
  }
  std::string file(const std::string& name) const { return folder_.file(name); }

 private:
  TemporaryFolder folder_;
};

/// Whether the row names the provenance of a figure whose origin is left to it.
bool states(const json& row, std::string_view column) {
  const auto found = row.find(column);
  return found != row.end() && found->is_string() && !found->get<std::string>().empty();
}

/// Names of numbers that the table of origins lacks, or leaves to a row that says nothing.
void add_unlabelled(const json& row, std::set<std::string>& names) {
  for (const auto& [name, value] : row.items()) {
    if (!value.is_number()) continue;
    const results::FigureOrigin* found = results::find_origin(name);
    const bool by_row = found && found->origin == results::Origin::kAsStated;
    if (!found || (by_row && !states(row, found->stated_by))) names.insert(name);
  }
}

std::set<std::string> unlabelled(const json& rows) {
  std::set<std::string> names;
  for (const json& row : rows) {
    add_unlabelled(row, names);
    if (row.contains("metrics"))
      for (const json& metric : row.at("metrics")) add_unlabelled(metric, names);
  }
  return names;
}

const std::set<std::string> kNone;

std::map<std::string, json> metrics_of(Database& database, const std::string& run) {
  std::map<std::string, json> metrics;
  const json rows = database.rows({"show", run});
  for (const json& metric : rows.at(0).at("metrics"))
    if (metric.at("step") == -1) metrics[metric.at("name")] = metric;
  return metrics;
}

}  // namespace

TEST_CASE("figures: each that a command prints has an origin", "[unit]") {
  Database database;
  const Result ran = database.run(kReplay);
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"list"},
           {"show", "1", "5"},
           {"export", "1", "--what", "steps"},
           {"export", "1", "--what", "metrics"},
           {"export", "1", "--what", "timeline"},
           {"export", "1", "--what", "links"},
           {"export", "--what", "runs"},
           {"predict"},
           {"fit"},
           {"fit", "--residuals"},
           {"predict", "--solve", "bandwidth", "--target", "efficiency>=0.8", "--unchecked"},
           {"plan", database.file("scenario.json")}}) {
    CAPTURE(command);
    const json rows = database.rows(command);
    CHECK(rows.size() > 0);
    CHECK(unlabelled(rows) == kNone);
  }
  // Negative controls: numbers that nobody accounts for, here or in a row with another's label.
  using Names = std::set<std::string>;
  CHECK(unlabelled(json::array({{{"name", "x"}, {"speedup_of_unknown_source", 3.0}}})) ==
        Names{"speedup_of_unknown_source"});
  CHECK(unlabelled(json::array({{{"speedup", 3.0}, {"provenance", "measured"}}})) ==
        Names{"speedup"});
  CHECK(unlabelled(json::array({{{"name", "x"}, {"value", 3.0}}})) == Names{"value"});
  CHECK(unlabelled(json::array({{{"value", 3.0}, {"provenance", "measured"}}})) == kNone);
  CHECK(unlabelled(json::array({{{"accuracy_difference", 0.1}, {"provenance", "predicted"}}})) ==
        Names{"accuracy_difference"});
  // In the report each drawing carries its own line.
  const std::string report = read_file(database.file("gradwire-report/replay.html"));
  std::size_t drawings = 0, labels = 0;
  for (std::size_t at = 0; (at = report.find("<svg xmlns", at)) != std::string::npos; ++at)
    ++drawings;
  for (std::size_t at = 0; (at = report.find("time predicted", at)) != std::string::npos; ++at)
    ++labels;
  for (std::size_t at = 0; (at = report.find("time simulated", at)) != std::string::npos; ++at)
    ++labels;
  CHECK(drawings > 0);
  CHECK(labels >= drawings);
}

TEST_CASE("figures: forecasts, advice, costs and benchmarks say where theirs come from", "[unit]") {
  Database database;
  const std::vector<std::string> advise = {"advise", "--closed-form", "--workers", "4,8"};
  const auto advised = [&](std::vector<std::string> more) {
    std::vector<std::string> all = advise;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           advise,
           advised({"--verify", "1", "--show", "verdict"}),
           advised({"--verify", "1", "--show", "ranking", "--collective", "ring"}),
           advised({"--show", "crossover"}),
           advised({"--show", "cost", "--gpu-hour", "2.5", "--epoch-samples", "1000"}),
           {"plan", source_path("scenarios/collective.json"), "--executor", "packet"},
           {"reproduce", "terngrad-chart", "-o", database.file("chart")},
           {"bench", "codecs", "--codecs", "fp16", "--sizes", "4KiB", "--threads", "1",
            "--no-twins"}}) {
    CAPTURE(command);
    const json rows = database.rows(command);
    CHECK(rows.size() > 0);
    CHECK(unlabelled(rows) == kNone);
  }
  // Tables of profiles and calibrations state it in each row.
  for (const char* name : {"forward_s", "encode_s", "encode_s_per_element", "rate", "reference_s"})
    CHECK(results::origin_of(name) == results::Origin::kAsStated);
  // A forecast is not what a clock said, though it is of the same time.
  CHECK(results::origin_of("forecast_s") == results::Origin::kPredicted);
  CHECK(results::origin_of("wall_s") == results::Origin::kMeasured);
  const json row =
      database.rows({"plan", source_path("scenarios/collective.json"), "--executor", "packet"})
          .at(0);
  CHECK(row.contains("forecast_s"));
  CHECK_FALSE(row.contains("wall_s"));
}

TEST_CASE("figures: emulate labels what it emulated, and its twin", "[net][needs-namespaces]") {
  const TemporaryFolder folder;
  write_file(folder.file("ring.json"), R"({"schema_version": 1, "name": "ring",
      "workload": {"collective": "ring-all-reduce", "bytes": "100kB", "repetitions": 2},
      "cluster": {"workers": 2},
      "network": {"link": {"bandwidth": "200Mbps", "delay": "0us"}}})");
  const Result result = run_program({"emulate", folder.file("ring.json"), "--no-report", "--db",
                                     folder.file("a.db"), "--format", "json"});
  constexpr int kNoCapability = 5;
  if (result.exit_code == kNoCapability) skip("no network namespaces: " + result.err);
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  const json rows = json::parse(result.out).at("rows");
  REQUIRE(rows.size() == 1);
  CHECK(unlabelled(rows) == kNone);
  CHECK_THAT(rows.at(0).at("provenance").get<std::string>(), Catch::Contains("emulated"));
}

TEST_CASE("figures: show labels each with where it comes from", "[unit]") {
  Database database;
  database.run(kReplay);
  const auto metrics = metrics_of(database, "2");
  const auto label = [&](const char* name) { return metrics.at(name).at("provenance"); };
  for (const char* given : {"summary_bandwidth_bytes_per_s", "summary_path_delay_s",
                            "summary_path_loss", "summary_overlap", "summary_group"})
    CHECK(label(given) == "given");
  CHECK(label("summary_forward_s") == "assumed");  // v100's peaks are
  CHECK(label("summary_message_bytes") == "predicted");
  CHECK(label("step_time_s") == "simulated");
  CHECK(label("wall_s") == "measured");
  const std::string text = database.call({"show", "2"}).out;
  CHECK(text.find("bandwidth_bps        10.0 Gbps  (given)") != std::string::npos);
  CHECK(text.find("step_time_s") != std::string::npos);
  // All that takes time by hand is the scenario's own.
  Database rounds;
  rounds.run(kRounds);
  CHECK(metrics_of(rounds, "1").at("payload_bytes").at("provenance") == "given");
}

TEST_CASE("figures: a message's ratio stays, the traffic's grows with the workers", "[unit]") {
  // top-k of 5 % sends 8 B for 5 % of 4 B values: 0.1 a message. Each of N workers gets N - 1 of
  // them, where a ring of sums carries 2 (N - 1) / N of the gradient: N / 2 times the share.
  Database database;
  database.run(kReplay);
  for (const json& run : database.rows({"list"})) {
    CAPTURE(run);
    const double workers = run.at("workers");
    const bool dense = run.at("method") == "none";
    CHECK(run.at("compression_ratio").get<double>() == Approx(dense ? 1 : 0.1).epsilon(0.01));
    CHECK(run.at("traffic_ratio").get<double>() ==
          Approx(dense ? 1 : 0.1 * workers / 2).epsilon(0.02));
    CHECK_FALSE(run.contains("ratio"));
  }
}

TEST_CASE("figures: run numbers are no figures to compare", "[unit]") {
  Database database;
  database.run(kReplay);
  const std::string text = database.call({"compare", "1", "3"}).out;
  CHECK(text.find("| id ") == std::string::npos);
  CHECK(text.find("step_time_s") != std::string::npos);
  for (const json& row : database.rows({"compare", "1", "3"})) {
    // Numbers that are figures say where they come from; a run's number is none.
    if (row.at("values").at(0).is_number()) {
      CAPTURE(row);
      const auto origin = results::origin_of(row.at("name").get<std::string>());
      REQUIRE(origin);
      CHECK(row.at("origin").is_string() == (origin != results::Origin::kNoFigure));
    }
    const bool number = row.at("name") == "id";
    if (number) CHECK(row.at("factors") == json::array({nullptr, nullptr}));
    if (row.at("name") == "workers") CHECK(row.at("factors").at(1) == 4.0);
  }
}

TEST_CASE("figures: a round's report says how many updates its deadline dropped", "[unit]") {
  // Worker 2 takes 0.4 + 3 + 0.4 s: late in both rounds, 2 of 8 updates.
  Database database;
  const std::string words = "of 8 updates asked for the deadline dropped 2 (25 %)";
  CHECK(database.run(kRounds).out.find(words) != std::string::npos);
  const std::string report = read_file(database.file("gradwire-report/rounds.html"));
  CHECK(report.find("f 8 updates asked for the deadline dropped 2 (25 %)") != std::string::npos);
}

TEST_CASE("figures: a negative control that misses its mark fails, as it must", "[unit]") {
  const TemporaryFolder folder;
  const std::vector<std::string> command = {"reproduce", "terngrad-chart", "-o",
                                            folder.file("chart")};
  std::vector<std::string> wide = command;
  wide.emplace_back("--wide");
  const std::string text = run_program(wide).out;
  CHECK(text.find("fails, as it must") != std::string::npos);
  std::vector<std::string> machine = command;
  machine.insert(machine.end(), {"--format", "json"});
  bool controls = false;
  const json rows = json::parse(run_program(machine).out).at("rows");
  for (const json& row : rows) {
    if (row.at("negative_control") != true) continue;
    controls = true;
    CHECK(row.at("holds") == true);
  }
  CHECK(controls);
}
