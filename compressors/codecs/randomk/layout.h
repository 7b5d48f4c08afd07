#pragma once
#include "compressors/layout/sections.h"

/// The payload of `randomk`: a key, then k values: value i is element permuted_index(i) of the
/// tensor, for the permutation of [0, n) whose words are those of the Philox stream {seed = key,
/// step, worker, tensor = 0}. k follows from n and the options, so nothing else is on the wire.
namespace gradwire::compressors {

struct RandomkLayout : Layout<Field<"key", std::uint64_t>, SentValues> {
  enum Section { kKey, kValues };
  constexpr RandomkLayout() = default;
  explicit RandomkLayout(std::uint64_t k) : Layout({}, {.count = {k}}) {}
};

}  // namespace gradwire::compressors
