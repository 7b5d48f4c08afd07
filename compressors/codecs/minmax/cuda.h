#pragma once
#include "compressors/arithmetic/levels.h"
#include "compressors/codecs/minmax/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `minmax`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

std::size_t minmax_scratch(std::uint64_t n, std::uint64_t bucket);
void minmax_encode(Encodes from, const MinMaxLayout& layout, LevelRounding rounding);
void minmax_decode(Decodes to, const MinMaxLayout& layout);

}  // namespace gradwire::compressors::cuda
