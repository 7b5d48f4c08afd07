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

/// Levels as Elias omega codes.
struct ShownOmega {
  bool sparse = false;
  std::size_t nonzero = 0, count = 0;
  std::string type() const { return sparse ? "Elias omega, sparse" : "Elias omega, dense"; }
  std::string value() const {
    return std::to_string(nonzero) + " of " + std::to_string(count) + " not 0";
  }
};

/// A bucket of coded levels, which begins on a whole byte; one follows the other.
struct QsgdOmegaBucket : Layout<QsgdNorm, Stream<"levels", ShownOmega>> {
  enum Section { kNorm, kLevels };
  explicit QsgdOmegaBucket(std::size_t level_bytes = 0, const ShownOmega& shown = {})
      : Layout({}, {level_bytes, shown}) {}
};

}  // namespace gradwire::compressors
