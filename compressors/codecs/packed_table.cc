#include "compressors/codecs/packed_table.h"

#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {

std::uint32_t read_packed(ThreadTeam* team, std::span<const std::byte> packed, int bits,
                          const float* table, kernels::Output output, std::span<float> values) {
  SharedMaximum largest;
  for_chunks(team, values.size(), kernels::kLevelChunk, [&](const LevelChunk& chunk) {
    std::uint8_t codes[kernels::kLevelChunk];
    kernels::unpack_codes(packed.data() + packed_offset(chunk.begin, bits), chunk.count, bits,
                          kernels::BitOrder::kLowFirst, codes);
    largest.raise(kernels::largest_code(codes, chunk.count));
    kernels::table_values(codes, chunk.count, table, 1 << bits, output,
                          values.data() + chunk.begin);
  });
  return largest.get();
}

void require_codes(std::string_view codec, std::span<const std::byte> payload, std::size_t offset,
                   std::size_t n, int bits, std::uint32_t seen, std::uint32_t largest) {
  if (seen <= largest) return;
  const std::size_t i = first_code_above(payload.subspan(offset), bits, n, largest);
  refuse_payload(codec, payload.size(),
                 "byte " + std::to_string(offset + i * static_cast<std::size_t>(bits) / 8) +
                     " holds a code above " + std::to_string(largest));
}

std::uint32_t shared_magnitude(ThreadTeam* team, std::span<const float> values) {
  SharedMaximum largest;
  for_ranges(team, values.size(), 1024, kSmallestRange, [&](std::size_t begin, std::size_t end) {
    largest.raise(kernels::max_magnitude_bits(values.data() + begin, end - begin));
  });
  return largest.get();
}

}  // namespace gradwire::compressors
