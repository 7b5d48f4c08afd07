#include "compressors/codecs/topk/cuda.h"
#include "compressors/cuda/launch.cuh"

/// Selected entries as pairs of index and value.
namespace gradwire::compressors::cuda {
namespace {

/// Pairs are read and written as words.
__device__ constexpr std::uint64_t index_word(std::uint64_t i) {
  return TopkPairs().entry_at<TopkPairs::kEntries, TopkPairs::kIndex>(i) / 4;
}
__device__ constexpr std::uint64_t value_word(std::uint64_t i) {
  return TopkPairs().entry_at<TopkPairs::kEntries, TopkPairs::kValue>(i) / 4;
}

__global__ void write_pairs_kernel(DeviceSelection selected, std::uint32_t* payload,
                                   CudaReport* report) {
  if (refused(report)) return;
  const std::uint32_t count = *selected.count;
  if (first_item() == 0) {
    payload[0] = count;
    report->written = TopkPairs(count).size({});
  }
  for (std::uint64_t i = first_item(); i < count; i += stride()) {
    payload[index_word(i)] = selected.indices[i];
    payload[value_word(i)] = bits_of(selected.values[i]);
  }
}

__global__ void check_pairs_kernel(const std::uint32_t* payload, std::uint32_t entries,
                                   std::uint64_t n, CudaReport* report) {
  if (first_item() == 0 && payload[0] != entries) refuse(report, 0);
  for (std::uint64_t i = first_item(); i < entries; i += stride()) {
    const std::uint32_t index = payload[index_word(i)];
    const bool ordered = i == 0 || payload[index_word(i - 1)] < index;
    const bool finite = is_finite(float_of(payload[value_word(i)]));
    if (index >= n || !ordered || !finite) refuse(report, 4 * index_word(i));
  }
}

__global__ void scatter_pairs_kernel(const std::uint32_t* payload, std::uint32_t entries, Sink to) {
  if (refused(to.report)) return;
  for (std::uint64_t i = first_item(); i < entries; i += stride()) {
    float& target = to.values[payload[index_word(i)]];
    const float value = float_of(payload[value_word(i)]);
    target = to.add ? target + to.factor * value : value;
  }
}

}  // namespace

void pairs_encode(const DeviceSelection& selected, std::uint32_t most, std::byte* payload,
                  CudaReport* report, void* stream) {
  write_pairs_kernel<<<grid_of(most), kThreads, 0, stream_of(stream)>>>(
      selected, reinterpret_cast<std::uint32_t*>(payload), report);
  check_launch("write pairs");
}

void pairs_decode(const std::byte* payload, std::uint32_t entries, const Sink& to) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(payload);
  if (!to.trusted) {
    check_pairs_kernel<<<grid_of(entries), kThreads, 0, stream_of(to.stream)>>>(words, entries,
                                                                                to.n, to.report);
    check_launch("check pairs");
  }
  if (!to.add) zero(to);
  scatter_pairs_kernel<<<grid_of(entries), kThreads, 0, stream_of(to.stream)>>>(words, entries, to);
  check_launch("scatter pairs");
}

}  // namespace gradwire::compressors::cuda
