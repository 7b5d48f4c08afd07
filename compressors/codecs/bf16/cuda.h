#pragma once
#include "compressors/codecs/half_layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `bf16`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

void bf16_encode(Encodes from, bool saturate);
void bf16_decode(Decodes to);

}  // namespace gradwire::compressors::cuda
