#pragma once
#include "compressors/codecs/none/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `none`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

void none_encode(Encodes from);
void none_decode(Decodes to);

}  // namespace gradwire::compressors::cuda
