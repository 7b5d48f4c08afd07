#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/temporary_file.h"
#include "tests/cli/program.h"

/// Each method of data parallelism and parameter servers, as a user would run it.
using namespace gradwire;
using namespace gradwire::testing;
using nlohmann::json;

namespace {

/// A method with the update that it is for, and a way that carries it.
struct Case {
  const char* method;
  const char* optimizer;
  const char* collective;
  const char* model = "mlp";
};
constexpr Case kCases[] = {
    {"none", "sgd", "ring"},
    {"dgc", "sgd", "ring"},
    {"terngrad", "sgd", "ring"},
    {"qsgd", "sgd", "ring"},
    {"qsvrg", "sgd", "ring"},
    {"natural", "sgd", "ring"},
    {"dither", "sgd", "ring"},
    {"fastsgd", "sgd", "ring"},
    {"cgx", "sgd", "ring"},
    {"comp-ams", "amsgrad", "parameter-server"},
    {"qcmd", "adagrad-cmd", "parameter-server"},
    {"qrda", "adagrad-rda", "parameter-server"},
    {"mixed-precision", "sgd", "ring"},
    {"qnn", "sgd", "ring"},
    {"admm", "sgd", "ring"},
    {"comet", "sgd", "ring", "lenet5"},
    {"batch-augmentation", "sgd", "ring"},
    {"rigl", "sgd", "ring"},
    {"stc", "sgd", "parameter-server"},
    {"dhqc", "sgd", "parameter-server"},
};

json scenario_of(const Case& given) {
  return {
      {"schema_version", 1},
      {"name", given.method},
      {"workload",
       {{"model", given.model},
        {"data", {{"set", "digits"}}},
        {"batch_per_worker", 16},
        {"steps", 6},
        {"optimizer", {{"name", given.optimizer}, {"lr", 0.01}}},
        {"evaluate_every", 6}}},
      {"method", {{"name", given.method}}},
      {"cluster", {{"workers", 4}, {"device", "reference-cpu"}}},
      {"network", {{"topology", "star"}, {"link", {{"bandwidth", "1Gbps"}, {"delay", "50us"}}}}},
      {"exchange", {{"collective", given.collective}}},
      {"seeds", {1}}};
}

json run_on(const char* executor, const char* threads, json scenario) {
  scenario["executor"] = executor;
  const TemporaryFile file(scenario.dump(), ".json"), database("", ".db");
  const Result result = run_program({"run", file.path(), "--db", database.path(), "--no-report",
                                     "--format", "json", "--threads", threads});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  return json::parse(result.out).at("rows").at(0);
}

}  // namespace

TEST_CASE("each method learns the same on packets and two threads, in as long a time within 2 %",
          "[golden][needs-torch-packet]") {
  require_training();
  require_packets();
  std::string plain;
  for (const Case& given : kCases) {
    INFO(given.method);
    const json flow = run_on("flow", "1", scenario_of(given));
    const json packet = run_on("packet", "2", scenario_of(given));
    const std::string learnt = flow.at("learning_hash");
    CHECK(packet.at("learning_hash") == learnt);
    const double seconds = packet.at("step_time_s");
    CHECK(flow.at("step_time_s").get<double>() == Approx(seconds).epsilon(0.02));
    // The negative control: no method learns what `none` does.
    if (plain.empty())
      plain = learnt;
    else
      CHECK(learnt != plain);
  }
}

TEST_CASE(
    "pipelines learn the same in closed forms, on packets, and with what is remembered in files",
    "[golden][needs-torch-packet]") {
  require_training();
  require_packets();
  for (const char* method : {"none", "aq-sgd"}) {
    INFO(method);
    json scenario = scenario_of({method, "sgd", "ring"});
    scenario["workload"]["data"] = {
        {"set", "gaussian-clusters"}, {"samples", 64}, {"held_out", 50}};
    scenario["workload"]["micro_batches"] = 2;
    scenario["schedule"] = {{"kind", "pipeline"}, {"stages", 2}, {"order", "1f1b"}};
    const json flow = run_on("flow", "1", scenario);
    const std::string learnt = flow.at("learning_hash");
    const json packet = run_on("packet", "2", scenario);
    CHECK(packet.at("learning_hash") == learnt);
    CHECK(flow.at("step_time_s").get<double>() ==
          Approx(packet.at("step_time_s").get<double>()).epsilon(0.1));
    CHECK(run_on("model", "2", scenario).at("learning_hash") == learnt);
    scenario["schedule"]["order"] = "gpipe";
    CHECK(run_on("flow", "2", scenario).at("learning_hash") == learnt);
    // Negative control: other stages of the same model have other boundaries.
    if (method == std::string("none")) continue;
    scenario["schedule"]["cut"] = {2, 1};
    CHECK(run_on("flow", "1", scenario).at("learning_hash") != learnt);
  }
}
