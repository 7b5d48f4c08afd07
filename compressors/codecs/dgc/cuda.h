#pragma once
#include "compressors/codecs/dgc/layout.h"
#include "compressors/cuda/launchers.h"

/// Launches of `dgc`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

std::size_t runs_scratch(std::uint32_t most);
void runs_encode(const DeviceSelection& selected, std::uint32_t most, std::byte* payload,
                 std::byte* scratch, CudaReport* report, void* stream);
void runs_decode(const std::byte* payload, std::uint32_t entries, const Sink& to);

}  // namespace gradwire::compressors::cuda
