#pragma once
#include "compressors/cuda/cuda_memory.h"
#include "compressors/cuda/launchers.h"

namespace gradwire::compressors::cuda {

inline constexpr unsigned kThreads = 256;

/// Enough blocks for one item a thread, at most what keeps a device busy; kernels stride over it.
inline unsigned grid_of(std::uint64_t items) {
  const std::uint64_t blocks = (items + kThreads - 1) / kThreads;
  return static_cast<unsigned>(blocks < 1 ? 1 : blocks > 65536 ? 65536 : blocks);
}

inline cudaStream_t stream_of(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

/// The message names the kernel; asynchronous faults surface at the caller's synchronisation.
inline void check_launch(const char* kernel) {
  check_cuda(cudaGetLastError(), kernel);
}

__device__ inline std::uint64_t first_item() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ inline std::uint64_t stride() {
  return static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
}

__device__ inline bool refused(const CudaReport* report) {
  return *static_cast<const volatile std::uint64_t*>(&report->first_bad) != kNothingBad;
}

/// The lowest position wins, whatever the order of threads.
__device__ inline void refuse(CudaReport* report, std::uint64_t position) {
  atomicMin(reinterpret_cast<unsigned long long*>(&report->first_bad), position);
}

}  // namespace gradwire::compressors::cuda
