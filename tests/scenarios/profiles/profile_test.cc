#include "scenarios/profiles/profile.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "base/temporary_file.h"
#include "compressors/codec.h"
#include "scenarios/methods.h"
#include "scenarios/share.h"
#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;
using Catch::Contains;

namespace {

std::string write(const TemporaryFolder& folder, const std::string& name, const std::string& text) {
  write_file(folder.file(name), text);
  return folder.file(name);
}

}  // namespace

TEST_CASE(
    "the reference device has every model and every gradient codec, and says that it is assumed",
    "[unit]") {
  const DeviceProfile profile = load_device_profile("reference-cpu", "");
  CHECK(profile.origin.source == "assumed");
  for (const char* model : {"logistic", "mlp", "lenet5", "resnet20", "char-lstm", "transformer"}) {
    REQUIRE(profile.models.contains(model));
    CHECK(profile.models.at(model).backward.time(32) > profile.models.at(model).forward.time(32));
  }
  for (const auto& codec : compressors::codec_catalogue()) {
    INFO(codec.name);
    CHECK(profile.codecs.contains(codec.name) == why_no_gradient_codec(codec).empty());
  }
  // 300 us + 64 samples of 60 us = 4.14 ms.
  CHECK(profile.models.at("lenet5").forward.time(64).value() == Approx(4.14e-3));
  // 5 us + 10,000 elements of 2 ns = 25 us.
  CHECK(profile.codecs.at("terngrad").encode.time(10'000).value() == Approx(25e-6));
}

TEST_CASE("GPUs' profiles have peaks, every gradient codec, and say that they are assumed",
          "[unit]") {
  int gpus = 0;
  for (const std::string& name : shipped_profiles("device")) {
    if (name == "reference-cpu") continue;
    INFO(name);
    ++gpus;
    const DeviceProfile profile = load_device_profile(name, "");
    CHECK(profile.origin.source == "assumed");
    REQUIRE(profile.peak);
    CHECK(profile.peak->compute.contains("fp32"));
    for (const auto& codec : compressors::codec_catalogue())
      CHECK(profile.codecs.contains(codec.name) == why_no_gradient_codec(codec).empty());
  }
  CHECK(gpus == 25);
  // V100, 900 GB/s, 5 us a kernel. TernGrad: 4 B to find the scale, 4 B and 2 bits to code.
  const DeviceProfile v100 = load_device_profile("v100", "");
  CHECK(v100.codecs.at("terngrad").encode.time(1'000'000).value() ==
        Approx(10e-6 + 8.25e6 / 900e9).epsilon(1e-5));
  // The residual: read, written, and read again to take off what was sent: 12 B more.
  CHECK(v100.error_feedback.time(1'000'000).value() == Approx(5e-6 + 12e6 / 900e9).epsilon(1e-5));
  // 15.7 TFLOP/s in fp32, 125 in fp16.
  CHECK(v100.peak->compute.at("fp16").flops_per_second == 125e12);
}

TEST_CASE("an assumed device has times for codecs that it does not list, a measured one has not",
          "[unit]") {
  const TemporaryFolder folder;
  auto json = nlohmann::ordered_json::parse(read_file(share_folder() + "/profiles/v100.json"));
  json["codecs"].erase("terngrad");
  json.erase("uncertainty");
  const DeviceProfile assumed = load_device_profile(write(folder, "a.json", json.dump(1)), "");
  // Two kernels of 5 us; 8 B to read twice and 4 B to write at 900 GB/s.
  CHECK(assumed.codecs.at("terngrad").encode.time(1'000'000).value() ==
        Approx(10e-6 + 12e6 / 900e9));
  CHECK(assumed.codecs.at("int8").encode.time(0).value() == Approx(10e-6));
  CHECK_FALSE(assumed.codecs.contains("lowbit"));  // no gradients
  json["source"] = "measured";
  CHECK_FALSE(
      load_device_profile(write(folder, "m.json", json.dump(1)), "").codecs.contains("terngrad"));
}

TEST_CASE("AlexNet's layers add up", "[unit]") {
  const WorkloadProfile profile = load_workload_profile("alexnet", "");
  CHECK(profile.elements() == 61'100'840);
  CHECK(profile.layers.size() == 8);
}

TEST_CASE("profiles are found by name or by a path from the scenario's folder", "[unit]") {
  const TemporaryFolder folder;
  const std::string text = read_file(share_folder() + "/profiles/reference-cpu.json");
  const std::string path = write(folder, "mine.json", text);
  const std::string beside = std::filesystem::path(path).parent_path().string() + "/scenario.json";
  CHECK(load_device_profile("mine.json", beside).origin.file == path);
  CHECK(load_device_profile("./mine.json", beside).models.size() == 7);
  CHECK(load_device_profile(path, "").models.size() == 7);
  const std::string scenario = scenario_with(R"(, "cluster": {"device": "mine.json"})");
  CHECK(problems_of(scenario, beside).empty());
  CHECK_THROWS_WITH(load_device_profile("refrence-cpu", ""),
                    Contains("did you mean \"reference-cpu\""));
  CHECK_THROWS_WITH(load_device_profile("alexnet", ""),
                    Contains("no such profile ships (shipped: a10, a100, a100-80gb,"));
  CHECK_THROWS_AS(load_device_profile("./missing.json", beside), Error);
}

TEST_CASE("profiles are closed and checked too, all mistakes at once", "[unit]") {
  const TemporaryFolder folder;
  auto json =
      nlohmann::ordered_json::parse(read_file(share_folder() + "/profiles/reference-cpu.json"));
  json["models"]["mlp"]["forward_s_per_sampel"] = 1;
  json["models"]["mlp"]["update_s"] = -1;
  json["source"] = "guessed";
  json["codecs"]["topk"]["encode"].erase("fixed_s");
  const std::string path = write(folder, "bad.json", json.dump(1));
  try {
    load_device_profile(path, "");
    FAIL("accepted");
  } catch (const ScenarioError& error) {
    CHECK(error.problems().size() == 4);
    CHECK_THAT(error.what(), Contains("/models/mlp/forward_s_per_sampel: there is no such key") &&
                                 Contains("did you mean \"forward_s_per_sample\"") &&
                                 Contains("/models/mlp/update_s: -1 is out of range") &&
                                 Contains("/source: \"guessed\" is not a choice") &&
                                 Contains("/codecs/topk/encode/fixed_s: is missing"));
  }
}

TEST_CASE("constants of kernels go with peaks, precision by precision", "[unit]") {
  const TemporaryFolder folder;
  const auto refusal = [&](auto&& change) -> std::string {
    auto json = nlohmann::ordered_json::parse(read_file(share_folder() + "/profiles/v100.json"));
    change(json);
    try {
      load_device_profile(write(folder, "v.json", json.dump(1)), "");
    } catch (const ScenarioError& error) {
      return error.what();
    }
    return "none";
  };
  CHECK(refusal([](auto&) {}) == "none");
  CHECK(refusal([](auto& json) { json.erase("kernels"); }) == "none");
  CHECK_THAT(refusal([](auto& json) { json.erase("peak"); }), Contains("there are none"));
  CHECK_THAT(refusal([](auto& json) { json["kernels"]["shares"].erase("fp16"); }),
             Contains("none for fp16"));
  CHECK_THAT(refusal([](auto& json) {
               json["kernels"]["shares"]["tf32"] = json["kernels"]["shares"]["fp16"];
             }),
             Contains("/kernels/shares/tf32: there is no peak in tf32"));
  CHECK_THAT(refusal([](auto& json) { json["kernels"]["memory"] = 2; }),
             Contains("/kernels/memory: 2 is out of range"));
}

TEST_CASE("a profile says how far its figures may be from the truth, or its source does",
          "[unit]") {
  const DeviceProfile gpu = load_device_profile("v100", "");
  CHECK(gpu.origin.compute.low < 0.75);
  CHECK(gpu.origin.compute.high > 1.3);
  CHECK(gpu.origin.codecs == PlausibleRange{1, 100});
  CHECK(load_device_profile("reference-cpu", "").origin.codecs == kAssumedCodecs);
  CHECK(load_workload_profile("alexnet", "").origin.compute == kAssumedCompute);
  CHECK(load_workload_profile("resnet50", "").origin.compute.certain());  // counts: computed
  const TemporaryFolder folder;
  auto json =
      nlohmann::ordered_json::parse(read_file(share_folder() + "/profiles/reference-cpu.json"));
  json["source"] = "measured";
  const auto origin = [&] {
    return load_device_profile(write(folder, "own.json", json.dump(1)), "").origin;
  };
  CHECK(origin().compute.certain());
  json["uncertainty"]["compute"] = {{"low", 0.9}, {"high", 1.2}};
  CHECK(origin().compute == PlausibleRange{0.9, 1.2});
  CHECK(origin().codecs.certain());
  json["uncertainty"]["compute"]["low"] = 1.1;  // above the figure itself
  CHECK_THROWS_WITH(origin(), Contains("/uncertainty/compute/low: 1.1 is out of range"));
  json["uncertainty"]["compute"].erase("low");
  CHECK_THROWS_WITH(origin(), Contains("/uncertainty/compute/low: is missing"));
}

TEST_CASE("a device without times for the model or codec is refused", "[unit]") {
  const TemporaryFolder folder;
  auto json =
      nlohmann::ordered_json::parse(read_file(share_folder() + "/profiles/reference-cpu.json"));
  json["models"].erase("mlp");
  json["codecs"].erase("none");
  json["source"] = "measured";
  const std::string path = write(folder, "part.json", json.dump());
  const std::string problems =
      problems_of(scenario_with(", \"cluster\": {\"device\": \"" + path + "\"}"));
  CHECK_THAT(problems,
             Contains("has no times for model mlp") && Contains("has no times for codec none"));
}

TEST_CASE("workloads made of a profile need one that ships or a path", "[unit]") {
  CHECK(problems_of(scenario_with("", R"("workload": {"profile": "alexnet"})")).empty());
  CHECK_THAT(problems_of(scenario_with("", R"("workload": {"profile": "alexnett"})")),
             Contains("did you mean \"alexnet\"?"));
}

TEST_CASE("layers need times or counts, and shapes that multiply to their elements", "[unit]") {
  const TemporaryFolder folder;
  const std::string path = write(folder, "bad.json", R"({
    "schema_version": 1, "kind": "workload", "name": "bad", "source": "assumed", "note": "A test.",
    "layers": [
      { "name": "nothing", "elements": 4 },
      { "name": "half", "elements": 4, "forward_s_per_sample": 1 },
      { "name": "shape", "elements": 4, "tensors": { "weight": [2, 3] }, "flops_per_sample": 12 },
      { "name": "extent", "elements": 4, "tensors": { "weight": [2, 2] }, "flops_per_sample": 8 }
    ] })");
  try {
    load_workload_profile(path, "");
    FAIL("accepted");
  } catch (const ScenarioError& error) {
    CHECK(error.problems().size() == 3);
    CHECK_THAT(error.what(), Contains("/layers/0: the layer takes no time") &&
                                 Contains("/layers/1/backward_s_per_sample: is missing") &&
                                 Contains("/layers/2/elements: is 4, but"));
  }
}

TEST_CASE("a TorchScript file is pointed to the command that makes a table of it", "[unit]") {
  CHECK_THAT(problems_of(scenario_with("", R"("workload": {"profile": "net.pt"})")),
             Contains("/workload/profile") && Contains("gradwire profile net.pt --input SHAPE"));
}

TEST_CASE("a table without parameters, and a device with an unknown precision, are refused",
          "[unit]") {
  const TemporaryFolder folder;
  const std::string table = write(folder, "none.json", R"({
    "schema_version": 1, "kind": "workload", "name": "none", "source": "assumed", "note": "A test.",
    "layers": [ { "name": "relu", "elements": 0, "flops_per_sample": 12 } ] })");
  CHECK_THROWS_WITH(load_workload_profile(table, ""), Contains("no layer has parameters"));
  auto json =
      nlohmann::ordered_json::parse(read_file(share_folder() + "/profiles/reference-cpu.json"));
  json["peak"]["compute"]["fp33"] = json["peak"]["compute"]["fp32"];
  const std::string device = write(folder, "fp33.json", json.dump());
  CHECK_THROWS_WITH(load_device_profile(device, ""),
                    Contains("/peak/compute/fp33: there is no such precision"));
}
