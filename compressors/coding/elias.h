#pragma once
#include <array>
#include <bit>
#include <cstdint>

#include "compressors/coding/bit_stream.h"

/// Elias recursive (omega) codes of k >= 1: "0"; while k > 1, prepend binary(k) and go on with the
/// number of its digits less one (Elias, "Universal codeword sets", 1975). 1: 0, 2: 100, 3: 110,
/// 4: 101000, 8: 1110000. Most significant bit first.
namespace gradwire::compressors {

struct EliasCode {
  std::uint64_t bits = 0;
  int width = 0;
};

/// Bits of the code of k, 1 <= k < 2^33: at most 45.
inline constexpr int kLongestElias = 45;
inline constexpr std::uint64_t kLargestElias = (std::uint64_t{1} << 33) - 1;

constexpr EliasCode elias_code_slow(std::uint64_t k) {
  EliasCode code{0, 1};
  while (k > 1) {
    const int digits = static_cast<int>(std::bit_width(k));
    code.bits |= k << code.width;
    code.width += digits;
    k = static_cast<std::uint64_t>(digits) - 1;
  }
  return code;
}

namespace elias {

inline constexpr std::uint64_t kTabled = 256;  ///< codes below are looked up
inline constexpr int kPeek = 11;               ///< bits that a decoding table sees at once

struct Entry {
  std::uint16_t value = 0;  ///< 0: the code is longer than kPeek bits
  std::uint16_t width = 0;
};
struct Shorts {
  std::array<std::uint16_t, kTabled> bits{};
  std::array<std::uint8_t, kTabled> width{};
};

constexpr Shorts make_shorts() {
  Shorts table;
  for (std::uint64_t k = 1; k < kTabled; ++k) {
    const EliasCode code = elias_code_slow(k);
    table.bits[k] = static_cast<std::uint16_t>(code.bits);
    table.width[k] = static_cast<std::uint8_t>(code.width);
  }
  return table;
}

constexpr std::array<Entry, std::size_t{1} << kPeek> make_entries() {
  std::array<Entry, std::size_t{1} << kPeek> table{};
  for (std::uint64_t k = 1; k < kTabled; ++k) {
    const EliasCode code = elias_code_slow(k);
    if (code.width > kPeek) continue;
    const std::uint64_t first = code.bits << (kPeek - code.width);
    for (std::uint64_t i = 0; i < std::uint64_t{1} << (kPeek - code.width); ++i)
      table[first + i] = {static_cast<std::uint16_t>(k), static_cast<std::uint16_t>(code.width)};
  }
  return table;
}

inline constexpr Shorts kShorts = make_shorts();
inline constexpr auto kEntries = make_entries();

}  // namespace elias

constexpr EliasCode elias_code(std::uint64_t k) {
  if (k < elias::kTabled) return {elias::kShorts.bits[k], elias::kShorts.width[k]};
  return elias_code_slow(k);
}

/// Takes one code off a window that was just refilled (56 bits or more). Returns 0, with nothing
/// certain about the position, where the code is none of a number up to kLargestElias.
inline std::uint64_t take_elias(BitReader& in) {
  const elias::Entry entry = elias::kEntries[in.window() >> (64 - elias::kPeek)];
  if (entry.value != 0) {
    in.skip(entry.width);
    return entry.value;
  }
  std::uint64_t k = 1;
  while (in.take(1) != 0) {
    if (k > 32) return 0;  // the number would have more than 33 digits
    k = std::uint64_t{1} << k | in.take(static_cast<int>(k));
  }
  return k <= kLargestElias ? k : 0;
}

}  // namespace gradwire::compressors
