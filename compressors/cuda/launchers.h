#pragma once
#include <cstddef>
#include <cstdint>

#include "base/philox.h"
#include "compressors/cuda/cuda_codec.h"

/// Kernel launches behind plain functions, so that only .cu files are compiled by nvcc. Every
/// kernel that changes the caller's values (copy, add, from_half, scatter) does nothing if the
/// report names something bad when it starts.
namespace gradwire::compressors::cuda {

void begin_report(CudaReport* report, void* stream);
void finish_report(CudaReport* report, std::uint64_t written, void* stream);

// elementwise.cu
/// Reports the first element that is NaN or Inf.
void check_finite(const float* values, std::uint64_t n, CudaReport* report, void* stream);
void copy(const float* values, std::uint64_t n, float* out, CudaReport* report, void* stream);
/// out += factor * values, product rounded first.
void add(const float* values, std::uint64_t n, float factor, float* out, CudaReport* report,
         void* stream);
void to_half(const float* values, std::uint64_t n, bool saturate, std::byte* halves,
             CudaReport* report, void* stream);
void from_half(const std::byte* halves, std::uint64_t n, float* values, CudaReport* report,
               void* stream);
void from_half_add(const std::byte* halves, std::uint64_t n, float factor, float* values,
                   CudaReport* report, void* stream);

// ternary.cu
std::size_t ternary_scratch_size(std::uint64_t n);
/// *scale = the tensor's own scale.
void ternary_own_scale(const float* values, std::uint64_t n, double clip, float* scale,
                       std::byte* scratch, CudaReport* report, void* stream);
void store_float(float value, float* target, void* stream);
/// Codes at 2 bits with the scale found at *scale.
void ternary_codes(const float* values, std::uint64_t n, const float* scale,
                   const RandomStream& draws, std::uint64_t first_element, std::byte* codes,
                   CudaReport* report, void* stream);
/// A whole payload: scale, then codes. values = decoded, or += factor * decoded. A trusted payload
/// is skipped if the report names something bad.
void ternary_values(const std::byte* payload, std::uint64_t n, float* values, CudaReport* report,
                    void* stream);
void ternary_values_add(const std::byte* payload, std::uint64_t n, float factor, bool trusted,
                        float* values, CudaReport* report, void* stream);

// topk.cu
std::size_t topk_scratch_size(std::uint32_t n);
/// The k largest magnitudes, ties to the lower index, as u32 k and entries by ascending index.
void topk_payload(const float* values, std::uint32_t n, std::uint32_t k, std::byte* payload,
                  std::byte* scratch, CudaReport* report, void* stream);
/// Checks the count and `entries` entries of a payload.
void topk_check(const std::byte* payload, std::uint32_t entries, std::uint64_t n,
                CudaReport* report, void* stream);
/// values[index] = value of each entry, or += factor * value. Run topk_check first.
void topk_scatter(const std::byte* payload, std::uint32_t entries, float* values,
                  CudaReport* report, void* stream);
void topk_scatter_add(const std::byte* payload, std::uint32_t entries, float factor, float* values,
                      CudaReport* report, void* stream);
void zero(float* values, std::uint64_t n, void* stream);

}  // namespace gradwire::compressors::cuda
