#include "compressors/arithmetic/selection.h"
#include "compressors/cuda/launch.cuh"

/// randomk. The permutation's words are drawn where they are needed: unlike on the CPU, that takes
/// less time than reading a table of them.
namespace gradwire::compressors::cuda {
namespace {

constexpr unsigned kKeyWords = 2;

__global__ void check_kernel(Source from) {
  for (std::uint64_t i = first_item(); i < from.n; i += stride())
    if (!is_finite(from.values[i])) refuse(from.report, i);
}

__global__ void gather_kernel(Source from, std::uint32_t k, std::uint64_t key, float scale,
                              std::uint32_t* payload) {
  const PermutationRule rule = permutation_rule(from.n);
  if (first_item() == 0) {
    payload[0] = static_cast<std::uint32_t>(key);
    payload[1] = static_cast<std::uint32_t>(key >> 32);
  }
  for (std::uint64_t i = first_item(); i < k; i += stride()) {
    const std::uint32_t e =
        permuted_index(static_cast<std::uint32_t>(i), rule, PermutationWords{key});
    const float value = from.values[e] * scale;
    if (!is_finite(value)) refuse(from.report, e);
    payload[kKeyWords + i] = bits_of(value);
  }
}

__global__ void check_values_kernel(const std::uint32_t* payload, std::uint32_t k,
                                    CudaReport* report) {
  for (std::uint64_t i = first_item(); i < k; i += stride())
    if (!is_finite(float_of(payload[kKeyWords + i]))) refuse(report, 4 * (kKeyWords + i));
}

// Any key gives k different elements.
__global__ void scatter_kernel(const std::uint32_t* payload, std::uint32_t k, Sink to) {
  if (refused(to.report)) return;
  const PermutationRule rule = permutation_rule(to.n);
  const PermutationWords words{std::uint64_t{payload[1]} << 32 | payload[0]};
  for (std::uint64_t i = first_item(); i < k; i += stride()) {
    float& target = to.values[permuted_index(static_cast<std::uint32_t>(i), rule, words)];
    const float value = float_of(payload[kKeyWords + i]);
    target = to.add ? target + to.factor * value : value;
  }
}

}  // namespace

void randomk_encode(const Source& from, std::uint32_t k, bool shared, float scale,
                    std::byte* payload) {
  const std::uint64_t key = permutation_key(from.draws, from.first_element, shared);
  check_kernel<<<grid_of(from.n), kThreads, 0, stream_of(from.stream)>>>(from);
  check_launch("check values");
  gather_kernel<<<grid_of(k), kThreads, 0, stream_of(from.stream)>>>(
      from, k, key, scale, reinterpret_cast<std::uint32_t*>(payload));
  check_launch("gather values");
}

void randomk_decode(const std::byte* payload, std::uint32_t k, const Sink& to) {
  const auto* words = reinterpret_cast<const std::uint32_t*>(payload);
  if (!to.trusted) {
    check_values_kernel<<<grid_of(k), kThreads, 0, stream_of(to.stream)>>>(words, k, to.report);
    check_launch("check values");
  }
  if (!to.add) zero(to);
  scatter_kernel<<<grid_of(k), kThreads, 0, stream_of(to.stream)>>>(words, k, to);
  check_launch("scatter values");
}

}  // namespace gradwire::compressors::cuda
