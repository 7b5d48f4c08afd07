#pragma once
#include <cstdint>

#include "base/host_device.h"

/// Codes of fixed width, eight at a time: a group of 8 codes of `bits` bits is `bits` whole bytes,
/// so that groups can be packed apart from each other. For CUDA; the CPU's packers (bit_packing.h,
/// kernels/levels.h) give the same bytes.
namespace gradwire::compressors {

inline constexpr std::uint32_t kGroupCodes = 8;
inline constexpr int kMostGroupBits = 16;

/// Packs 8 codes below 2^bits, 1 <= bits <= kMostGroupBits, into `bits` bytes. Low bits first: code
/// i is bits [i w, (i + 1) w) of a little-endian number. High first: of a big-endian one, code 0
/// the most significant.
GRADWIRE_HD void put_group(const std::uint32_t* codes, int bits, bool high_first,
                           std::uint8_t* bytes) {
  std::uint64_t held = 0;
  int count = 0, at = 0;
  for (std::uint32_t i = 0; i < kGroupCodes; ++i) {
    held =
        high_first ? held << bits | codes[i] : held | static_cast<std::uint64_t>(codes[i]) << count;
    count += bits;
    for (; count >= 8; count -= 8) {
      bytes[at++] = static_cast<std::uint8_t>(high_first ? held >> (count - 8) : held);
      if (!high_first) held >>= 8;
    }
  }
}

/// The reverse.
GRADWIRE_HD void take_group(const std::uint8_t* bytes, int bits, bool high_first,
                            std::uint32_t* codes) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  std::uint64_t held = 0;
  int count = 0, at = 0;
  for (std::uint32_t i = 0; i < kGroupCodes; ++i) {
    for (; count < bits; count += 8)
      held = high_first ? held << 8 | bytes[at++]
                        : held | static_cast<std::uint64_t>(bytes[at++]) << count;
    count -= bits;
    codes[i] = static_cast<std::uint32_t>((high_first ? held >> count : held) & mask);
    if (!high_first) held >>= bits;
  }
}

}  // namespace gradwire::compressors
