#pragma once
#include "compressors/codecs/dgc/arithmetic.h"
#include "compressors/layout/sections.h"

/// The payload of `dgc`: a count, then so many entries {u16 run, f32 value}: skip `run` positions,
/// the next one holds `value`. A gap above 65,535 begins with fillers (run = 65,535, value = +0),
/// each of which covers 65,536 positions.
namespace gradwire::compressors {

struct DgcHead : Layout<Field<"count", std::uint32_t>> {
  enum Section { kCount };
  static constexpr std::uint64_t kEntryBytes = 6;

  constexpr std::uint64_t bytes() const { return size({}); }
  constexpr std::uint64_t entries_bytes(std::uint64_t entries) const {
    return bytes() + kEntryBytes * entries;
  }
  /// Of `selected` elements of n, at most, fillers included.
  constexpr std::uint64_t most_bytes(std::uint64_t n, std::uint64_t selected) const {
    return entries_bytes(selected + (n - selected) / kRunCovered + 1);
  }
};

}  // namespace gradwire::compressors
