#pragma once
#include "compressors/codecs/dgc/arithmetic.h"
#include "compressors/layout/sections.h"

/// The payload of `dgc`: a count, then so many entries: skip `run` positions, the next one holds
/// `value`. A gap above 65,535 begins with fillers (run = 65,535, value = +0), each of which covers
/// 65,536 positions.
namespace gradwire::compressors {

using DgcEntries = Records<"entries", Field<"run", std::uint16_t>, Field<"value", float>>;

struct DgcLayout : Layout<Field<"count", std::uint32_t>, DgcEntries> {
  enum Section { kCount, kEntries };
  enum Entry { kRun, kValue };
  constexpr DgcLayout() = default;
  GRADWIRE_HD constexpr explicit DgcLayout(std::uint64_t entries)
      : Layout({}, DgcEntries(entries)) {}
  /// Of `selected` elements of n, at most, fillers included.
  static constexpr DgcLayout most(std::uint64_t n, std::uint64_t selected) {
    return DgcLayout(selected + (n - selected) / kRunCovered + 1);
  }
};

}  // namespace gradwire::compressors
