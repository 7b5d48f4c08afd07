#pragma once
#include "compressors/codecs/half_layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `fp16`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

void fp16_encode(Encodes from, bool saturate);
void fp16_decode(Decodes to);

}  // namespace gradwire::compressors::cuda
