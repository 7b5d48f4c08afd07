#pragma once
#include "compressors/coding/index_coder.h"
#include "compressors/layout/sections.h"

/// The payload of `hquant`: a head, a codebook of 2 2^D means, indices, and codes of 1 + D bits.
namespace gradwire::compressors {

struct HquantDepth {
  static constexpr int kDeepest = 7;
  bool good(std::uint8_t depth, const std::byte*, const Extent&) const { return depth <= kDeepest; }
  std::string reason(std::uint8_t, const Extent&) const { return "is a depth above 7"; }
};
/// 0 = a bitmap, 1 = packed.
struct HquantIndexMode {
  static IndexFormat format(std::uint8_t mode) {
    return mode == 0 ? IndexFormat::kBitmap : IndexFormat::kPacked;
  }
  bool good(std::uint8_t mode, const std::byte*, const Extent&) const { return mode <= 1; }
  std::string reason(std::uint8_t, const Extent&) const { return "is no index mode"; }
  std::string text(std::uint8_t mode) const { return std::string(name_of(format(mode))); }
};

struct HquantHead : Layout<Field<"length", std::uint32_t, CountsElements<"a length">>,
                           Field<"count", std::uint32_t, CountsEntries>,
                           Field<"depth", std::uint8_t, HquantDepth>,
                           Field<"index mode", std::uint8_t, HquantIndexMode>,
                           Field<"reserved", std::uint16_t, Reserved>> {
  enum Section { kLength, kCount, kDepth, kMode, kReserved };
};

/// The means of the leaves, those of positive entries first.
struct HquantLeaves {
  int depth = 0;
  std::uint64_t operator()(const Extent&) const { return std::uint64_t{2} << depth; }
};
using HquantCodebook = Numbers<"codebook", float, HquantLeaves, FiniteScale<"a value">>;

/// Where the parts of k entries of n elements lie.
struct HquantParts {
  std::size_t n = 0, k = 0;
  int depth = 0;
  IndexFormat format = IndexFormat::kBitmap;

  std::size_t indices_at() const {
    return static_cast<std::size_t>(HquantHead().size({}) + HquantCodebook{{depth}}.bytes({}));
  }
  std::size_t codes_at() const { return indices_at() + max_index_bytes(format, n, k); }
  std::size_t codes_bytes() const { return packed_bytes(k, 1 + depth); }
  std::size_t size() const { return codes_at() + codes_bytes(); }
};

}  // namespace gradwire::compressors
