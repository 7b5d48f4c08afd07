#pragma once
#include "compressors/codecs/randomk/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `randomk`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

/// `counts`: entries of each tensor.
void randomk_encode(Encodes from, std::span<const std::uint32_t> counts, bool shared,
                    bool unbiased);
void randomk_decode(Decodes to, std::span<const std::uint32_t> counts);

}  // namespace gradwire::compressors::cuda
