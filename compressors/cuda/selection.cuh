#pragma once
#include "compressors/arithmetic/selection.h"
#include "compressors/cuda/launch.cuh"

/// The elements of largest magnitude, ties to the lower index, by ascending index. The k-th largest
/// magnitude is found digit by digit in counts; or a sample's gives a threshold, which is lowered
/// or given up by the rule of arithmetic/selection.h. No step waits for the host: kernels that turn
/// out not to be needed return at once. search.cu finds what is taken, selection.cu takes it.
namespace gradwire::compressors::cuda {

inline constexpr unsigned kBins = 2048;
inline constexpr unsigned kRounds = 16;
inline constexpr unsigned kTile = kRounds * kThreads;
inline constexpr unsigned kWarps = kThreads / 32;
inline constexpr int kThresholds = kThresholdRetries + 1;
inline constexpr std::uint32_t kNoKey = ~std::uint32_t{0};

struct SelectionState {
  std::uint32_t prefix, remaining;  ///< of the search: digits so far, the rank among their like
  bool search;                      ///< whether the k-th largest of all is looked for
  bool tiles_counted;               ///< by the first threshold, which holds
  // What is taken: keys >= sure, and the first `ties` of key `tie`.
  std::uint32_t sure, tie, ties, count;
  std::uint32_t thresholds[kThresholds], passed[kThresholds];
  std::uint32_t bins[kBins];
};

/// values, or values + residual; every step-th one.
struct Elements {
  const float* values;
  const float* residual;
  std::uint64_t count, step;
  __device__ float at(std::uint64_t i) const {
    const float value = values[i * step];
    return residual == nullptr ? value : value + residual[i * step];
  }
};

inline std::uint64_t tiles_of(const SelectionPlan& plan) {
  return (std::uint64_t{plan.n} + kTile - 1) / kTile;
}
inline unsigned tiles_grid(const SelectionPlan& plan) {
  return static_cast<unsigned>(tiles_of(plan) < 16384 ? tiles_of(plan) : 16384);
}

/// Finds `sure`, `tie`, `ties` and `count`; refuses what is not finite. tiles[tiles_of(plan)] is
/// filled if the state says so. plan.n > 0.
void search_selection(const Elements& all, const SelectionPlan& plan, SelectionState* state,
                      std::uint64_t* tiles, CudaReport* report, void* stream);

}  // namespace gradwire::compressors::cuda
