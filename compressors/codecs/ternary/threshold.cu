#include <cub/device/device_radix_sort.cuh>

#include "compressors/codecs/ternary/cuda.h"
#include "compressors/codecs/ternary/threshold.h"
#include "compressors/cuda/launch.cuh"

/// The ternary code of least error: magnitudes sorted downwards, sums of their mantissas by a scan,
/// then the largest gain among the ends of runs of equal magnitudes.
namespace gradwire::compressors::cuda {
namespace {

constexpr unsigned kExponents = 256;
constexpr unsigned kGainBlocks = 1024;

/// Of equal gains, the candidate that keeps fewer: the lower position in the sorted order.
struct Candidate {
  double gain, sum;
  std::uint32_t position, key;

  __device__ void offer(const Candidate& other) {
    if (other.gain > gain || (other.gain == gain && other.position < position)) *this = other;
  }
};
constexpr std::uint32_t kNoPosition = ~std::uint32_t{0};

struct Scratch {
  FoundThreshold* found;
  std::uint32_t* first;  ///< [kExponents]: where a magnitude's exponent field begins, or n
  double* above;         ///< [kExponents]: the sum of all magnitudes with a larger one
  Candidate* best;       ///< [kGainBlocks]
  std::uint32_t *keys, *sorted;
  std::uint64_t* mantissas;  ///< [n + 1]: in the end, of those before
  std::byte* temporary;
  std::size_t temporary_bytes;
};

// Keys have 31 bits; the order of equal ones does not matter.
std::size_t sort_keys(const Scratch& s, std::size_t bytes, std::uint32_t n, cudaStream_t stream) {
  check_cuda(cub::DeviceRadixSort::SortKeysDescending(s.temporary, bytes, s.keys, s.sorted, n, 0,
                                                      31, stream),
             "sort magnitudes");
  return bytes;
}

std::size_t temporary_size(std::uint32_t n) {
  const std::size_t sort = sort_keys(Scratch{}, 0, n, nullptr);
  const std::size_t sum = scan_scratch(std::uint64_t{n} + 1);
  return sort > sum ? sort : sum;
}

/// Parts of the scratch; without a base, `temporary_bytes` is the size of all.
Scratch scratch_in(std::byte* base, std::uint32_t n) {
  std::size_t at = 0;
  const auto take = [&](std::size_t bytes) {
    std::byte* part = base + at;
    at += aligned(bytes);
    return part;
  };
  Scratch s;
  s.found = reinterpret_cast<FoundThreshold*>(take(sizeof(FoundThreshold)));
  s.first = reinterpret_cast<std::uint32_t*>(take(kExponents * sizeof(std::uint32_t)));
  s.above = reinterpret_cast<double*>(take(kExponents * sizeof(double)));
  s.best = reinterpret_cast<Candidate*>(take(kGainBlocks * sizeof(Candidate)));
  s.keys = reinterpret_cast<std::uint32_t*>(take(std::size_t{n} * sizeof(std::uint32_t)));
  s.sorted = reinterpret_cast<std::uint32_t*>(take(std::size_t{n} * sizeof(std::uint32_t)));
  s.mantissas =
      reinterpret_cast<std::uint64_t*>(take((std::size_t{n} + 1) * sizeof(std::uint64_t)));
  s.temporary = base + at;
  s.temporary_bytes = at;
  return s;
}

__global__ void begin_kernel(std::uint32_t n, Scratch s) {
  s.first[threadIdx.x] = n;
  if (threadIdx.x == 0) *s.found = FoundThreshold{kKeepNothing, 0.0f};
}

__global__ void keys_kernel(Source from, std::uint32_t* keys) {
  for (std::uint64_t i = first_item(); i < from.n; i += stride()) {
    keys[i] = magnitude_bits(from.values[i]);
    if (keys[i] >= kInfinityBits) refuse(from.report, i);
  }
}

__global__ void mantissas_kernel(std::uint32_t n, Scratch s) {
  if (first_item() == 0) s.mantissas[n] = 0;
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    const std::uint32_t key = s.sorted[i], exponent = key >> 23;
    s.mantissas[i] = mantissa_of(key);
    if (i == 0 || s.sorted[i - 1] >> 23 != exponent)
      s.first[exponent] = static_cast<std::uint32_t>(i);
  }
}

// As DescendingSum adds them: from the largest exponent down, those that occur.
__global__ void above_kernel(std::uint32_t n, Scratch s) {
  double above = 0;
  std::uint32_t next = n;  // where the elements of the exponent below begin
  std::uint64_t total[kExponents];
  for (int e = 0; e < static_cast<int>(kExponents); ++e) {
    const std::uint32_t first = s.first[e];
    total[e] = first < n ? s.mantissas[next] - s.mantissas[first] : 0;
    if (first < n) next = first;
  }
  for (int e = kExponents; e-- > 0;) {
    s.above[e] = above;
    if (s.first[e] < n) above += scaled_mantissas(static_cast<std::uint32_t>(e), total[e]);
  }
}

__device__ Candidate candidate_at(const Scratch& s, std::uint32_t n, std::uint32_t i) {
  const std::uint32_t key = s.sorted[i], exponent = key >> 23;
  const bool ends_run = i + 1 == n || s.sorted[i + 1] != key;
  if (key == 0 || !ends_run) return {0, 0, kNoPosition, kKeepNothing};
  const std::uint64_t own = s.mantissas[i + std::uint64_t{1}] - s.mantissas[s.first[exponent]];
  const double sum = s.above[exponent] + scaled_mantissas(exponent, own);
  return {threshold_gain(sum, std::uint64_t{i} + 1), sum, i, key};
}

/// Thread 0 ends with the block's best.
__device__ void best_of_block(Candidate& mine) {
  __shared__ Candidate shared[kThreads];
  shared[threadIdx.x] = mine;
  __syncthreads();
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) shared[threadIdx.x].offer(shared[threadIdx.x + half]);
    __syncthreads();
  }
  mine = shared[0];
}

__global__ void gains_kernel(std::uint32_t n, Scratch s) {
  Candidate mine{0, 0, kNoPosition, kKeepNothing};
  for (std::uint64_t i = first_item(); i < n; i += stride())
    mine.offer(candidate_at(s, n, static_cast<std::uint32_t>(i)));
  best_of_block(mine);
  if (threadIdx.x == 0) s.best[blockIdx.x] = mine;
}

__global__ void choose_kernel(Scratch s) {
  Candidate mine{0, 0, kNoPosition, kKeepNothing};
  for (unsigned i = threadIdx.x; i < kGainBlocks; i += kThreads) mine.offer(s.best[i]);
  best_of_block(mine);
  if (threadIdx.x == 0 && mine.position != kNoPosition)
    *s.found = {mine.key, threshold_level(mine.sum, std::uint64_t{mine.position} + 1)};
}

}  // namespace

std::size_t threshold_scratch(std::uint32_t n) {
  return scratch_in(nullptr, n).temporary_bytes + temporary_size(n);
}

void find_threshold(const Source& from, std::byte* scratch) {
  const auto n = static_cast<std::uint32_t>(from.n);
  const cudaStream_t stream = stream_of(from.stream);
  const Scratch s = scratch_in(scratch, n);
  begin_kernel<<<1, kExponents, 0, stream>>>(n, s);
  check_launch("begin a threshold");
  if (n == 0) return;
  keys_kernel<<<grid_of(n), kThreads, 0, stream>>>(from, s.keys);
  check_launch("make sort keys");
  sort_keys(s, temporary_size(n), n, stream);
  mantissas_kernel<<<grid_of(n), kThreads, 0, stream>>>(n, s);
  check_launch("take mantissas");
  scan_exclusive(s.mantissas, std::uint64_t{n} + 1, s.temporary, from.stream);
  above_kernel<<<1, 1, 0, stream>>>(n, s);
  check_launch("sum by exponents");
  gains_kernel<<<kGainBlocks, kThreads, 0, stream>>>(n, s);
  check_launch("find gains");
  choose_kernel<<<1, kThreads, 0, stream>>>(s);
  check_launch("choose a threshold");
}

}  // namespace gradwire::compressors::cuda
