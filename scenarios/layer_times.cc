#include "scenarios/layer_times.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::scenarios {
namespace {

constexpr double kUpdateBytesPerElement = 20;

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
                          const std::string& precision, int batch) {
  GRADWIRE_ASSERT(why_no_layer_times(workload, device, precision).empty());
  WorkloadTimes times;
  for (const WorkloadProfile::Layer& layer : workload.layers) {
    if (layer.has_times) {
      times.layers.push_back({layer.forward_per_sample * batch, layer.backward_per_sample * batch});
      continue;
    }
    const Seconds forward = forward_time(layer, roof_of(*device->peak, precision), batch);
    times.layers.push_back({forward, forward * 2.0});
  }
  if (workload.update)
    times.update = *workload.update;
  else if (needs_peak(workload))
    times.update = Seconds(kUpdateBytesPerElement * static_cast<double>(workload.elements()) /
                           device->peak->memory_bytes_per_second);
  return times;
}

std::string devices_with_peak() {
  std::string names;
  for (const std::string& name : shipped_profiles("device"))
    if (load_device_profile(name, "").peak) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace gradwire::scenarios
