#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>

/// What the codecs use of CUDA, on the CPU: kernels run block after block, threads as coroutines
/// that change over at barriers, in an order that differs from launch to launch. For checking what
/// kernels compute where no GPU is at hand; it finds neither races within a warp's step nor errors
/// of memory order, and says nothing about speed. x86-64 only.

using cudaError_t = int;
using cudaStream_t = struct CpuStream*;
using cudaEvent_t = struct CpuEvent*;
enum { cudaSuccess = 0, cudaErrorInsufficientDriver = 35, cudaErrorNoDevice = 100 };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };
enum { cudaHostRegisterDefault, cudaStreamNonBlocking };

inline const char* cudaGetErrorName(cudaError_t) {
  return "cudaSuccess";
}
inline const char* cudaGetErrorString(cudaError_t) {
  return "no error";
}

// ---- Memory: the host's, filled with a pattern at first
inline cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  if (posix_memalign(memory, 256, bytes) != 0) std::abort();
  std::memset(*memory, 0xA5, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaFree(void* memory) {
  std::free(memory);
  return cudaSuccess;
}
inline cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  return cudaMalloc(memory, bytes);
}
inline cudaError_t cudaFreeHost(void* memory) {
  return cudaFree(memory);
}
inline cudaError_t cudaHostRegister(void*, std::size_t, int) {
  return cudaSuccess;
}
inline cudaError_t cudaHostUnregister(void*) {
  return cudaSuccess;
}
inline cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, int) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, int kind,
                                   cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  if (bytes > 0) std::memset(to, value, bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t) {
  return cudaMemset(to, value, bytes);
}

// ---- Streams and events: everything has happened when a call returns
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, int) {
  *stream = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaStreamDestroy(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = nullptr;
  return cudaSuccess;
}
inline cudaError_t cudaEventDestroy(cudaEvent_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return cudaSuccess;
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0;
  return cudaSuccess;
}
inline cudaError_t cudaGetLastError() {
  return cudaSuccess;
}
inline cudaError_t cudaGetDeviceCount(int* devices) {
  *devices = 1;
  return cudaSuccess;
}

// ---- Kernels
#define __global__
#define __device__
#define __shared__ static  // one block runs at a time
#define __grid_constant__
#define __launch_bounds__(threads)

struct CpuIndex {
  unsigned x = 1;
};
extern CpuIndex threadIdx, blockIdx, blockDim, gridDim;

struct float4 {
  float x, y, z, w;
};
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
using std::max;
using std::min;

namespace cuda_on_cpu {

void wait_for_block();
void wait_for_warp();
std::uint64_t* warp_slots();  ///< [32], one a lane
int* block_slot();
extern unsigned dynamic_shared[16384];
unsigned launch_count();  ///< of all kernels so far

void run(unsigned blocks, unsigned threads, void (*body)(void*), void* argument);

template <class Kernel>
void launch(unsigned blocks, unsigned threads, std::size_t, cudaStream_t, Kernel&& kernel) {
  run(
      blocks, threads, [](void* k) { (*static_cast<std::remove_reference_t<Kernel>*>(k))(); },
      &kernel);
}

/// The value that lane `from` gives.
template <class T>
T exchange(T value, unsigned from) {
  std::uint64_t* const slots = warp_slots();
  std::memcpy(slots + threadIdx.x % 32, &value, sizeof value);
  wait_for_warp();
  std::memcpy(&value, slots + from, sizeof value);
  wait_for_warp();
  return value;
}

}  // namespace cuda_on_cpu

inline void __syncthreads() {
  cuda_on_cpu::wait_for_block();
}
inline int __syncthreads_or(int value) {
  int* const any = cuda_on_cpu::block_slot();
  __syncthreads();
  *any = 0;
  __syncthreads();
  if (value != 0) *any = 1;
  __syncthreads();
  return *any;
}
template <class T>
T __shfl_down_sync(unsigned, T value, int distance, int width = 32) {
  const unsigned lane = threadIdx.x % 32, to = lane + static_cast<unsigned>(distance);
  const unsigned end = (lane / static_cast<unsigned>(width) + 1) * static_cast<unsigned>(width);
  return cuda_on_cpu::exchange(value, to < end ? to : lane);
}
template <class T>
T __shfl_up_sync(unsigned, T value, int distance) {
  const unsigned lane = threadIdx.x % 32, by = static_cast<unsigned>(distance);
  return cuda_on_cpu::exchange(value, lane >= by ? lane - by : lane);
}
inline unsigned __ballot_sync(unsigned, bool vote) {
  std::uint64_t* const slots = cuda_on_cpu::warp_slots();
  slots[threadIdx.x % 32] = vote ? 1 : 0;
  cuda_on_cpu::wait_for_warp();
  unsigned votes = 0;
  for (unsigned lane = 0; lane < 32; ++lane) votes |= (slots[lane] & 1 ? 1u : 0u) << lane;
  cuda_on_cpu::wait_for_warp();
  return votes;
}
inline int __popc(unsigned bits) {
  return __builtin_popcount(bits);
}
inline unsigned __byte_perm(unsigned bytes, unsigned, unsigned selector) {
  if (selector != 0x0123) std::abort();  // all that is used
  return __builtin_bswap32(bytes);
}
template <class T, class U>
T atomicAdd(T* target, U value) {
  const T before = *target;
  *target = static_cast<T>(before + value);
  return before;
}
template <class T, class U>
T atomicMin(T* target, U value) {
  const T before = *target;
  *target = std::min(before, static_cast<T>(value));
  return before;
}
template <class T, class U>
T atomicMax(T* target, U value) {
  const T before = *target;
  *target = std::max(before, static_cast<T>(value));
  return before;
}
template <class T, class U>
T atomicOr(T* target, U value) {
  const T before = *target;
  *target = static_cast<T>(before | value);
  return before;
}
