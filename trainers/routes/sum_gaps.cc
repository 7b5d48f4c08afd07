#include "trainers/routes/sum_gaps.h"

#include <algorithm>

namespace gradwire::trainers {
namespace {

std::vector<sim::ChunkRange> lost_elements(const compressors::SumTerms& codec,
                                           const Received& packed, int contributors,
                                           std::size_t count) {
  return touched_elements(packed.gaps, codec.width_bits(contributors),
                          static_cast<std::int64_t>(count));
}

}  // namespace

void add_arrived(const compressors::SumTerms& codec, const Received& packed, int contributors,
                 std::span<std::uint32_t> terms) {
  if (packed.gaps.empty()) return codec.unpack_add(packed.bytes, contributors, terms);
  // Whole bytes are unpacked, and what should not be known is forgotten: no decoder sees garbage.
  const std::vector<std::uint32_t> before(terms.begin(), terms.end());
  codec.unpack_add(packed.bytes, contributors, terms);
  for (const sim::ChunkRange& lost : lost_elements(codec, packed, contributors, terms.size()))
    std::copy_n(before.begin() + lost.first, lost.count, terms.begin() + lost.first);
}

void store_arrived(const compressors::SumTerms& codec, const Received& packed, int contributors,
                   std::span<std::uint32_t> terms) {
  codec.unpack_store(packed.bytes, contributors, terms);
  for (const sim::ChunkRange& lost : lost_elements(codec, packed, contributors, terms.size()))
    std::fill_n(terms.begin() + lost.first, lost.count, 0u);
}

}  // namespace gradwire::trainers
