#include "compressors/codecs/packed_table.h"

#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {

std::uint32_t read_packed(ThreadTeam* team, std::span<const std::byte> packed, int bits,
                          const float* table, kernels::Output output, std::span<float> values) {
  const kernels::PackedCodes codes{packed.data(), bits};
  return largest_over_ranges(
      team, values.size(), kernels::kLevelChunk, [&](std::size_t begin, std::size_t end) {
        return kernels::table_values(codes.from(begin), end - begin, table, 1 << bits, output,
                                     values.data() + begin);
      });
}

void require_codes(std::string_view codec, std::span<const std::byte> payload, std::size_t offset,
                   std::size_t n, int bits, std::uint32_t seen, std::uint32_t largest) {
  if (seen <= largest) return;
  const std::size_t i = first_code_above(payload.subspan(offset), bits, n, largest);
  refuse_payload(codec, payload.size(),
                 "byte " + std::to_string(offset + i * static_cast<std::size_t>(bits) / 8) +
                     " holds a code above " + std::to_string(largest));
}

}  // namespace gradwire::compressors
