#pragma once
#include "compressors/arithmetic/levels.h"
#include "compressors/codecs/rowquant/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `rowquant`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

std::size_t rows_scratch(std::uint64_t n, std::uint64_t columns);
void rows_encode(Encodes from, const RowQuantLayout& layout, LevelRounding rounding);
void rows_decode(Decodes to, const RowQuantLayout& layout);
std::size_t columns_scratch(std::uint64_t columns);
void columns_encode(Encodes from, const RowQuantLayout& layout);
void columns_decode(Decodes to, const RowQuantLayout& layout);

}  // namespace gradwire::compressors::cuda
