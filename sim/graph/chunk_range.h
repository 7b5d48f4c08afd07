#pragma once
#include <cstdint>

namespace gradwire::sim {

/// Elements of chunk `chunk` of a reduction: [first, first + count).
struct ChunkRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Of `ranks` chunks, which differ by an element at most: [floor(c E / N), floor((c+1) E / N)).
/// Nothing overflows for any number of elements.
inline ChunkRange chunk_range(std::int64_t elements, int ranks, int chunk) {
  const std::int64_t whole = elements / ranks, rest = elements % ranks;
  const std::int64_t first = whole * chunk + rest * chunk / ranks;
  const std::int64_t next = whole * (chunk + 1) + rest * (chunk + 1) / ranks;
  return {first, next - first};
}

}  // namespace gradwire::sim
