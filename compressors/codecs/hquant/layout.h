#pragma once
#include "compressors/bit_packing.h"
#include "compressors/layout/index_sections.h"

/// The payload of `hquant`: a head, a codebook of 2 2^D means, indices on whole bytes, and codes of
/// 1 + D bits.
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

/// The means of the leaves, those of positive entries first.
struct HquantLeaves {
  int depth = 0;
  GRADWIRE_HD constexpr std::uint64_t operator()(const Extent&) const {
    return std::uint64_t{2} << depth;
  }
};

struct ShownCodes {
  std::size_t k = 0;
  int bits = 0;
  std::string type() const { return counted("code", k); }
  std::string value() const { return std::to_string(bits) + " bits each"; }
};

using HquantCodebook = Numbers<"codebook", float, HquantLeaves, FiniteScale<"a value">>;

struct HquantLayout : Layout<Field<"length", std::uint32_t, CountsElements<"a length">>,
                             Field<"count", std::uint32_t, CountsEntries>,
                             Field<"depth", std::uint8_t, HquantDepth>,
                             Field<"index mode", std::uint8_t, HquantIndexMode>,
                             Field<"reserved", std::uint16_t, Reserved>, Optional<HquantCodebook>,
                             Stream<"indices", ShownIndices>, Stream<"codes", ShownCodes>> {
  enum Section { kLength, kCount, kDepth, kMode, kReserved, kCodebook, kIndices, kCodes };
  /// Its head.
  HquantLayout() = default;
  HquantLayout(std::size_t n, const ShownIndices& indices, int depth)
      : Layout({}, {}, {}, {}, {}, {true, {{depth}}},
               {max_index_bytes(indices.format, n, indices.k), indices},
               {packed_bytes(indices.k, 1 + depth), {indices.k, 1 + depth}}) {}
};

}  // namespace gradwire::compressors
