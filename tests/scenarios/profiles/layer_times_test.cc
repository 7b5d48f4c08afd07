#include "scenarios/profiles/layer_times.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/scenarios/support.h"

using namespace gradwire;
using namespace gradwire::scenarios;
using Catch::Contains;

namespace {

/// 1 TFLOP/s of which half is reached, 100 GB/s, 5 us; fp16 four times that.
DeviceProfile round_device() {
  DeviceProfile device;
  device.origin.name = "round";
  device.peak =
      DeviceProfile::Peak{{{"fp32", {1e12, 0.5}}, {"fp16", {4e12, 0.5}}}, 1e11, Seconds(5e-6)};
  return device;
}

/// A convolution bound by arithmetic, a layer bound by memory, one that is too small for either.
WorkloadProfile three_layers() {
  WorkloadProfile workload;
  workload.origin.name = "three";
  WorkloadProfile::Layer layer;
  layer.name = "convolution";
  layer.elements = 1000;
  layer.flops = 1'000'000'000;
  layer.inputs = layer.activations = 10'000;
  workload.layers.push_back(layer);
  layer = {};
  layer.name = "relu";
  layer.flops = layer.inputs = layer.activations = 1'000'000;
  workload.layers.push_back(layer);
  layer = {};
  layer.name = "bias";
  layer.elements = 10;
  layer.flops = layer.inputs = layer.activations = 10;
  workload.layers.push_back(layer);
  return workload;
}

}  // namespace

TEST_CASE("a layer takes the longest of arithmetic, memory and launch", "[unit]") {
  const DeviceProfile device = round_device();
  const WorkloadTimes times = layer_times(three_layers(), &device, "fp32", 8);
  REQUIRE(times.layers.size() == 3);
  // 8 x 1e9 / 0.5e12 = 16 ms; memory: 4 (8 x 20,000 + 1,000) / 1e11 = 6.44 us.
  CHECK(times.layers[0].forward.value() == Approx(16e-3));
  // 8 x 1e6 / 0.5e12 = 16 us; memory: 4 x 8 x 2e6 / 1e11 = 640 us.
  CHECK(times.layers[1].forward.value() == Approx(640e-6));
  // 4 (8 x 20 + 10) / 1e11 = 6.8 ns.
  CHECK(times.layers[2].forward.value() == Approx(5e-6));
  for (const auto& layer : times.layers)
    CHECK(layer.backward.value() == Approx(2 * layer.forward.value()));
  // 20 B x 1,010 / 1e11.
  CHECK(times.update.value() == Approx(202e-9));
}

TEST_CASE("half precision moves half of the bytes, and has a peak of its own", "[unit]") {
  const DeviceProfile device = round_device();
  const WorkloadTimes times = layer_times(three_layers(), &device, "fp16", 8);
  CHECK(times.layers[0].forward.value() == Approx(4e-3));
  CHECK(times.layers[1].forward.value() == Approx(320e-6));
  CHECK(times.update.value() == Approx(202e-9));  // weights and momentum stay fp32
}

TEST_CASE("a table's own times win, and need no device", "[unit]") {
  WorkloadProfile workload = three_layers();
  for (auto& layer : workload.layers) {
    layer.has_times = true;
    layer.forward_per_sample = Seconds(1e-3);
    layer.backward_per_sample = Seconds(3e-3);
  }
  CHECK_FALSE(needs_peak(workload));
  CHECK(why_no_layer_times(workload, nullptr, "fp32").empty());
  const WorkloadTimes times = layer_times(workload, nullptr, "fp32", 8);
  CHECK(times.layers[2].forward.value() == Approx(8e-3));
  CHECK(times.layers[2].backward.value() == Approx(24e-3));
  CHECK(times.update == Seconds(0));
  workload.update = Seconds(0.5);
  const DeviceProfile device = round_device();
  CHECK(layer_times(workload, &device, "fp32", 1).update == Seconds(0.5));
}

TEST_CASE("a device without peak figures is refused, with those that have them", "[unit]") {
  DeviceProfile device = round_device();
  const WorkloadProfile workload = three_layers();
  CHECK_THAT(why_no_layer_times(workload, nullptr, "fp32"), Contains("needs a device profile"));
  CHECK_THAT(why_no_layer_times(workload, &device, "tf32"), Contains("has no peak in tf32"));
  device.peak.reset();
  CHECK_THAT(why_no_layer_times(workload, &device, "fp32"), Contains("has no peak figures"));
  // The default device is the processor at hand, which a table of FLOPs says nothing about.
  CHECK_THAT(problems_of(scenario_with("", R"("workload": {"profile": "resnet50"})")),
             Contains("/cluster/device") && Contains("needs a device profile with peak figures") &&
                 Contains("reference-cpu"));
  CHECK(problems_of(scenario_with(R"(, "cluster": {"device": "reference-cpu"})",
                                  R"("workload": {"profile": "resnet50"})"))
            .empty());
  CHECK_THAT(
      problems_of(scenario_with(R"(, "cluster": {"device": "reference-cpu"})",
                                R"("workload": {"profile": "resnet50", "precision": "fp16"})")),
      Contains("has no peak in fp16"));
}

TEST_CASE("networks with attention are trained with Adam", "[unit]") {
  DeviceProfile device = load_device_profile("v100", "");
  device.kernels->step = device.kernels->parallel = Seconds(0);
  const auto bytes = [&](const char* name) {
    const WorkloadProfile workload = load_workload_profile(name, "");
    return layer_times(workload, &device, "fp32", 1).update.value() *
           device.peak->memory_bytes_per_second / device.kernels->update /
           static_cast<double>(workload.elements());
  };
  CHECK(bytes("resnet50") == Approx(20));
  CHECK(bytes("bert-large") == Approx(28));
}

TEST_CASE("times that wait for the host are known as badly as its launches", "[unit]") {
  DeviceProfile device = load_device_profile("a100", "");
  const WorkloadProfile gpt = load_workload_profile("gpt2-medium", "");
  const PlausibleRange own = device.origin.compute;
  device.kernels->host = Seconds(1e-9);  // nothing of it: the device's own range
  CHECK(range_of_times(gpt, device, "fp16", 1).high == Approx(own.high));
  device.kernels->host = Seconds(1);  // nothing else: both
  const PlausibleRange waits = range_of_times(gpt, device, "fp16", 1);
  CHECK(std::log(waits.high) == Approx(std::hypot(std::log(own.high), std::log(3.2))));
  CHECK(std::log(waits.low) == Approx(-std::hypot(std::log(own.low), std::log(3.2))));
  // Many samples keep the device busy.
  device.kernels->host = Seconds(50e-6);
  CHECK(range_of_times(gpt, device, "fp16", 64).high <
        0.8 * range_of_times(gpt, device, "fp16", 1).high);
  device.origin.compute = {};  // what is certain stays so
  CHECK(range_of_times(gpt, device, "fp16", 1).certain());
}

TEST_CASE("throughputs that others published lie in the profiles' ranges", "[unit]") {
  struct Row {
    const char *model, *gpu, *precision;
    int batch;
    double published;  // samples a second
  };
  // NVIDIA's training examples (PyTorch, 1 GPU), TensorFlow's benchmarks of 2017 (P100).
  const Row rows[] = {{"resnet50", "v100", "fp32", 256, 367},
                      {"resnet50", "v100", "fp16", 256, 1200},
                      {"resnet50", "p100", "fp32", 64, 219},
                      {"resnet152", "p100", "fp32", 64, 91.8},
                      {"vgg16", "p100", "fp32", 64, 154},
                      {"inception-v3", "p100", "fp32", 64, 142},
                      {"alexnet-grouped", "p100", "fp32", 512, 2987},
                      {"resnet50", "a100", "tf32", 256, 938},
                      {"resnet50", "a100", "fp16", 256, 2470}};
  for (const Row& row : rows) {
    const DeviceProfile device = load_device_profile(row.gpu, "");
    const WorkloadTimes times =
        layer_times(load_workload_profile(row.model, ""), &device, row.precision, row.batch);
    double step = times.update.value();
    for (const auto& layer : times.layers) step += layer.forward.value() + layer.backward.value();
    const double truth = row.batch / row.published / step;  // of the computed time
    UNSCOPED_INFO(row.model << " " << row.gpu << " " << row.precision << " computed "
                            << row.batch / step << " truth " << truth);
    CHECK(truth > device.origin.compute.low);
    CHECK(truth < device.origin.compute.high);
  }
}
