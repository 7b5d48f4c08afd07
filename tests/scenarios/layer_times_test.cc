#include "scenarios/layer_times.h"

#include <catch2/catch.hpp>
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

TEST_CASE("ResNet-50 on GPUs is within 15 % of published throughputs; VGG-16 is not", "[unit]") {
  const auto images_per_second = [](const char* model, const char* gpu, const char* precision,
                                    int batch) {
    const DeviceProfile device = load_device_profile(gpu, "");
    const WorkloadTimes times =
        layer_times(load_workload_profile(model, ""), &device, precision, batch);
    double step = times.update.value();
    for (const auto& layer : times.layers) step += layer.forward.value() + layer.backward.value();
    return batch / step;
  };
  // NVIDIA's own training examples (PyTorch, ResNet-50 v1.5, 1 GPU): V100 16 GB, batches of 256.
  CHECK(images_per_second("resnet50", "v100", "fp32", 256) == Approx(367).epsilon(0.15));
  CHECK(images_per_second("resnet50", "v100", "fp16", 256) == Approx(1200).epsilon(0.15));
  // TensorFlow's benchmarks of 2017, P100, batches of 64.
  CHECK(images_per_second("resnet50", "p100", "fp32", 64) == Approx(219).epsilon(0.15));
  CHECK(images_per_second("resnet152", "p100", "fp32", 64) == Approx(91.8).epsilon(0.15));
  // 154 images/s were measured: Winograd's algorithm beats the peak that counts every multiply-add.
  CHECK(images_per_second("vgg16", "p100", "fp32", 64) < 0.6 * 154);
}
