#pragma once
#include "compressors/arithmetic/bits.h"
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

__device__ inline std::uint64_t first_bad(const CudaReport* report) {
  return *static_cast<const volatile std::uint64_t*>(&report->first_bad);
}
__device__ inline bool refused(const CudaReport* report) {
  return first_bad(report) != kNothingBad;
}
/// For kernels with __syncthreads(): the same answer for all threads of a block, even if another
/// block refuses something meanwhile.
__device__ inline bool block_refused(const CudaReport* report, std::uint64_t below = kNothingBad) {
  return __syncthreads_or(first_bad(report) < below) != 0;
}

/// The lowest position wins, whatever the order of threads.
__device__ inline void refuse(CudaReport* report, std::uint64_t position) {
  atomicMin(reinterpret_cast<unsigned long long*>(&report->first_bad), position);
}

/// Fields that may lie on any byte, little-endian.
__device__ inline void store_bytes(std::byte* to, std::uint32_t value, unsigned bytes) {
  for (unsigned i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> (8 * i));
}
__device__ inline std::uint32_t load_bytes(const std::byte* from, unsigned bytes) {
  std::uint32_t value = 0;
  for (unsigned i = 0; i < bytes; ++i) value |= static_cast<std::uint32_t>(from[i]) << (8 * i);
  return value;
}
__device__ inline float load_float(const std::byte* from) {
  return float_of(load_bytes(from, 4));
}

/// words[j] = the word of element first + j, j < 4: one Philox block, or two where misaligned.
__device__ inline void draw_four(const RandomStream& draws, std::uint64_t first,
                                 std::uint32_t* words) {
  const PhiloxBlock a = philox_block(draws, static_cast<std::uint32_t>(first / 4));
  const unsigned skip = first % 4;
  words[0] = a.word[0], words[1] = a.word[1], words[2] = a.word[2], words[3] = a.word[3];
  if (skip == 0) return;
  const PhiloxBlock b = philox_block(draws, static_cast<std::uint32_t>(first / 4 + 1));
  const std::uint32_t all[6] = {a.word[1], a.word[2], a.word[3], b.word[0], b.word[1], b.word[2]};
#pragma unroll
  for (unsigned j = 0; j < 4; ++j)  // without an index that the compiler does not know
    words[j] = skip == 1 ? all[j] : skip == 2 ? all[j + 1] : all[j + 2];
}

}  // namespace gradwire::compressors::cuda
