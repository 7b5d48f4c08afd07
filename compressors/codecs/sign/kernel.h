#pragma once
#include <cstddef>

/// Block-sign's inner loops. Every instruction set gives the same bits. No alignment is required.
namespace gradwire::compressors::kernels {

/// Sign bits of n elements, LSB first, ceil(n / 8) bytes, unused bits 0; sums[b] = the ordered sum
/// (compressors/ordered_sum.h) of |values| in block b of kSumBlock elements. A sum is not finite
/// iff one of its values is not.
void sign_bits(const float* values, std::size_t n, std::byte* bits, double* sums);
/// The same of values[i] + residual[i], rounded to binary32; nothing but bits and sums is written.
void sign_bits_of_sum(const float* values, const float* residual, std::size_t n, std::byte* bits,
                      double* sums);
/// residual[i] = (values[i] + residual[i]) - scale sign(values[i] + residual[i]).
void sign_residual(const float* values, std::size_t n, float scale, float* residual);

}  // namespace gradwire::compressors::kernels
