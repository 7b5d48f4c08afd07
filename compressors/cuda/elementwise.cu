#include "compressors/arithmetic/bits.h"
#include "compressors/arithmetic/half.h"
#include "compressors/cuda/launch.cuh"

namespace gradwire::compressors::cuda {
namespace {

__global__ void begin_kernel(CudaReport* report) {
  *report = CudaReport{0, kNothingBad};
}

__global__ void finish_kernel(CudaReport* report, std::uint64_t written) {
  report->written = refused(report) ? 0 : written;
}

__global__ void check_kernel(const float* values, std::uint64_t n, CudaReport* report) {
  for (std::uint64_t i = first_item(); i < n; i += stride())
    if (magnitude_bits(values[i]) >= kInfinityBits) refuse(report, i);
}

__global__ void copy_kernel(const float* values, std::uint64_t n, float* out, CudaReport* report) {
  if (refused(report)) return;
  for (std::uint64_t i = first_item(); i < n; i += stride()) out[i] = values[i];
}

__global__ void add_kernel(const float* values, std::uint64_t n, float factor, float* out,
                           CudaReport* report) {
  if (refused(report)) return;
  for (std::uint64_t i = first_item(); i < n; i += stride()) out[i] = out[i] + factor * values[i];
}

__global__ void to_half_kernel(const float* values, std::uint64_t n, bool saturate,
                               std::uint16_t* halves, CudaReport* report) {
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    const float value = values[i];
    if (magnitude_bits(value) >= kInfinityBits) refuse(report, i);
    halves[i] = half_from_float(value, saturate);
  }
}

template <bool kAdd>
__global__ void from_half_kernel(const std::uint16_t* halves, std::uint64_t n, float factor,
                                 float* values, CudaReport* report) {
  if (refused(report)) return;
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    const float value = float_from_half(halves[i]);
    values[i] = kAdd ? values[i] + factor * value : value;
  }
}

__global__ void store_kernel(float value, float* target) {
  *target = value;
}

}  // namespace

void begin_report(CudaReport* report, void* stream) {
  begin_kernel<<<1, 1, 0, stream_of(stream)>>>(report);
  check_launch("begin a report");
}

void finish_report(CudaReport* report, std::uint64_t written, void* stream) {
  finish_kernel<<<1, 1, 0, stream_of(stream)>>>(report, written);
  check_launch("finish a report");
}

void check_finite(const float* values, std::uint64_t n, CudaReport* report, void* stream) {
  check_kernel<<<grid_of(n), kThreads, 0, stream_of(stream)>>>(values, n, report);
  check_launch("check values");
}

void copy(const float* values, std::uint64_t n, float* out, CudaReport* report, void* stream) {
  copy_kernel<<<grid_of(n), kThreads, 0, stream_of(stream)>>>(values, n, out, report);
  check_launch("copy values");
}

void add(const float* values, std::uint64_t n, float factor, float* out, CudaReport* report,
         void* stream) {
  add_kernel<<<grid_of(n), kThreads, 0, stream_of(stream)>>>(values, n, factor, out, report);
  check_launch("add values");
}

void to_half(const float* values, std::uint64_t n, bool saturate, std::byte* halves,
             CudaReport* report, void* stream) {
  to_half_kernel<<<grid_of(n), kThreads, 0, stream_of(stream)>>>(
      values, n, saturate, reinterpret_cast<std::uint16_t*>(halves), report);
  check_launch("round to binary16");
}

void from_half(const std::byte* halves, std::uint64_t n, float* values, CudaReport* report,
               void* stream) {
  from_half_kernel<false><<<grid_of(n), kThreads, 0, stream_of(stream)>>>(
      reinterpret_cast<const std::uint16_t*>(halves), n, 1.0f, values, report);
  check_launch("read binary16");
}

void from_half_add(const std::byte* halves, std::uint64_t n, float factor, float* values,
                   CudaReport* report, void* stream) {
  from_half_kernel<true><<<grid_of(n), kThreads, 0, stream_of(stream)>>>(
      reinterpret_cast<const std::uint16_t*>(halves), n, factor, values, report);
  check_launch("add binary16");
}

void store_float(float value, float* target, void* stream) {
  store_kernel<<<1, 1, 0, stream_of(stream)>>>(value, target);
  check_launch("store a scale");
}

void zero(float* values, std::uint64_t n, void* stream) {
  check_cuda(cudaMemsetAsync(values, 0, n * sizeof(float), stream_of(stream)), "clear values");
}

}  // namespace gradwire::compressors::cuda
