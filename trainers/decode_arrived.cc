#include "trainers/decode_arrived.h"

#include <algorithm>
#include <map>

#include "trainers/drawn_sizes.h"

namespace gradwire::trainers {
namespace {

using sim::ChunkRange;

std::vector<ChunkRange> lost_elements(const compressors::Codec& codec,
                                      const compressors::DecodeJob& job,
                                      std::span<const sim::ByteRange> gaps) {
  const auto n = static_cast<std::int64_t>(job.values.size());
  const auto packed = codec.packed_elements(job.spec());
  if (!packed || !within(gaps, 0, packed->head).empty()) return {{0, n}};
  return touched_elements(within(gaps, packed->head, job.payload.size() - packed->head),
                          packed->bits, n);
}

}  // namespace

void decode_arrived(const compressors::Codec& codec, const compressors::DecodeJob& job,
                    std::span<const sim::ByteRange> gaps, float factor,
                    std::span<std::byte> scratch) {
  if (gaps.empty()) return codec.decode_accumulate(job, factor, scratch);
  const std::vector<ChunkRange> lost = lost_elements(codec, job, gaps);
  if (!lost.empty() && lost[0].count == std::ssize(job.values)) return;
  // Whole bytes are decoded, and what should not be known is forgotten.
  const std::vector<float> before(job.values.begin(), job.values.end());
  codec.decode_accumulate(job, factor, scratch);
  for (const ChunkRange& run : lost)
    std::copy_n(before.begin() + run.first, run.count, job.values.begin() + run.first);
}

std::vector<bool> fixed_sizes(std::span<const compressors::Codec* const> by_tensor) {
  std::map<const compressors::Codec*, bool> known;
  std::vector<bool> fixed;
  for (const compressors::Codec* codec : by_tensor) {
    if (!known.contains(codec)) known[codec] = has_fixed_size(*codec);
    fixed.push_back(known[codec]);
  }
  return fixed;
}

}  // namespace gradwire::trainers
