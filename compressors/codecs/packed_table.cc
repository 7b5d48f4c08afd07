#include "compressors/codecs/packed_table.h"

#include "compressors/kernels/kernels.h"
#include "compressors/payload.h"

namespace gradwire::compressors {

kernels::Sink sink_of(kernels::Output output) {
  return output == kernels::Output::kAdd      ? kernels::Sink::kAdd
         : output == kernels::Output::kStream ? kernels::Sink::kStream
                                              : kernels::Sink::kStore;
}

std::uint32_t read_packed(ThreadTeam* team, std::span<const std::byte> packed, int bits,
                          const float* table, kernels::Output output, std::span<float> values) {
  const kernels::PackedCodes codes{packed.data(), bits};
  SharedMaximum largest;
  for_ranges(team, values.size(), kernels::kLevelChunk, kSmallestRange,
             [&](std::size_t begin, std::size_t end) {
               largest.raise(kernels::table_values(codes.from(begin), end - begin, table, 1 << bits,
                                                   sink_of(output), values.data() + begin));
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
