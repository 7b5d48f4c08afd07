#pragma once
#include <cstddef>
#include <cstdint>

#include "compressors/kernels/levels.h"

/// The inner loop of `minmax` that goes over memory once. Every instruction set gives the same
/// bits. No alignment is required; buffers do not overlap.
namespace gradwire::compressors::kernels {

/// What bucketed_codes() met.
struct BucketsSeen {
  bool finite = true;        ///< if not, codes and headers mean nothing
  std::size_t too_wide = 0;  ///< the first value of the first bucket of infinite unit; n if none is
};
/// Ranges, grids and codes of whole buckets (the last may be shorter), multiples of 64 and at most
/// kLevelChunk long, in one pass over memory. headers: unit and origin, f32 each, for each bucket.
/// Rounds half up; `streamed`: codes go past the caches, for calls within for_ranges.
BucketsSeen bucketed_codes(const float* values, std::size_t n, std::size_t bucket,
                           std::uint32_t top, std::byte* headers, const CodeOutput& codes,
                           bool streamed);

}  // namespace gradwire::compressors::kernels
