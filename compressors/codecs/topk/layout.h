#pragma once
#include "compressors/layout/sections.h"

/// The head of `topk`. With indices = u32 and values = f32, pairs of index and value follow by
/// ascending index; with anything else, the format of the indices (u8, IndexFormat), the indices on
/// whole bytes, and to the end the values: f32[k], or the bare payload of the dense codec for a
/// tensor of k elements.
namespace gradwire::compressors {

struct TopkHead : Layout<Field<"count", std::uint32_t, CountsEntries>> {
  enum Section { kCount };
  static constexpr std::uint64_t kPairBytes = 8;

  constexpr std::uint64_t bytes() const { return size({}); }
  constexpr std::uint64_t pairs_bytes(std::uint64_t k) const { return bytes() + kPairBytes * k; }
};

}  // namespace gradwire::compressors
