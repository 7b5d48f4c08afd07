#pragma once
#include <cstdint>

#include "base/host_device.h"

/// One Golomb-Rice code, shared by CPU and CUDA: gap >> b ones, then a tail of 1 + b + extra bits,
/// which are a zero, the low b bits of the gap and `extra` bits of the caller's, MSB-first.
namespace gradwire::compressors {

GRADWIRE_HD std::uint64_t golomb_ones(std::uint64_t gap, int b) {
  return gap >> b;
}

GRADWIRE_HD constexpr int golomb_tail_bits(int b, int extra) {
  return b + 1 + extra;
}

GRADWIRE_HD std::uint64_t golomb_tail(std::uint64_t gap, std::uint32_t extra_bits, int b,
                                      int extra) {
  const std::uint64_t low = gap & ((std::uint64_t{1} << b) - 1);
  return low << extra | extra_bits;
}

}  // namespace gradwire::compressors
