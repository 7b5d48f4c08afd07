#pragma once
#include <vector>

#include "sim/graph/byte_range.h"

namespace gradwire::sim {

/// Adds a range behind the others; one that begins where the last one ends becomes a part of it.
/// Precondition: it begins no earlier.
inline void append(std::vector<ByteRange>& ranges, const ByteRange& range) {
  if (!ranges.empty() && ranges.back().first + ranges.back().count == range.first)
    ranges.back().count += range.count;
  else
    ranges.push_back(range);
}

}  // namespace gradwire::sim
