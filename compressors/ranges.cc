#include "compressors/ranges.h"

#include "compressors/kernels/kernels.h"

namespace gradwire::compressors {

std::uint32_t shared_magnitude(ThreadTeam* team, std::span<const float> values) {
  return largest_over_ranges(team, values.size(), 1024, [&](std::size_t begin, std::size_t end) {
    return kernels::max_magnitude_bits(values.data() + begin, end - begin);
  });
}

}  // namespace gradwire::compressors
