#pragma once
#include "compressors/layout/sections.h"

/// The payload of `qsgd`. Fixed width: a norm for each bucket, all of them first; then all codes,
/// sign above level.
namespace gradwire::compressors {

using QsgdNorm = Field<"norm", float, FiniteScale<"a norm">>;

struct QsgdLayout : Layout<BucketFields<QsgdNorm>, Codes<"sign and level", LevelAtMost>> {
  enum Section { kNorms, kCodes };
  constexpr QsgdLayout() = default;
  /// `levels`: s; a code has a sign and ceil(log2(s + 1)) bits.
  QsgdLayout(std::uint32_t levels, std::uint64_t bucket)
      : Layout({.count = {bucket}}, codes_of(levels)) {}
  GRADWIRE_HD constexpr int bits() const { return section<kCodes>().bits; }
  GRADWIRE_HD constexpr std::uint64_t bucket() const { return section<kNorms>().count.bucket; }
  GRADWIRE_HD constexpr std::uint32_t levels() const { return section<kCodes>().check.largest; }

 private:
  static Codes<"sign and level", LevelAtMost> codes_of(std::uint32_t levels) {
    const int bits = 1 + static_cast<int>(std::bit_width(levels));
    return Codes<"sign and level", LevelAtMost>(bits, {levels, bits});
  }
};

}  // namespace gradwire::compressors
