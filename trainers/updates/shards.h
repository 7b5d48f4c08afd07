#pragma once
#include <cstdint>
#include <vector>

#include "trainers/updates/update_rule.h"

/// Which elements a rank holds where optimiser state, gradients or weights are partitioned over
/// ranks (ZeRO, arXiv 1910.02054): of each bucket one of N equal chunks, the one whose sum a ring's
/// reduce-scatter leaves at that rank (sim/graph/chunk_range.h). Nothing is padded.
namespace gradwire::trainers {

/// The chunk that ends at `rank`: it starts at rank + 1, and goes once round.
inline int chunk_of_rank(int rank, int ranks) {
  return (rank + 1) % ranks;
}

/// Of one bucket, in the flat buffers.
ElementRange shard_of_bucket(const BucketSlot& bucket, int rank, int ranks);
/// Of all buckets; those that are empty are left out.
std::vector<ElementRange> shard_of(const Layout& layout, int rank, int ranks);
/// What is in both.
std::vector<ElementRange> common_ranges(ElementRanges a, ElementRanges b);
/// The most elements that a rank holds of a bucket, and of all of them.
std::int64_t largest_shard(const BucketSlot& bucket, int ranks);
std::int64_t largest_shard(const Layout& layout, int ranks);
inline double share_of_largest(const Layout& layout, int ranks) {
  return static_cast<double>(largest_shard(layout, ranks)) / static_cast<double>(layout.elements());
}

}  // namespace gradwire::trainers
