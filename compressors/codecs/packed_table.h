#pragma once
#include <cstdint>
#include <span>

#include "compressors/bit_packing.h"
#include "compressors/codecs/level_coding.h"
#include "compressors/kernels/levels.h"
#include "compressors/kernels/output.h"
#include "compressors/kernels/table_values.h"

/// What codecs share whose codes are packed at a few bits, LSB first, and decoded by a table.
namespace gradwire::compressors {

/// Bytes before chunk element `at` (a multiple of 8).
constexpr std::size_t packed_offset(std::size_t at, int bits) {
  return at / 8 * static_cast<std::size_t>(bits);
}

/// Writes packed_bytes(n, bits) bytes; make(at, count, codes) makes the codes of elements [at, at +
/// count) and returns the largest magnitude bits among them. Returns the largest of all.
template <class Make>
std::uint32_t write_packed(ThreadTeam* team, std::size_t n, int bits, std::span<std::byte> packed,
                           Make&& make) {
  SharedMaximum largest;
  for_chunks(team, n, kernels::kLevelChunk, [&](const LevelChunk& chunk) {
    std::uint8_t codes[kernels::kLevelChunk];
    largest.raise(make(chunk.begin, chunk.count, codes));
    kernels::pack_codes(codes, chunk.count, bits, kernels::BitOrder::kLowFirst,
                        packed.data() + packed_offset(chunk.begin, bits));
  });
  return largest.get();
}

/// values = (or +=) table[code], `table` having 2^bits entries. Returns the largest code.
std::uint32_t read_packed(ThreadTeam* team, std::span<const std::byte> packed, int bits,
                          const float* table, kernels::Output output, std::span<float> values);

}  // namespace gradwire::compressors
