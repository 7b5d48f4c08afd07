#include "compressors/codecs/randomk/arithmetic.h"
#include "compressors/codecs/randomk/cuda.h"
#include "compressors/cuda/batch.cuh"
#include "compressors/cuda/headers.cuh"

/// randomk. The permutation's words are drawn where they are needed: unlike on the CPU, that takes
/// less time than reading a table of them.
namespace gradwire::compressors::cuda {
namespace {

constexpr unsigned kKeyWords = 2;

struct CheckValues {
  static constexpr unsigned kBlockThreads = kThreads;
  Source from;

  std::uint64_t units() const { return units_of(from.n, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, from.n, [&](std::uint64_t i) {
      if (!is_finite(from.values[i])) refuse(from.report, i);
    });
  }
};

/// The key, and k values.
struct GatherValues {
  static constexpr unsigned kBlockThreads = kThreads;
  Source from;
  std::uint32_t k;
  float scale;
  std::uint64_t key;
  std::uint32_t* payload;

  std::uint64_t units() const { return k == 0 ? 1 : units_of(k, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    if (unit == 0 && threadIdx.x == 0) {
      payload[0] = static_cast<std::uint32_t>(key);
      payload[1] = static_cast<std::uint32_t>(key >> 32);
    }
    const PermutationRule rule = permutation_rule(from.n);
    const PermutationWords words{key};
    for_each_of(unit, k, [&](std::uint64_t i) {
      const std::uint32_t e = permuted_index(static_cast<std::uint32_t>(i), rule, words);
      const float value = from.values[e] * scale;
      if (!is_finite(value)) refuse(from.report, e);
      payload[kKeyWords + i] = bits_of(value);
    });
  }
};

struct ClearValues {
  static constexpr unsigned kBlockThreads = kThreads;
  float* values;
  std::uint64_t n;

  std::uint64_t units() const { return units_of(n, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    for_each_of(unit, n, [&](std::uint64_t i) { values[i] = 0.0f; });
  }
};

// Any key gives k different elements.
struct ScatterValues {
  static constexpr unsigned kBlockThreads = kThreads;
  const std::uint32_t* payload;
  std::uint32_t k;
  Sink to;

  std::uint64_t units() const { return units_of(k, kEachUnit); }
  __device__ void run(std::uint64_t unit) const {
    if (refused(to.report)) return;
    const PermutationRule rule = permutation_rule(to.n);
    const PermutationWords words{std::uint64_t{payload[1]} << 32 | payload[0]};
    for_each_of(unit, k, [&](std::uint64_t i) {
      float& target = to.values[permuted_index(static_cast<std::uint32_t>(i), rule, words)];
      const float value = float_of(payload[kKeyWords + i]);
      target = to.add ? target + to.factor * value : value;
    });
  }
};

float scale_of(std::uint64_t n, std::uint32_t k, bool unbiased) {
  const double inverse_share = static_cast<double>(n) / static_cast<double>(k);
  return unbiased && k > 0 ? static_cast<float>(inverse_share) : 1.0f;
}

}  // namespace

void randomk_encode(Encodes from, std::span<const std::uint32_t> counts, bool shared,
                    bool unbiased) {
  launch_items(from.size(), common_stream(from), "check values",
               [&](std::size_t i) { return CheckValues{from[i].source}; });
  launch_items(from.size(), common_stream(from), "gather values", [&](std::size_t i) {
    const Source& source = from[i].source;
    return GatherValues{source, counts[i], scale_of(source.n, counts[i], unbiased),
                        permutation_key(source.draws, source.first_element, shared),
                        reinterpret_cast<std::uint32_t*>(from[i].payload)};
  });
}

void randomk_decode(Decodes to, std::span<const std::uint32_t> counts) {
  const auto words = [&](std::size_t i) {
    return reinterpret_cast<const std::uint32_t*>(to[i].payload);
  };
  check_fields_of(to, [&](std::size_t i) { return RandomkLayout(counts[i]); });
  if (!to[0].sink.add)
    launch_items(to.size(), common_stream(to), "clear values", [&](std::size_t i) {
      return ClearValues{to[i].sink.values, to[i].sink.n};
    });
  launch_items(to.size(), common_stream(to), "scatter values", [&](std::size_t i) {
    return ScatterValues{words(i), counts[i], to[i].sink};
  });
}

}  // namespace gradwire::compressors::cuda
