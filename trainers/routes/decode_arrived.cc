#include "trainers/routes/decode_arrived.h"

#include <algorithm>
#include <map>

#include "trainers/replays/drawn_sizes.h"

namespace gradwire::trainers {
namespace {

using sim::ChunkRange;

/// Those whose bits are in a gap, and those whose part of the head is; runs may overlap.
std::vector<ChunkRange> lost_elements(const compressors::Codec& codec,
                                      const compressors::DecodeJob& job,
                                      std::span<const sim::ByteRange> gaps) {
  const auto n = static_cast<std::int64_t>(job.values.size());
  const auto packed = codec.packed_elements(job.spec());
  if (!packed) return {{0, n}};
  const std::size_t head = packed->head;
  const auto bucket = packed->bucket > 0 ? static_cast<std::int64_t>(packed->bucket) : n;
  const std::int64_t buckets = (n + bucket - 1) / bucket;
  const auto head_bits = static_cast<int>(8 * static_cast<std::int64_t>(head) / buckets);
  std::vector<ChunkRange> lost =
      touched_elements(within(gaps, head, job.payload.size() - head), packed->bits, n);
  for (const ChunkRange& of : touched_elements(within(gaps, 0, head), head_bits, buckets))
    lost.push_back(
        {of.first * bucket, std::min(n, (of.first + of.count) * bucket) - of.first * bucket});
  return lost;
}

}  // namespace

void decode_arrived(const compressors::Codec& codec, const compressors::DecodeJob& job,
                    std::span<const sim::ByteRange> gaps, float factor,
                    std::span<std::byte> scratch) {
  if (gaps.empty()) return codec.decode_accumulate(job, factor, scratch);
  if (job.values.empty()) return;
  const std::vector<ChunkRange> lost = lost_elements(codec, job, gaps);
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
