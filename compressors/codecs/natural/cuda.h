#pragma once
#include "compressors/codecs/natural/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `natural`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

/// lowest = 0: 9 bits.
void natural_encode(Encodes from, std::uint32_t lowest);
void natural_decode(Decodes to, std::uint32_t lowest);

}  // namespace gradwire::compressors::cuda
