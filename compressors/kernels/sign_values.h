#pragma once
#include <cstddef>

#include "compressors/kernels/output.h"

/// One bit an element, LSB first. Every instruction set gives the same bits. No alignment is
/// required.
namespace gradwire::compressors::kernels {

/// Decoded = scale, or -scale where the bit is set.
void sign_values(const std::byte* bits, std::size_t n, float scale, Output output, float* values);

}  // namespace gradwire::compressors::kernels
