#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "compressors/coding/bit_stream.h"

/// Codes of at most 7 bits, one a byte, into streams of bits and back: eight in each step.
namespace gradwire::compressors {

inline constexpr int kMostByteCodeBits = 7;  ///< eight of them fit what a stream takes at once

namespace byte_codes_detail {
/// The halves of words of 16, 32 and 64 bits, the earlier code in the upper half.
inline constexpr std::uint64_t kLow8 = 0x00FF00FF00FF00FF, kLow16 = 0x0000FFFF0000FFFF,
                               kLow32 = 0x00000000FFFFFFFF;
}  // namespace byte_codes_detail

/// Eight codes, the first in the top byte, as 8 `bits` bits.
inline std::uint64_t join_codes(std::uint64_t bytes, int bits) {
  using namespace byte_codes_detail;
  const std::uint64_t pairs = (bytes & ~kLow8) >> (8 - bits) | (bytes & kLow8);
  const std::uint64_t fours = (pairs & ~kLow16) >> (16 - 2 * bits) | (pairs & kLow16);
  return (fours & ~kLow32) >> (32 - 4 * bits) | (fours & kLow32);
}

/// The inverse.
inline std::uint64_t split_codes(std::uint64_t joined, int bits) {
  using namespace byte_codes_detail;
  const std::uint64_t four = (std::uint64_t{1} << 4 * bits) - 1;
  const std::uint64_t two = ((std::uint64_t{1} << 2 * bits) - 1) * 0x0000000100000001;
  const std::uint64_t one = ((std::uint64_t{1} << bits) - 1) * 0x0001000100010001;
  const std::uint64_t fours = joined >> 4 * bits << 32 | (joined & four);
  const std::uint64_t pairs = (fours >> 2 * bits & two) << 16 | (fours & two);
  return (pairs >> bits & one) << 8 | (pairs & one);
}

/// Appends codes of `bits` <= kMostByteCodeBits bits.
inline void put_codes(BitWriter& to, std::span<const std::byte> codes, int bits) {
  BitWriter out = to;
  std::size_t i = 0;
  for (; i + 8 <= codes.size(); i += 8)
    out.put(join_codes(load_big_endian(codes.data() + i), bits), 8 * bits);
  for (; i < codes.size(); ++i) out.put(std::to_integer<std::uint64_t>(codes[i]), bits);
  to = out;
}

/// Takes eight codes of `bits` <= kMostByteCodeBits bits, the first in the top byte.
inline std::uint64_t take_codes(BitReader& in, int bits) {
  in.refill();
  return split_codes(in.take(8 * bits), bits);
}

}  // namespace gradwire::compressors
