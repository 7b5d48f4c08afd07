#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include "trainers/passes/aten.h"

#include <algorithm>

#include "trainers/device/cuda_device.h"
#include "trainers/timing/measure.h"
#include "trainers/timing/model_profile.h"
#include "trainers/timing/op_recorder.h"

namespace gradwire::trainers {
namespace {

constexpr int kRepetitions = 7;

/// Fastest of a few: a peak, not a mean.
double fastest(at::Device device, const std::function<void()>& call) {
  call();
  double least = 1e9;
  for (int i = 0; i < kRepetitions; ++i) {
    Marks marks(device);
    marks.mark();
    call();
    marks.mark();
    least = std::min(least, marks.intervals()[0]);
  }
  return std::max(least, 1e-9);
}

/// FLOP/s of a matrix product n by n.
double product_rate(at::Device device, at::ScalarType type, std::int64_t n) {
  const at::Tensor a = at::randn({n, n}, device).to(type), b = at::randn({n, n}, device).to(type);
  at::Tensor c = at::empty({n, n}, a.options());
  const double side = static_cast<double>(n);
  return 2 * side * side * side / fastest(device, [&] { at::mm_out(c, a, b); });
}

/// FLOP/s of ResNet-50's most frequent kind of 3 x 3 convolution.
double convolution_rate(at::Device device, at::ScalarType type, std::int64_t batch) {
  const at::Tensor x = at::randn({batch, 128, 28, 28}, device).to(type);
  const at::Tensor weight = at::randn({128, 128, 3, 3}, device).to(type);
  const double flops = 2.0 * 28 * 28 * 128 * 128 * 9 * static_cast<double>(batch);
  return flops / fastest(device, [&] { at::conv2d(x, weight, {}, 1, 1); });
}

scenarios::DeviceProfile::Peak::Compute compute_of(at::Device device, at::ScalarType type) {
  const bool cpu = device.is_cpu();
  const double product = product_rate(device, type, cpu ? 768 : 8192);
  const double convolution = convolution_rate(device, type, cpu ? 2 : 256);
  const double peak = std::max(product, convolution);
  return {peak, (product + convolution) / 2 / peak};
}

/// Whether fp32 goes through tensor cores as TF32; PyTorch's default is that convolutions do, and
/// products do not. As before when it goes.
class Tf32 {
 public:
  explicit Tf32(bool on)
      : products_(at::globalContext().allowTF32CuBLAS()),
        convolutions_(at::globalContext().allowTF32CuDNN()) {
    set(on, on);
  }
  ~Tf32() { set(products_, convolutions_); }
  Tf32(const Tf32&) = delete;
  Tf32& operator=(const Tf32&) = delete;

 private:
  static void set(bool products, bool convolutions) {
    at::globalContext().setAllowTF32CuBLAS(products);
    at::globalContext().setAllowTF32CuDNN(convolutions);
  }
  bool products_, convolutions_;
};

}  // namespace

scenarios::DeviceProfile::Peak measure_peak(const std::string& name) {
  const at::Device device =
      name == "cuda" ? (load_cuda(), at::Device(at::kCUDA, 0)) : at::Device(at::kCPU);
  at::set_num_threads(1);
  const MachineLock alone;
  scenarios::DeviceProfile::Peak peak;
  {
    const Tf32 off(false);
    peak.compute["fp32"] = compute_of(device, at::kFloat);
  }
  if (device.is_cuda()) {
    const Tf32 on(true);
    peak.compute["tf32"] = compute_of(device, at::kFloat);
    peak.compute["fp16"] = compute_of(device, at::kHalf);
  }
  const std::int64_t elements = 1 << (device.is_cpu() ? 24 : 28);
  const at::Tensor from = at::ones({elements}, device);
  at::Tensor to = at::empty({elements}, device);
  peak.memory_bytes_per_second =
      8.0 * static_cast<double>(elements) / fastest(device, [&] { to.copy_(from); });
  at::Tensor tiny = at::zeros({1}, device);
  peak.launch = Seconds(fastest(device,
                                [&] {
                                  for (int i = 0; i < 100; ++i) tiny.add_(1);
                                }) /
                        100);
  return peak;
}

}  // namespace gradwire::trainers
