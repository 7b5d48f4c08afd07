#include "trainers/updates/shards.h"

#include <algorithm>

#include "sim/graph/chunk_range.h"

namespace gradwire::trainers {

ElementRange shard_of_bucket(const BucketSlot& bucket, int rank, int ranks) {
  const sim::ChunkRange chunk = sim::chunk_range(bucket.count, ranks, chunk_of_rank(rank, ranks));
  return {bucket.first + chunk.first, chunk.count};
}

std::vector<ElementRange> shard_of(const Layout& layout, int rank, int ranks) {
  std::vector<ElementRange> shard;
  for (const BucketSlot& bucket : layout.buckets())
    if (const ElementRange range = shard_of_bucket(bucket, rank, ranks); range.count > 0)
      shard.push_back(range);
  return shard;
}

std::vector<ElementRange> common_ranges(ElementRanges a, ElementRanges b) {
  std::vector<ElementRange> common;
  for (std::size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const std::int64_t end_a = a[i].first + a[i].count, end_b = b[j].first + b[j].count;
    const std::int64_t first = std::max(a[i].first, b[j].first), end = std::min(end_a, end_b);
    if (first < end) common.push_back({first, end - first});
    ++(end_a < end_b ? i : j);
  }
  return common;
}

std::int64_t largest_shard(const BucketSlot& bucket, int ranks) {
  return (bucket.count + ranks - 1) / ranks;
}

std::int64_t largest_shard(const Layout& layout, int ranks) {
  std::int64_t largest = 0;
  for (int rank = 0; rank < ranks; ++rank)
    largest = std::max(largest, elements_of(shard_of(layout, rank, ranks)));
  return largest;
}

}  // namespace gradwire::trainers
