#pragma once
#include "compressors/cuda/launchers.h"

/// Launches of `stc`, as compressors/cuda/launchers.h describes them.
namespace gradwire::compressors::cuda {

struct StcFormat {
  int b;                     ///< Golomb parameter
  std::uint64_t header;      ///< bytes
  std::uint64_t most_bytes;  ///< of the codes
};
std::size_t stc_scratch(std::uint32_t k, std::uint64_t most_bytes);
void stc_encode(const DeviceSelection& selected, std::uint32_t k, const StcFormat& format,
                std::byte* payload, std::byte* scratch, CudaReport* report, void* stream);
/// residual[index] = value less what stc_encode sent of it, for each entry.
void stc_subtract(const DeviceSelection& selected, std::uint32_t k, std::byte* scratch,
                  float* residual, const CudaReport* report, void* stream);

}  // namespace gradwire::compressors::cuda
