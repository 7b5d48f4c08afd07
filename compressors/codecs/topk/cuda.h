#pragma once
#include "compressors/codecs/topk/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `topk`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

void pairs_encode(const DeviceSelection& selected, std::uint32_t most, std::byte* payload,
                  CudaReport* report, void* stream);
void pairs_decode(const std::byte* payload, std::uint32_t entries, const Sink& to);

}  // namespace gradwire::compressors::cuda
