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

}  // namespace gradwire::compressors
