#pragma once
#include "compressors/codecs/log/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `log`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

std::size_t log_scratch(std::uint64_t n);
void log_encode(Encodes from);
void log_decode(Decodes to);

}  // namespace gradwire::compressors::cuda
