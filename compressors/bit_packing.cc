#include "compressors/bit_packing.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "compressors/kernels/integers.h"

namespace gradwire::compressors {
namespace {

constexpr int kGroup = 8;  // 8 codes of w bits are exactly w bytes

template <int kWidth>
constexpr std::uint32_t kMask = kWidth == 32 ? ~0u : (1u << (kWidth % 32)) - 1u;

// Shifts and words are constants once the loops are unrolled.
template <int kWidth>
inline void pack_group(const std::uint32_t* codes, std::byte* packed) {
  std::uint64_t words[5] = {};
#pragma GCC unroll 8
  for (int i = 0; i < kGroup; ++i) {
    const int word = i * kWidth / 64;
    const int shift = i * kWidth % 64;
    words[word] |= static_cast<std::uint64_t>(codes[i]) << shift;
    if (shift + kWidth > 64)
      words[word + 1] |= static_cast<std::uint64_t>(codes[i]) >> (64 - shift);
  }
  std::memcpy(packed, words, kWidth);
}

template <int kWidth>
inline void unpack_group(const std::byte* packed, std::uint32_t* codes) {
  std::uint64_t words[5] = {};
  std::memcpy(words, packed, kWidth);
#pragma GCC unroll 8
  for (int i = 0; i < kGroup; ++i) {
    const int word = i * kWidth / 64;
    const int shift = i * kWidth % 64;
    std::uint64_t code = words[word] >> shift;
    if (shift + kWidth > 64) code |= words[word + 1] << (64 - shift);
    codes[i] = static_cast<std::uint32_t>(code) & kMask<kWidth>;
  }
}

// Returns the largest code.
template <int kWidth>
std::uint32_t pack_all(const std::uint32_t* values, std::size_t n, std::uint32_t bias,
                       std::byte* packed) {
  std::uint32_t largest = 0;
  std::uint32_t codes[kGroup];
  std::size_t i = 0;
  for (; i + kGroup <= n; i += kGroup, packed += kWidth) {
    for (int j = 0; j < kGroup; ++j) {
      codes[j] = values[i + j] + bias;
      largest = std::max(largest, codes[j]);
    }
    pack_group<kWidth>(codes, packed);
  }
  if (i < n) {
    std::fill(codes, codes + kGroup, 0u);
    for (std::size_t j = 0; j < n - i; ++j) {
      codes[j] = values[i + j] + bias;
      largest = std::max(largest, codes[j]);
    }
    std::byte last[32];
    pack_group<kWidth>(codes, last);
    std::memcpy(packed, last, packed_bytes(n - i, kWidth));
  }
  return largest;
}

template <int kWidth, bool kAdd>
std::uint32_t unpack_all(const std::byte* packed, std::size_t n, std::uint32_t bias,
                         std::uint32_t* values) {
  std::uint32_t largest = 0;
  std::uint32_t codes[kGroup];
  const auto put = [&](std::size_t i, std::uint32_t code) {
    largest = std::max(largest, code);
    values[i] = (kAdd ? values[i] : 0u) + (code - bias);
  };
  std::size_t i = 0;
  for (; i + kGroup <= n; i += kGroup, packed += kWidth) {
    unpack_group<kWidth>(packed, codes);
    for (int j = 0; j < kGroup; ++j) put(i + j, codes[j]);
  }
  if (i < n) {
    std::byte last[32] = {};
    std::memcpy(last, packed, packed_bytes(n - i, kWidth));
    unpack_group<kWidth>(last, codes);
    for (std::size_t j = 0; j < n - i; ++j) put(i + j, codes[j]);
  }
  return largest;
}

using PackAll = std::uint32_t (*)(const std::uint32_t*, std::size_t, std::uint32_t, std::byte*);
using UnpackAll = std::uint32_t (*)(const std::byte*, std::size_t, std::uint32_t, std::uint32_t*);

template <int... kIndex>
constexpr std::array<PackAll, 32> pack_table(std::integer_sequence<int, kIndex...>) {
  return {pack_all<kIndex + 1>...};
}
template <bool kAdd, int... kIndex>
constexpr std::array<UnpackAll, 32> unpack_table(std::integer_sequence<int, kIndex...>) {
  return {unpack_all<kIndex + 1, kAdd>...};
}
using Widths = std::make_integer_sequence<int, 32>;
constexpr auto kPack = pack_table(Widths{});
constexpr auto kUnpack = unpack_table<false>(Widths{});
constexpr auto kUnpackAdd = unpack_table<true>(Widths{});

std::size_t table_index(int width) {
  GRADWIRE_ASSERT(width >= 1 && width <= 32);
  return static_cast<std::size_t>(width - 1);
}

}  // namespace

void pack_bits(std::span<const std::uint32_t> values, int width, std::uint32_t bias,
               std::uint32_t largest, std::span<std::byte> packed) {
  GRADWIRE_ASSERT(packed.size() >= packed_bytes(values.size(), width));
  const auto done =
      kernels::pack_integers(values.data(), values.size(), width, bias, packed.data());
  const auto rest = values.subspan(done.count);
  const std::uint32_t seen = kPack[table_index(width)](
      rest.data(), rest.size(), bias, packed.data() + packed_bytes(done.count, width));
  GRADWIRE_ASSERT(std::max(seen, done.largest) <= largest);
}

std::uint32_t unpack_bits(std::span<const std::byte> packed, int width, std::uint32_t bias,
                          std::span<std::uint32_t> values) {
  GRADWIRE_ASSERT(packed.size() >= packed_bytes(values.size(), width));
  const auto done =
      kernels::unpack_integers(packed.data(), values.size(), width, bias, false, values.data());
  const std::size_t at = packed_bytes(done.count, width);
  const auto rest = values.subspan(done.count);
  return std::max(done.largest,
                  kUnpack[table_index(width)](packed.data() + at, rest.size(), bias, rest.data()));
}

std::uint32_t unpack_bits_add(std::span<const std::byte> packed, int width, std::uint32_t bias,
                              std::span<std::uint32_t> values) {
  GRADWIRE_ASSERT(packed.size() >= packed_bytes(values.size(), width));
  const auto done =
      kernels::unpack_integers(packed.data(), values.size(), width, bias, true, values.data());
  const std::size_t at = packed_bytes(done.count, width);
  const auto rest = values.subspan(done.count);
  return std::max(done.largest, kUnpackAdd[table_index(width)](packed.data() + at, rest.size(),
                                                               bias, rest.data()));
}

std::uint32_t code_at(std::span<const std::byte> packed, std::size_t i, int width,
                      bool high_first) {
  const auto w = static_cast<std::size_t>(width);
  std::uint32_t code = 0;
  for (std::size_t bit = 0; bit < w; ++bit) {
    const std::size_t position = i * w + bit, in_byte = position % 8;
    const auto byte = std::to_integer<std::uint32_t>(packed[position / 8]);
    const std::uint32_t value = byte >> (high_first ? 7 - in_byte : in_byte) & 1u;
    code |= value << (high_first ? w - 1 - bit : bit);
  }
  return code;
}

std::size_t first_code_above(std::span<const std::byte> packed, int width, std::size_t n,
                             std::uint32_t largest) {
  std::size_t i = 0;
  while (i < n && code_at(packed, i, width) <= largest) ++i;
  return i;
}

}  // namespace gradwire::compressors
