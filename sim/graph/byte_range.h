#pragma once
#include <cstdint>

namespace gradwire::sim {

/// Bytes [first, first + count) of a payload.
struct ByteRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

}  // namespace gradwire::sim
