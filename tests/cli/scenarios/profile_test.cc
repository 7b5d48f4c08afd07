#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::testing;
using Catch::Contains;

TEST_CASE("profile refuses what it cannot measure", "[unit]") {
  const Result unknown = run_program({"profile", "lenet"});
  CHECK(unknown.exit_code == 2);
  CHECK_THAT(unknown.err, Contains("did you mean lenet5?"));
  const Result table = run_program({"profile", "resnet50"});
  CHECK(table.exit_code == 2);
  CHECK_THAT(table.err, Contains("no operations to run") && Contains("TorchScript"));
  CHECK(run_program({"profile"}).exit_code == 2);
  CHECK(run_program({"profile", "mlp", "--batch", "0"}).exit_code == 2);
  CHECK(run_program({"profile", "mlp", "--device", "tpu"}).exit_code == 2);
  CHECK_THAT(run_program({"profile", "mlp", "--method", "terngard"}).err,
             Contains("there is no such codec"));
  CHECK(run_program({"profile", "mlp", "--as", "device", "--counts"}).exit_code == 2);
}

TEST_CASE("profile measures a model by layer and bucket, and what it stores runs",
          "[unit][needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  const Result result = run_program({"profile", "logistic", "--batch", "16", "--method", "fp16",
                                     "-o", folder.file("logistic.json"), "--format", "json"});
  INFO(result.err);
  REQUIRE(result.exit_code == 0);
  CHECK_THAT(result.err, Contains("stored in"));
  bool layer = false, bucket = false;
  const auto json = nlohmann::json::parse(result.out);
  for (const auto& row : json["rows"]) {
    CHECK(row["provenance"] ==
          (row["part"] == "layer" && row["forward_s"].is_null() ? "counted" : "measured"));
    if (row["part"] == "layer" && row["elements"] == 650) {
      layer = true;
      CHECK(row["forward_s"].get<double>() > 0);
      CHECK(row["flops_per_sample"] == 2 * 640);
    }
    if (row["part"] == "bucket") {
      bucket = true;
      CHECK(row["encode_s"].get<double>() > 0);
      CHECK(row["decode_s"].get<double>() > 0);
    }
  }
  CHECK(layer);
  CHECK(bucket);
  write_file(folder.file("scenario.json"), R"({"schema_version": 1, "name": "again",
    "workload": {"profile": "./logistic.json", "steps": 2}, "cluster": {"device": "reference-cpu"}})");
  const Result run =
      run_program({"run", folder.file("scenario.json"), "--db", folder.file("a.db")});
  INFO(run.err);
  CHECK(run.exit_code == 0);
}

TEST_CASE("profile counts without measuring", "[unit][needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  const Result result =
      run_program({"profile", "mlp", "--counts", "--name", "mine", "-o", folder.file("mlp.json")});
  REQUIRE(result.exit_code == 0);
  const auto json = nlohmann::json::parse(read_file(folder.file("mlp.json")));
  CHECK(json["source"] == "computed");
  CHECK(json["name"] == "mine");
  CHECK_FALSE(json["layers"][0].contains("forward_s_per_sample"));
  write_file(folder.file("scenario.json"), R"({"schema_version": 1, "name": "counted",
    "workload": {"profile": "./mlp.json", "steps": 2}, "cluster": {"device": "v100"}})");
  CHECK(run_program({"validate", folder.file("scenario.json")}).exit_code == 0);
}
