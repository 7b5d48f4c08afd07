#include "trainers/updates/shards.h"

#include <catch2/catch.hpp>

namespace gradwire::trainers {
namespace {

Layout two_buckets() {
  const std::vector<Parameter> parameters = {{"a", {10}}, {"b", {3}}};
  return Layout(parameters, Bytes(4));  // backward order: b, then a
}

TEST_CASE("every element has one rank, and parts of a bucket differ by one") {
  const Layout layout = two_buckets();
  for (const int ranks : {1, 2, 3, 4, 7}) {
    std::vector<int> owners(13);
    for (int rank = 0; rank < ranks; ++rank) {
      for (const ElementRange& range : shard_of(layout, rank, ranks)) {
        CHECK(range.count > 0);
        for (std::int64_t e = range.first; e < range.first + range.count; ++e)
          ++owners[static_cast<std::size_t>(e)];
      }
      for (const BucketSlot& bucket : layout.buckets()) {
        const std::int64_t count = shard_of_bucket(bucket, rank, ranks).count;
        CHECK(count >= bucket.count / ranks);
        CHECK(count <= largest_shard(bucket, ranks));
      }
    }
    CHECK(owners == std::vector<int>(13, 1));
  }
}

TEST_CASE("a rank has the chunk after its own number, as a ring's reduce-scatter leaves it") {
  // Of 10 elements among 3 chunk 0 is [0, 3), chunk 1 [3, 6), chunk 2 [6, 10); b has 3 before them.
  const Layout layout = two_buckets();
  CHECK(shard_of_bucket(layout.buckets()[1], 0, 3) == ElementRange{3 + 3, 3});
  CHECK(shard_of_bucket(layout.buckets()[1], 1, 3) == ElementRange{3 + 6, 4});
  CHECK(shard_of_bucket(layout.buckets()[1], 2, 3) == ElementRange{3 + 0, 3});
  CHECK(largest_shard(layout, 3) == 5);  // rank 1: 4 of a, 1 of b
}

TEST_CASE("what is in both of two lists of ranges") {
  const std::vector<ElementRange> a = {{0, 4}, {6, 4}}, b = {{2, 6}, {9, 5}};
  const std::vector<ElementRange> both = {{2, 2}, {6, 2}, {9, 1}};
  CHECK(common_ranges(a, b) == both);
  CHECK(common_ranges(b, a) == both);
  CHECK(common_ranges(a, {}).empty());
}

}  // namespace
}  // namespace gradwire::trainers
