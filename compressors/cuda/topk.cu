#include <cub/device/device_radix_sort.cuh>

#include "compressors/arithmetic/bits.h"
#include "compressors/cuda/launch.cuh"

namespace gradwire::compressors::cuda {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t aligned(std::size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

/// Keys (magnitude bits) and indices before and after the sort, then CUB's own storage.
struct Scratch {
  std::uint32_t *keys, *sorted_keys, *indices, *sorted_indices;
  std::byte* temporary;
  std::size_t temporary_bytes;
};

// The sort is stable, so that equal magnitudes stay in the order of their indices.
std::size_t sort_pairs(const Scratch& s, void* temporary, std::size_t bytes, std::uint32_t n,
                       cudaStream_t stream) {
  check_cuda(
      cub::DeviceRadixSort::SortPairsDescending(temporary, bytes, s.keys, s.sorted_keys, s.indices,
                                                s.sorted_indices, n, 0, 31, stream),
      "sort by magnitude");
  return bytes;
}

std::size_t sort_indices(const Scratch& s, void* temporary, std::size_t bytes, std::uint32_t k,
                         cudaStream_t stream) {
  check_cuda(cub::DeviceRadixSort::SortKeys(temporary, bytes, s.sorted_indices, s.indices, k, 0, 32,
                                            stream),
             "sort indices");
  return bytes;
}

Scratch scratch_in(std::byte* base, std::uint32_t n) {
  const std::size_t array = aligned(std::size_t{n} * sizeof(std::uint32_t));
  const auto part = [&](int i) { return reinterpret_cast<std::uint32_t*>(base + i * array); };
  return {part(0), part(1), part(2), part(3), base + 4 * array, 0};
}

std::size_t temporary_size(std::uint32_t n) {
  const Scratch none{};
  const std::size_t pairs = sort_pairs(none, nullptr, 0, n, nullptr);
  const std::size_t keys = sort_indices(none, nullptr, 0, n, nullptr);
  return pairs > keys ? pairs : keys;
}

__global__ void keys_kernel(const float* values, std::uint32_t n, std::uint32_t* keys,
                            std::uint32_t* indices, CudaReport* report) {
  for (std::uint64_t i = first_item(); i < n; i += stride()) {
    keys[i] = magnitude_bits(values[i]);
    indices[i] = static_cast<std::uint32_t>(i);
    if (keys[i] >= kInfinityBits) refuse(report, i);
  }
}

__global__ void entries_kernel(const float* values, const std::uint32_t* indices, std::uint32_t k,
                               std::uint32_t* payload) {
  if (first_item() == 0) payload[0] = k;
  for (std::uint64_t i = first_item(); i < k; i += stride()) {
    payload[1 + 2 * i] = indices[i];
    payload[2 + 2 * i] = bits_of(values[indices[i]]);
  }
}

__global__ void check_entries_kernel(const std::uint32_t* payload, std::uint32_t entries,
                                     std::uint64_t n, CudaReport* report) {
  if (first_item() == 0 && payload[0] != entries) refuse(report, 0);
  for (std::uint64_t i = first_item(); i < entries; i += stride()) {
    const std::uint32_t index = payload[1 + 2 * i];
    const bool ordered = i == 0 || payload[2 * i - 1] < index;
    const bool finite = (payload[2 + 2 * i] & 0x7FFFFFFFu) < kInfinityBits;
    if (index >= n || !ordered || !finite) refuse(report, 4 + 8 * i);
  }
}

template <bool kAdd>
__global__ void scatter_kernel(const std::uint32_t* payload, std::uint32_t entries, float factor,
                               float* values, CudaReport* report) {
  if (refused(report)) return;
  for (std::uint64_t i = first_item(); i < entries; i += stride()) {
    float& target = values[payload[1 + 2 * i]];
    const float value = float_of(payload[2 + 2 * i]);
    target = kAdd ? target + factor * value : value;
  }
}

const std::uint32_t* words_of(const std::byte* payload) {
  return reinterpret_cast<const std::uint32_t*>(payload);
}

}  // namespace

std::size_t topk_scratch_size(std::uint32_t n) {
  return 4 * aligned(std::size_t{n} * sizeof(std::uint32_t)) + temporary_size(n);
}

void topk_payload(const float* values, std::uint32_t n, std::uint32_t k, std::byte* payload,
                  std::byte* scratch, CudaReport* report, void* stream) {
  const cudaStream_t cuda_stream = stream_of(stream);
  if (n > 0) {
    const Scratch s = scratch_in(scratch, n);
    const std::size_t bytes = temporary_size(n);
    keys_kernel<<<grid_of(n), kThreads, 0, cuda_stream>>>(values, n, s.keys, s.indices, report);
    check_launch("make sort keys");
    sort_pairs(s, s.temporary, bytes, n, cuda_stream);
    sort_indices(s, s.temporary, bytes, k, cuda_stream);
    entries_kernel<<<grid_of(k), kThreads, 0, cuda_stream>>>(
        values, s.indices, k, reinterpret_cast<std::uint32_t*>(payload));
  } else {
    entries_kernel<<<1, 1, 0, cuda_stream>>>(values, nullptr, 0,
                                             reinterpret_cast<std::uint32_t*>(payload));
  }
  check_launch("write top-k entries");
}

void topk_check(const std::byte* payload, std::uint32_t entries, std::uint64_t n,
                CudaReport* report, void* stream) {
  check_entries_kernel<<<grid_of(entries), kThreads, 0, stream_of(stream)>>>(words_of(payload),
                                                                             entries, n, report);
  check_launch("check top-k entries");
}

void topk_scatter(const std::byte* payload, std::uint32_t entries, float* values,
                  CudaReport* report, void* stream) {
  scatter_kernel<false><<<grid_of(entries), kThreads, 0, stream_of(stream)>>>(
      words_of(payload), entries, 1.0f, values, report);
  check_launch("scatter top-k entries");
}

void topk_scatter_add(const std::byte* payload, std::uint32_t entries, float factor, float* values,
                      CudaReport* report, void* stream) {
  scatter_kernel<true><<<grid_of(entries), kThreads, 0, stream_of(stream)>>>(
      words_of(payload), entries, factor, values, report);
  check_launch("add top-k entries");
}

}  // namespace gradwire::compressors::cuda
