#pragma once
#include "compressors/codecs/sparse_values.h"
#include "compressors/coding/golomb_rice.h"
#include "compressors/layout/sections.h"

/// The payload of `stc`: the mean magnitude, and in front of it the number of entries where it is
/// stored; then Golomb-Rice gaps, each with a sign bit (1 = negative).
namespace gradwire::compressors {

struct StcCount {
  bool stored = false;
  CountsEntries check = {};

  std::uint64_t bytes(const Extent&) const { return stored ? sizeof(std::uint32_t) : 0; }
  std::uint64_t checked(const Extent&) const { return stored ? 1 : 0; }
  std::uint64_t bad(std::uint64_t, const std::byte* at, const Extent& extent) const {
    return check.good(number_at<std::uint32_t>(at), at, extent) ? kNoBadByte : 0;
  }
  std::string reason(std::uint64_t, const std::byte* at, const Extent& extent) const {
    return check.reason(number_at<std::uint32_t>(at), extent);
  }
  void describe(const Described& d, std::vector<PayloadField>& fields) const {
    if (stored) Field<"count", std::uint32_t>().describe(d, fields);
  }
  void place(PackedPlan& plan, const Extent&) const { plan.possible = false; }
};

struct StcOptions {
  double ratio = 0.0025;
  bool round_up = false;      ///< k = ceil(n p), as the released simulator; the paper: floor
  bool stored_count = false;  ///< a u32 k before mu
};

struct StcHead : Layout<StcCount, Field<"mu", float, FiniteScale<"a value">>> {
  enum Section { kCount, kMean };
  explicit StcHead(const StcOptions& from) : Layout({from.stored_count}, {}), options(from) {}

  std::size_t bytes() const { return static_cast<std::size_t>(size({})); }
  std::size_t entries(std::size_t n) const {
    return options.round_up ? topk_count(n, options.ratio) : floor_count(n, options.ratio);
  }
  static GolombRule rule(std::size_t n, std::size_t k) { return {golomb_parameter(n, k), 1}; }
  /// Of the gaps of the tensor's entries, at most.
  std::size_t most_stream_bytes(std::size_t n) const {
    const std::size_t k = entries(n);
    return static_cast<std::size_t>((golomb_max_bits(n, k, rule(n, k)) + 7) / 8);
  }
  std::size_t most_bytes(std::size_t n) const { return bytes() + most_stream_bytes(n); }

  StcOptions options;
};

}  // namespace gradwire::compressors
