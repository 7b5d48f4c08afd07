#include "scenarios/kernels/kernel_time.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace gradwire::scenarios {
namespace {

using Kind = Kernel::Kind;
constexpr double kShortestKernel = 2e-6;  // seconds
constexpr double kTileSide = 128;
constexpr double kSplitAlong = 512;  // of k, a part for each multiprocessor that is idle
constexpr double kTilesEnough = 4;   // a multiprocessor
constexpr double kTensorCoreSide = 8;

double share_of_peak(Kind kind, const KernelRoof& roof) {
  if (kind == Kind::kConvolution) return roof.convolution;
  if (kind == Kind::kWinograd) return roof.convolution * roof.winograd;
  // Products of heads are as small as convolutions' and reach what those do.
  if (kind == Kind::kAttention || kind == Kind::kActivations) return roof.convolution;
  return roof.matrix;
}

bool is_aligned(double side) {
  return std::fmod(side, kTensorCoreSide) == 0;
}

/// FLOP/s of large products of the kind.
double rate(const Kernel& one, const KernelRoof& roof) {
  const double usual = roof.flops_per_second * share_of_peak(one.kind, roof);
  const bool aligned = is_aligned(one.n) && is_aligned(one.k);
  if (roof.unaligned == 0 || one.kind != Kind::kMatrix || aligned) return usual;
  return std::min(usual, roof.unaligned);
}

double product(const Kernel& one, double m, double n, double k, const KernelRoof& roof) {
  double tiles = m / kTileSide * n / kTileSide * one.count;
  const double enough = kTilesEnough * roof.multiprocessors;
  if (tiles < enough)
    tiles = std::max(tiles, std::min(enough, tiles * std::max(1.0, k / kSplitAlong)));
  const double used = tiles / (tiles + roof.tile * roof.multiprocessors);
  const double computing = 2 * m * n * k * one.count / (rate(one, roof) * used);
  const double moving = roof.element_bytes * one.forward / (roof.bytes_per_second * roof.memory);
  return std::max(computing, moving) + kShortestKernel;
}

KernelTimes memory_times(const Kernel& one, const KernelRoof& roof) {
  const double an_element =
      roof.element_bytes * roof.traffic / (roof.bytes_per_second * roof.memory);
  return {one.repeats * (one.forward * an_element + one.forward_kernels * kShortestKernel),
          one.repeats * (one.backward * an_element + one.backward_kernels * kShortestKernel), 0};
}

KernelTimes product_times(const Kernel& one, const KernelRoof& roof) {
  const double forward = one.repeats * product(one, one.m, one.n, one.k, roof);
  if (one.kind == Kind::kAttention)  // fused: the scores once more
    return {2 * forward, (one.fused ? 5 : 4) * forward, 0};
  if (one.kind == Kind::kActivations) return {forward, 2 * forward, 0};
  const double weights = one.repeats * product(one, one.k, one.n, one.m, roof);
  return {forward, weights + (one.input_gradient ? forward : 0), 0};
}

}  // namespace

KernelRoof kernel_roof(const DeviceProfile& device, const std::string& precision) {
  GRADWIRE_ASSERT(device.peak && device.kernels && device.peak->compute.contains(precision));
  const DeviceProfile::Kernels& kernels = *device.kernels;
  KernelRoof roof;
  roof.flops_per_second = device.peak->compute.at(precision).flops_per_second;
  roof.bytes_per_second = device.peak->memory_bytes_per_second;
  roof.element_bytes = precision == "fp16" ? 2 : 4;
  roof.multiprocessors = kernels.multiprocessors;
  roof.matrix = kernels.shares.at(precision).matrix;
  roof.convolution = kernels.shares.at(precision).convolution;
  roof.winograd = precision == "fp32" ? kernels.winograd : 1;
  roof.memory = kernels.memory;
  roof.tile = kernels.tile;
  roof.traffic = kernels.traffic;
  if (precision == "fp16" && !device.peak->compute.contains("tf32") &&
      device.peak->compute.contains("fp32"))
    roof.unaligned = unaligned_rate(device.peak->compute.at("fp32").flops_per_second,
                                    kernels.shares.at("fp32").matrix);
  return roof;
}

KernelTimes kernel_times(const Kernel& one, const KernelRoof& roof) {
  KernelTimes times =
      one.kind == Kind::kMemory ? memory_times(one, roof) : product_times(one, roof);
  times.launches = one.repeats * (one.forward_kernels + one.backward_kernels);
  return times;
}

double side_by_side(double device, double host) {
  return std::cbrt(device * device * device + host * host * host);
}

}  // namespace gradwire::scenarios
