#include <cub/device/device_scan.cuh>

#include "compressors/cuda/launch.cuh"

namespace gradwire::compressors::cuda {
namespace {

std::size_t scan(void* temporary, std::size_t bytes, std::uint64_t* values, std::uint64_t items,
                 cudaStream_t stream) {
  check_cuda(cub::DeviceScan::ExclusiveSum(temporary, bytes, values, values, items, stream),
             "add up numbers");
  return bytes;
}

}  // namespace

std::size_t scan_scratch(std::uint64_t items) {
  return aligned(scan(nullptr, 0, nullptr, items, nullptr));
}

void scan_exclusive(std::uint64_t* values, std::uint64_t items, std::byte* scratch, void* stream) {
  scan(scratch, scan_scratch(items), values, items, stream_of(stream));
}

}  // namespace gradwire::compressors::cuda
