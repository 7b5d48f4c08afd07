#include "cli/emulation/torch_compute.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/temporary_file.h"

using namespace gradwire;
using Catch::Contains;
using gradwire::cli::ComputeScale;
using gradwire::cli::TorchCompute;

namespace {

std::string refusal(const std::string& text, ErrorKind kind = ErrorKind::kUsage) {
  try {
    TorchCompute compute(text);
  } catch (const Error& error) {
    CHECK(error.kind() == kind);
    return error.what();
  }
  return "";
}

ComputeScale scale_of(const std::string& text, std::optional<double> flops_per_second,
                      std::int64_t counted = 0) {
  return TorchCompute(text).scale({.flops_per_second = flops_per_second, .counted = counted},
                                  "a.jsonl");
}
double factor(const std::string& text, double flops_per_second) {
  return scale_of(text, flops_per_second).factor;
}

constexpr const char* kPeak = R"(, "peak": {"compute": {"fp32": {"flops_per_s": 1e12,
    "efficiency": 0.25}}, "memory_bytes_per_s": 1e11, "launch_s": 1e-6})";

/// --compute of a profile of one's own, with members besides those that each needs.
std::string device(const TemporaryFolder& folder, const std::string& source,
                   const std::string& more) {
  write_file(folder.file("d.json"), R"({"schema_version": 1, "kind": "device", "name": "d",
    "note": "of a test", "models": {}, "codecs": {}, "source": ")" +
                                        source + "\"" + more + "}");
  return "profile=" + folder.file("d.json");
}

}  // namespace

TEST_CASE("torch --compute: cpu and a multiple need no rate, and say nothing", "[unit]") {
  CHECK(scale_of("cpu", std::nullopt).factor == 1);
  const ComputeScale scale = scale_of("scale=0.02", std::nullopt);
  CHECK(scale.factor == 0.02);
  CHECK(scale.note.empty());
  // Where there is a rate they do not use it.
  CHECK(factor("cpu", 1e11) == 1);
  CHECK(factor("scale=0.02", 1e11) == 0.02);
}

TEST_CASE("torch --compute: on a device recorded time is as matrix products are", "[unit]") {
  // A V100 (SXM2): 15.7 Tflop/s in fp32, of which matrix products reach all by the profile;
  // 125 Tflop/s in fp16, of which they reach 0.551.
  CHECK(factor("profile=v100", 62.8e9) == Approx(62.8e9 / 15.7e12));  // 0.004
  CHECK(factor("profile=v100:fp32", 62.8e9) == factor("profile=v100", 62.8e9));
  CHECK(factor("profile=v100:fp16", 62.8e9) == Approx(62.8e9 / (125e12 * 0.551)));
  // Half the rate, half the time there.
  CHECK(factor("profile=v100", 31.4e9) == Approx(0.002));
  // Without figures of kernels: 100 Gflop/s, of which 0.5 are reached. As fast as that is 1.
  CHECK(factor("profile=reference-cpu", 50e9) == Approx(1));
}

TEST_CASE("torch --compute: kernels' share counts before the efficiency", "[unit]") {
  const TemporaryFolder folder;
  CHECK(factor(device(folder, "assumed", kPeak), 1e11) == Approx(0.4));  // 100 of 250 Gflop/s
  CHECK(factor(device(folder, "assumed", kPeak) + ":fp32", 1e11) == Approx(0.4));
  const std::string kernels = R"(, "kernels": {"multiprocessors": 1, "winograd": 1, "memory": 1,
      "tile": 0, "traffic": 1, "update": 1, "host_s": 0, "step_s": 0, "parallel_s": 0,
      "shares": {"fp32": {"matrix": 0.8, "convolution": 0.5}}})";
  CHECK(factor(device(folder, "assumed", kPeak + kernels), 1e11) == Approx(0.125));  // of 800
  CHECK_THAT(refusal(device(folder, "assumed", "")), Contains("no peak figures"));
}

TEST_CASE("torch --compute: what was taken is said, with its range", "[unit]") {
  const std::string note = scale_of("profile=v100", 62.8e9).note;
  CHECK_THAT(note, Contains("as on v100 (fp32): 0.004 of the processor time recorded") &&
                       Contains("62.8 Gflop/s of a thread against 15.7 Tflop/s") &&
                       Contains("0.663 to 1.51 times") && Contains("memory bounds"));
  // What somebody assumed may be half of it or twice; what was measured has no range.
  const TemporaryFolder folder;
  const auto of = [&](const std::string& source) {
    return scale_of(device(folder, source, kPeak), 1e11).note;
  };
  CHECK_THAT(of("assumed"), Contains("0.5 to 2 times"));
  CHECK_THAT(of("measured"), Contains("as on d (fp32): 0.4") && !Contains("range"));
}

TEST_CASE("torch --compute: what it cannot be is refused by name", "[unit]") {
  CHECK_THAT(refusal("gpu"), Contains("cpu, scale=FACTOR, flops=RATE and profile=DEVICE"));
  CHECK_THAT(refusal("profiled"), Contains("cpu, scale=FACTOR, flops=RATE and profile=DEVICE"));
  for (const char* text : {"scale=", "scale=-1", "scale=1e7", "scale=2x"})
    CHECK_THAT(refusal(text), Contains("no number from 0 to 1000000"));
  for (const char* text : {"profile", "profile="})
    CHECK_THAT(refusal(text), Contains("it names no device") && Contains("h100, ") &&
                                  Contains("v100") && !Contains("resnet"));
  CHECK_THAT(refusal("profile=v1000", ErrorKind::kScenario), Contains("did you mean \"v100\"?"));
  CHECK_THAT(refusal("profile=v100:tf32"),
             Contains("no peak figure of tf32") && Contains("it has fp16, fp32"));
  CHECK_THAT(refusal("profile=v100:"), Contains("it has fp16, fp32"));
}

TEST_CASE("torch --compute: a recording without a rate is refused for a device", "[unit]") {
  for (const char* text : {"profile=v100", "flops=1e12"})
    CHECK_THROWS_WITH(scale_of(text, std::nullopt),
                      Contains("a.jsonl") && Contains("how fast the machine"));
}

TEST_CASE("torch --compute: operations become times at the rate that is named", "[unit]") {
  // A second of such a recording is one operation, so that the factor is one over the rate.
  CHECK(scale_of("flops=100e12", 1, 3).factor == Approx(1e-14));
  CHECK(scale_of("profile=v100", 1, 3).factor == Approx(1 / 15.7e12));
  CHECK(scale_of("scale=1e-14", 1, 3).factor == 1e-14);
  CHECK_THAT(scale_of("profile=v100", 1, 3).note,
             Contains("3 nodes' operations at 15.7 Tflop/s") && Contains("memory bounds"));
  CHECK_THROWS_WITH(scale_of("cpu", 1, 3), Contains("3 of its computing nodes") &&
                                               Contains("num_ops") && Contains("flops=100e12"));
  // Beside it, of a script: 100 Gflop/s of a thread here are a tenth of a second there.
  CHECK(factor("flops=1e12", 1e11) == Approx(0.1));
  for (const char* text : {"flops=", "flops=0", "flops=1e19", "flops=2T"})
    CHECK_THAT(refusal(text), Contains("no number of operations a second"));
}
