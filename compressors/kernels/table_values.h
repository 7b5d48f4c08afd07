#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/kernels/output.h"

namespace gradwire::compressors::kernels {

/// Decoded = table[codes[i]]; `entries` = 2, 4, ... 256, the table's size; codes are below it.
/// Every instruction set gives the same bits. No alignment is required.
void table_values(const std::uint8_t* codes, std::size_t n, const float* table, int entries,
                  Output output, float* values);

}  // namespace gradwire::compressors::kernels
