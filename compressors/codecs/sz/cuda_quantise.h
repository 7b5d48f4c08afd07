#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/cuda/cuda_codec.h"

/// The quantising stages of `sz` on the device, number for number the CPU's
/// (arithmetic/dual_quantization.h). Choosing an error bound from a tensor's range, Huffman codes,
/// zero runs and the inverse prediction, which is serial along rows and columns, stay on the CPU.
/// All pointers are to device memory; calls only enqueue work on `stream`, as CudaCodec's do.
namespace gradwire::compressors {

/// codes[n] = dual_code(values[n]), 0 where a value is beyond the grid. error_bound > 0 and finite.
/// The report: `written` = n, or the first element that is NaN or Inf.
void cuda_quantise(const float* values, std::uint64_t n, float error_bound, std::int32_t* codes,
                   CudaReport* report, void* stream);

/// How codes are predicted: as SzCodes.
struct CudaPrediction {
  std::uint64_t columns = 0;  ///< of a row; n for one dimension
  std::uint32_t radius = 512;
  int predictor = 1;  ///< 0 none, 1: 1D, 2: 2D Lorenzo
};
inline constexpr std::uint32_t kLargestCudaRadius = 4096;

/// symbols[n] = difference + radius, 0 = the escape; and, where `counts` is not null,
/// counts[2 radius] = how often each occurs. Throws Error(kUsage) for a radius out of range.
void cuda_lorenzo_symbols(const std::int32_t* codes, std::uint64_t n, const CudaPrediction& how,
                          std::uint16_t* symbols, std::uint32_t* counts, void* stream);

/// values[n] = dual_value(codes[n]).
void cuda_dequantise(const std::int32_t* codes, std::uint64_t n, float error_bound, float* values,
                     void* stream);
/// values[n] += factor * dual_value(codes[n]), the product rounded first.
void cuda_dequantise_add(const std::int32_t* codes, std::uint64_t n, float error_bound,
                         float factor, float* values, void* stream);

}  // namespace gradwire::compressors
