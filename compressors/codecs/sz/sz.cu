#include "compressors/codecs/sz/arithmetic.h"
#include "compressors/codecs/sz/cuda_quantise.h"
#include "compressors/cuda/launch.cuh"

namespace gradwire::compressors {
namespace cuda {
namespace {

__global__ void quantise_kernel(const float* values, std::uint64_t n, DualGrid grid,
                                std::int32_t* codes, CudaReport* report) {
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    const float value = values[i];
    if (!is_finite(value)) refuse(report, i);
    codes[i] = dual_code(value, grid);
  }
}

__global__ void symbols_kernel(const std::int32_t* codes, std::uint64_t n, CudaPrediction how,
                               std::uint16_t* symbols, std::uint32_t* counts) {
  extern __shared__ std::uint32_t seen[];
  const std::uint32_t alphabet = counts == nullptr ? 0 : 2 * how.radius;
  for (std::uint32_t s = threadIdx.x; s < alphabet; s += blockDim.x) seen[s] = 0;
  __syncthreads();
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    const std::uint32_t difference = lorenzo_difference(codes, i, how.columns, how.predictor);
    const std::uint16_t symbol = lorenzo_symbol(difference, how.radius);
    symbols[i] = symbol;
    if (counts != nullptr) atomicAdd(&seen[symbol], 1u);
  }
  __syncthreads();
  for (std::uint32_t s = threadIdx.x; s < alphabet; s += blockDim.x)
    if (seen[s] > 0) atomicAdd(&counts[s], seen[s]);
}

template <bool kAdd>
__global__ void dequantise_kernel(const std::int32_t* codes, std::uint64_t n, DualGrid grid,
                                  float factor, float* values) {
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    const float value = dual_value(codes[i], grid);
    values[i] = kAdd ? values[i] + factor * value : value;
  }
}

}  // namespace
}  // namespace cuda

void cuda_quantise(const float* values, std::uint64_t n, float error_bound, std::int32_t* codes,
                   CudaReport* report, void* stream) {
  using namespace cuda;
  const ReportEnd end{report, n};
  begin_reports({&end, 1}, stream);
  quantise_kernel<<<grid_of(n), kThreads, 0, stream_of(stream)>>>(values, n, dual_grid(error_bound),
                                                                  codes, report);
  check_launch("quantise values");
  finish_reports({&end, 1}, stream);
}

void cuda_lorenzo_symbols(const std::int32_t* codes, std::uint64_t n, const CudaPrediction& how,
                          std::uint16_t* symbols, std::uint32_t* counts, void* stream) {
  using namespace cuda;
  if (how.radius < 1 || how.radius > kLargestCudaRadius)
    throw Error(ErrorKind::kUsage, "predict codes", "radius " + std::to_string(how.radius),
                "it is not 1 to 4096");
  const std::size_t bytes = counts == nullptr ? 0 : 2 * how.radius * sizeof(std::uint32_t);
  if (counts != nullptr)
    check_cuda(cudaMemsetAsync(counts, 0, bytes, stream_of(stream)), "clear counts");
  const unsigned grid = grid_of(n) < 2048 ? grid_of(n) : 2048;  // few blocks, few sums of counts
  symbols_kernel<<<grid, kThreads, bytes, stream_of(stream)>>>(codes, n, how, symbols, counts);
  check_launch("predict codes");
}

void cuda_dequantise(const std::int32_t* codes, std::uint64_t n, float error_bound, float* values,
                     void* stream) {
  using namespace cuda;
  dequantise_kernel<false><<<grid_of(n), kThreads, 0, stream_of(stream)>>>(
      codes, n, dual_grid(error_bound), 1.0f, values);
  check_launch("read codes");
}

void cuda_dequantise_add(const std::int32_t* codes, std::uint64_t n, float error_bound,
                         float factor, float* values, void* stream) {
  using namespace cuda;
  dequantise_kernel<true><<<grid_of(n), kThreads, 0, stream_of(stream)>>>(
      codes, n, dual_grid(error_bound), factor, values);
  check_launch("add codes");
}

}  // namespace gradwire::compressors
