#pragma once
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <vector>

#include "sim/graph/collective.h"

/// What the emulator sends: bytes that both ends can compute, so that the receiver checks each one.
/// A payload of n bytes of a hop is table[o .. o + n), table[i] = the top byte of
/// (i + 1) * 0x9E3779B97F4A7C15, and o = a number below 4,096 that depends on operation, hop, block
/// and sender: a lost, repeated, shifted or mixed-up stretch of the stream is noticed.
namespace gradwire::emulator {

class Pattern {
 public:
  /// Bytes of the table. The span stays valid for the life of this object. Thread-safe.
  std::span<const std::byte> slice(std::size_t offset, std::size_t size);

 private:
  std::mutex mutex_;
  /// The last table is the longest; spans into earlier ones may still be in use.
  std::deque<std::vector<std::byte>> tables_;
};

/// Where a hop's payload begins in the table.
std::size_t pattern_offset(std::uint32_t op, const sim::HopTransfer& hop);

}  // namespace gradwire::emulator
