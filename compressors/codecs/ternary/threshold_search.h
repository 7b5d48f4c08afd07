#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "compressors/codecs/ternary/threshold.h"

namespace gradwire {
class ThreadTeam;
}
namespace gradwire::compressors {

/// Bytes that search_threshold needs for n values; they must be aligned to 8.
std::size_t threshold_search_scratch(std::size_t n);

/// The threshold of largest gain, exactly; of equal gains, the one that keeps fewer. level 0 where
/// all values are zero. If a value is not finite, `level` is not finite either.
///
/// No sort: values are counted in 65,536 bins by the top 16 bits of their magnitudes. The gains at
/// the bins' ends bound the gains inside; bins that may hold the best threshold (two or three, for
/// data that is spread at all) are counted again by all bits. Tensors below kSortedBelow are
/// sorted.
TernaryThreshold search_threshold(std::span<const float> values, std::span<std::byte> scratch,
                                  ThreadTeam* team);

inline constexpr std::size_t kSortedBelow = 8192;

}  // namespace gradwire::compressors
