#pragma once
#include "compressors/arithmetic/levels.h"
#include "compressors/codecs/int8/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `int8`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

std::size_t int8_scratch(std::uint64_t n);
void int8_encode(Encodes from, LevelRounding rounding);
void int8_decode(Decodes to);

}  // namespace gradwire::compressors::cuda
