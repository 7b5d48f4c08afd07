#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "tests/cli/program.h"

/// Trained models as files: what a run keeps, and what `evaluate` makes of it.
using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;
using nlohmann::json;

namespace {

json scenario_of(int hidden) {
  return {{"schema_version", 1},
          {"name", "kept"},
          {"workload",
           {{"model", "char-lstm"},
            {"hidden", {hidden}},
            {"data", {{"set", "markov"}, {"tokens", 2560}, {"held_out_tokens", 640}}},
            {"batch_per_worker", 8},
            {"steps", 12},
            {"optimizer", {{"name", "adam"}, {"lr", 0.01}}}}},
          {"cluster", {{"workers", 2}, {"device", "reference-cpu"}}},
          {"seeds", {1, 2}},
          {"sweep", {{"/method", {{{"name", "none"}}, {{"name", "admm"}}}}}}};
}

struct Folder : TemporaryFolder {
  Folder() {
    write_file(file("s.json"), scenario_of(12).dump());
    json wider = scenario_of(16);
    write_file(file("wider.json"), wider.dump());
    wider.erase("sweep");
    wider["seeds"] = {1};
    write_file(file("one.json"), wider.dump());
  }
  Result run(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--db", file("runs.db"), "--format", "json"});
    return run_program(arguments);
  }
  Result evaluate(const std::string& scenario, const std::vector<std::string>& more) const {
    std::vector<std::string> arguments = {"evaluate", file(scenario)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

double figure_of(const Folder& folder, int run, const std::string& name) {
  const json shown = json::parse(folder.run({"show", std::to_string(run)}).out);
  for (const json& metric : shown.at("rows").at(0).at("metrics"))
    if (metric.at("name") == name && metric.at("step") == -1) return metric.at("value");
  FAIL("run " << run << " has no " << name);
  return 0;
}

}  // namespace

TEST_CASE("models are kept, read back and score as in their runs", "[needs-torch]") {
  require_training();
  const Folder folder;
  const std::string models = folder.file("models");
  const Result ran = folder.run({"run", folder.file("s.json"), "--no-report", "--models", models});
  INFO(ran.err);
  REQUIRE(ran.exit_code == 0);
  const auto model = [&](int n) { return models + "/run-" + std::to_string(n) + ".grwm"; };
  const Result scored = folder.evaluate("s.json", {model(1), model(2), model(3), model(4)});
  INFO(scored.err);
  REQUIRE(scored.exit_code == 0);
  const json rows = json::parse(scored.out).at("rows");
  REQUIRE(rows.size() == 4);
  for (int run = 1; run <= 4; ++run) {
    const json& row = rows.at(static_cast<std::size_t>(run) - 1);
    CAPTURE(run, row.dump());
    CHECK(row.at("perplexity").get<double>() == figure_of(folder, run, "perplexity"));
    CHECK(std::exp(row.at("loss").get<double>()) == Approx(row.at("perplexity").get<double>()));
    CHECK(row.at("file_bytes").get<double>() ==
          static_cast<double>(std::filesystem::file_size(model(run))));
  }
  const auto ratio = [&](std::size_t place) { return rows[place].at("size_ratio").get<double>(); };
  CHECK(rows[0].at("method") == "none");
  CHECK(ratio(0) < 1);  // fp32, and names
  CHECK(rows[2].at("method") == "admm");
  CHECK(ratio(2) > 4);
  CHECK(figure_of(folder, 3, "model_file_bytes") == rows[2].at("file_bytes").get<double>());
  const Result shown = run_program({"show", "3", "--db", folder.file("runs.db")});
  CHECK_THAT(shown.out, Contains("the model that it trained lies in " + model(3)));

  // Of another model, damaged, missing, of no run of a sweep.
  const Result wider = folder.evaluate("one.json", {model(3)});
  CHECK(wider.exit_code == 1);
  CHECK_THAT(wider.out,
             Contains("cannot evaluate model file") && Contains("lstm.weight_ih of 64x"));
  const Result several = folder.evaluate("wider.json", {model(3)});
  CHECK(several.exit_code == 2);
  CHECK_THAT(several.out, Contains("none of the scenario's 4 runs trained it") &&
                              Contains("choose one run with --set and --seed"));
  std::string bytes = read_file(model(3));
  bytes[bytes.size() / 2] ^= 1;
  write_file(folder.file("damaged.grwm"), bytes);
  const Result damaged = folder.evaluate("s.json", {folder.file("damaged.grwm")});
  CHECK(damaged.exit_code == 1);
  CHECK_THAT(damaged.out, Contains("damaged.grwm: byte") && Contains("damaged or cut off"));
  CHECK_THAT(folder.evaluate("s.json", {folder.file("no.grwm")}).out,
             Contains("no.grwm: No such file"));
  const Result whole = folder.evaluate("s.json", {folder.file("models")});
  CHECK(whole.exit_code == 2);
  CHECK_THAT(whole.out, Contains("it is a folder") && Contains("name the files in it"));
}

TEST_CASE("a run that trains nothing has no model to keep") {
  const Folder folder;
  const Result refused = folder.run({"run", source_path("scenarios/collective.json"), "--no-report",
                                     "--models", folder.file("models")});
  CHECK(refused.exit_code == 2);
  CHECK_THAT(refused.out, Contains("--models") && Contains("trains no model"));
}
