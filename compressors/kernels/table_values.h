#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/kernels/levels.h"

namespace gradwire::compressors::kernels {

/// Decoded = table[code i]; `entries` = 2, 4, ... 256, the table's size; codes are below it. kAdd
/// adds them as they are. Returns the largest code. Every instruction set gives the same bits. No
/// alignment is required.
std::uint32_t table_values(const PackedCodes& codes, std::size_t n, const float* table, int entries,
                           Output output, float* values);

}  // namespace gradwire::compressors::kernels
