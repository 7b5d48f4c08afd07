#pragma once
#include "compressors/arithmetic/levels.h"
#include "compressors/cuda/launch.cuh"

namespace gradwire::compressors::cuda {

/// An encoder's rule (packed.cuh): evenly spaced levels, on a grid for each bucket or row.
struct LevelEncoder {
  static constexpr bool kChecks = false;
  const LevelGrid* grids;
  std::uint64_t bucket;
  LevelRounding rounding;
  LevelGrid grid = {};
  std::uint64_t end = 0;  ///< of the bucket whose grid that is

  __device__ void start() {}
  __device__ bool draws() const { return rounding == LevelRounding::kDrawn; }
  __device__ std::uint32_t code(std::uint64_t e, float value, std::uint32_t word) {
    if (e >= end) {
      const std::uint64_t b = e / bucket;
      grid = grids[b];
      end = (b + 1) * bucket;
    }
    return level_of(value, grid, rounding, word >> 8);
  }
};

}  // namespace gradwire::compressors::cuda
