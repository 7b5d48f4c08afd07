#pragma once
#include <cstdint>

#include "base/host_device.h"

/// Gaps of 16 bits, for the host and the device.
namespace gradwire::compressors {

inline constexpr std::uint64_t kRunCovered = 65536;  ///< positions that a filler stands for

/// Fillers before an entry that comes `gap` positions after the one before.
GRADWIRE_HD std::uint64_t run_fillers(std::uint64_t gap) {
  return gap / kRunCovered;
}

/// (run = 65,535, value = +0) stands for skipped positions alone.
GRADWIRE_HD bool is_run_filler(std::uint32_t run, std::uint32_t value_bits) {
  return run == kRunCovered - 1 && value_bits == 0;
}

}  // namespace gradwire::compressors
