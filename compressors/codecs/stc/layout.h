#pragma once
#include "compressors/codecs/sparse_values.h"
#include "compressors/coding/golomb_rice.h"
#include "compressors/layout/sections.h"

/// The payload of `stc`: the mean magnitude, and in front of it the number of entries where it is
/// stored; then Golomb-Rice gaps, each with a sign bit (1 = negative).
namespace gradwire::compressors {

struct StcOptions {
  double ratio = 0.0025;
  bool round_up = false;      ///< k = ceil(n p), as the released simulator; the paper: floor
  bool stored_count = false;  ///< a u32 k before mu
};

/// Of k codes, each with the low bits `b` of its gap.
struct ShownGaps {
  std::size_t k = 0;
  int b = 0;
  std::string type() const { return counted("Golomb-Rice", k); }
  std::string value() const { return "b = " + std::to_string(b); }
};

struct StcLayout
    : Layout<Optional<Field<"count", std::uint32_t, CountsEntries>>,
             Field<"mu", float, FiniteScale<"a value">>, Stream<"gaps and signs", ShownGaps>> {
  enum Section { kCount, kMean, kGaps };
  explicit StcLayout(bool stored_count, std::size_t gap_bytes = 0, const ShownGaps& gaps = {})
      : Layout({.present = stored_count}, {}, {gap_bytes, gaps}) {}
};

/// What its options make of a tensor of n elements.
struct StcRule {
  StcOptions options;

  std::size_t entries(std::size_t n) const {
    return options.round_up ? topk_count(n, options.ratio) : floor_count(n, options.ratio);
  }
  static GolombRule gaps(std::size_t n, std::size_t k) { return {golomb_parameter(n, k), 1}; }
  StcLayout layout(std::size_t gap_bytes = 0, const ShownGaps& shown = {}) const {
    return StcLayout(options.stored_count, gap_bytes, shown);
  }
  /// The layout of the tensor's longest payload.
  StcLayout longest(std::size_t n) const {
    const std::size_t k = entries(n);
    return layout(static_cast<std::size_t>((golomb_max_bits(n, k, gaps(n, k)) + 7) / 8));
  }
  std::size_t most_bytes(std::size_t n) const {
    return static_cast<std::size_t>(longest(n).size({}));
  }
};

}  // namespace gradwire::compressors
