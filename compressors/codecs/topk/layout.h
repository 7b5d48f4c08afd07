#pragma once
#include "compressors/layout/sections.h"

/// The payload of `topk` with indices = u32 and values = f32: pairs of index and value by ascending
/// index.
namespace gradwire::compressors {

using TopkEntries = Records<"entries", Field<"index", std::uint32_t>, Field<"value", float>>;

struct TopkPairs : Layout<Field<"count", std::uint32_t, CountsEntries>, TopkEntries> {
  enum Section { kCount, kEntries };
  enum Entry { kIndex, kValue };
  constexpr TopkPairs() = default;
  GRADWIRE_HD constexpr explicit TopkPairs(std::uint64_t k) : Layout({}, TopkEntries(k)) {}
};

}  // namespace gradwire::compressors
