#include "scenarios/profiles/layer_times.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "scenarios/kernels/kernel_time.h"
#include "scenarios/kernels/layer_kernels.h"
#include "scenarios/kernels/model_family.h"

namespace gradwire::scenarios {
namespace {

constexpr double kMomentumBytes = 20;  // of an element: three reads, two writes of fp32
constexpr double kAdamBytes = 28;      // four reads, three writes

double update_bytes(const WorkloadProfile& workload) {
  return (trained_by_adam(workload) ? kAdamBytes : kMomentumBytes) *
         static_cast<double>(workload.elements());
}

/// A device's peak figures for one precision.
struct Roof {
  double flops_per_second;
  double bytes_per_second;
  double element_bytes;
  Seconds launch;
};

Roof roof_of(const DeviceProfile::Peak& peak, const std::string& precision) {
  const DeviceProfile::Peak::Compute& compute = peak.compute.at(precision);
  return {compute.flops_per_second * compute.efficiency, peak.memory_bytes_per_second,
          precision == "fp16" ? 2.0 : 4.0, peak.launch};
}

Seconds forward_time(const WorkloadProfile::Layer& layer, const Roof& roof, double batch) {
  const double elements = batch * static_cast<double>(layer.inputs + layer.activations) +
                          static_cast<double>(layer.elements);
  const double computing = batch * static_cast<double>(layer.flops) / roof.flops_per_second;
  const double moving = roof.element_bytes * elements / roof.bytes_per_second;
  return std::max(Seconds(std::max(computing, moving)), roof.launch);
}

/// Times of its own, for a batch.
WorkloadTimes::Layer given(const WorkloadProfile::Layer& layer, int batch) {
  return {layer.forward_per_sample * batch, layer.backward_per_sample * batch};
}

WorkloadTimes simple_layers(const WorkloadProfile& workload, const DeviceProfile* device,
                            const std::string& precision, int batch) {
  WorkloadTimes times;
  for (const WorkloadProfile::Layer& layer : workload.layers) {
    if (layer.has_times) {
      times.layers.push_back(given(layer, batch));
      continue;
    }
    const Seconds forward = forward_time(layer, roof_of(*device->peak, precision), batch);
    times.layers.push_back({forward, forward * 2.0});
  }
  return times;
}

/// Of one layer's kernels.
KernelTimes layer_sum(const WorkloadProfile::Layer& layer, const KernelRoof& roof, int batch) {
  KernelTimes sum;
  for (const Kernel& one : layer_kernels(layer, batch)) {
    const KernelTimes taken = kernel_times(one, roof);
    sum.forward += taken.forward;
    sum.backward += taken.backward;
    sum.launches += taken.launches;
  }
  return sum;
}

/// What both passes of the layers without times of their own take on the device, and launch.
struct Passes {
  double on_device = 0, launches = 0;
  void add(const KernelTimes& sum) {
    on_device += sum.forward + sum.backward;
    launches += sum.launches;
  }
  double seconds(double host) const { return side_by_side(on_device, launches * host); }
};

/// The host's share falls to layers by the device's time of them.
WorkloadTimes kernel_layers(const WorkloadProfile& workload, const DeviceProfile& device,
                            const std::string& precision, int batch) {
  const KernelRoof roof = kernel_roof(device, precision);
  WorkloadTimes times;
  std::vector<std::size_t> computed;
  Passes passes;
  for (const WorkloadProfile::Layer& layer : workload.layers) {
    if (layer.has_times) {
      times.layers.push_back(given(layer, batch));
      continue;
    }
    computed.push_back(times.layers.size());
    const KernelTimes sum = layer_sum(layer, roof, batch);
    passes.add(sum);
    times.layers.push_back({Seconds(sum.forward), Seconds(sum.backward)});
  }
  const double longer = passes.seconds(device.kernels->host.value()) / passes.on_device;
  for (const std::size_t l : computed) {
    times.layers[l].forward = times.layers[l].forward * longer;
    times.layers[l].backward = times.layers[l].backward * longer;
  }
  return times;
}

}  // namespace

bool needs_peak(const WorkloadProfile& workload) {
  return std::any_of(workload.layers.begin(), workload.layers.end(),
                     [](const WorkloadProfile::Layer& layer) { return !layer.has_times; });
}

std::string why_no_layer_times(const WorkloadProfile& workload, const DeviceProfile* device,
                               std::string_view precision) {
  if (!needs_peak(workload)) return "";
  const std::string table = "layer table " + workload.origin.name + " has FLOPs but no times, and ";
  if (!device) return table + "needs a device profile with peak figures";
  const std::string name = "device profile " + device->origin.name;
  if (!device->peak) return table + name + " has no peak figures";
  if (device->peak->compute.contains(std::string(precision))) return "";
  return table + name + " has no peak in " + std::string(precision);
}

WorkloadTimes layer_times(const WorkloadProfile& workload, const DeviceProfile* device,
                          const std::string& precision, int batch, int workers) {
  GRADWIRE_ASSERT(why_no_layer_times(workload, device, precision).empty());
  const bool computed = needs_peak(workload);
  WorkloadTimes times = computed && device->kernels
                            ? kernel_layers(workload, *device, precision, batch)
                            : simple_layers(workload, device, precision, batch);
  if (computed)
    times.update = Seconds(update_bytes(workload) / device->peak->memory_bytes_per_second);
  if (computed && device->kernels) times.update = times.update * device->kernels->update;
  if (workload.update) times.update = *workload.update;
  if (computed && device->kernels)
    times.update += device->kernels->step + (workers > 1 ? device->kernels->parallel : Seconds(0));
  return times;
}

PlausibleRange range_of_times(const WorkloadProfile& workload, const DeviceProfile& device,
                              const std::string& precision, int batch) {
  const PlausibleRange own = device.origin.compute;
  if (!device.kernels || own.certain()) return own;
  const KernelRoof roof = kernel_roof(device, precision);
  Passes passes;
  for (const WorkloadProfile::Layer& layer : workload.layers)
    if (!layer.has_times) passes.add(layer_sum(layer, roof, batch));
  if (passes.on_device == 0) return own;
  const double host = device.kernels->host.value(), usual = passes.seconds(host);
  const double faster = std::log(passes.seconds(host / kHostRange) / usual);
  const double slower = std::log(passes.seconds(host * kHostRange) / usual);
  return {std::exp(-std::hypot(std::log(own.low), faster)),
          std::exp(std::hypot(std::log(own.high), slower))};
}

std::string devices_with_peak() {
  std::string names;
  for (const std::string& name : shipped_profiles("device"))
    if (load_device_profile(name, "").peak) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace gradwire::scenarios
