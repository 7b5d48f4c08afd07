#include "trainers/routes/tensor_parts.h"

#include <algorithm>

#include "sim/graph/collective.h"

namespace gradwire::trainers {
namespace {

constexpr std::int64_t kGrain = 4;

/// 0: the tensor is one row.
std::int64_t row_of(const TensorSlot& slot, bool keep_rows) {
  return keep_rows && slot.shape.size() > 1 ? slot.shape.back() : 0;
}

/// The cut at or below element `wanted` of the bucket.
std::int64_t cut_at(const Layout& layout, const BucketSlot& bucket, std::int64_t wanted,
                    bool keep_rows) {
  for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
    const TensorSlot& slot = layout.tensors()[t];
    const std::int64_t first = slot.first - bucket.first;
    if (wanted >= first + slot.count) continue;
    const std::int64_t grain = std::max(row_of(slot, keep_rows), kGrain);
    return first + (wanted - first) / grain * grain;
  }
  return bucket.count;
}

std::vector<TensorPart> parts_between(const Layout& layout, const BucketSlot& bucket,
                                      std::int64_t begin, std::int64_t end, bool keep_rows) {
  std::vector<TensorPart> parts;
  for (std::size_t t = bucket.first_tensor; t < bucket.end_tensor; ++t) {
    const TensorSlot& slot = layout.tensors()[t];
    const std::int64_t first = slot.first - bucket.first;
    const std::int64_t from = std::max(begin, first), to = std::min(end, first + slot.count);
    if (from >= to) continue;
    TensorPart part{t, from - first, to - from, {to - from}};
    if (const std::int64_t row = row_of(slot, keep_rows); row > 0)
      part.shape = {part.count / row, row};
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace

std::vector<std::vector<TensorPart>> cut_bucket(const Layout& layout, std::size_t b, int chunks,
                                                bool keep_rows) {
  const BucketSlot& bucket = layout.buckets()[b];
  std::vector<std::vector<TensorPart>> cut;
  std::int64_t begin = 0;
  for (int c = 0; c < chunks; ++c) {
    const sim::ChunkRange even = sim::chunk_range(bucket.count, chunks, c);
    const bool last = c + 1 == chunks;
    const std::int64_t end =
        last ? bucket.count : cut_at(layout, bucket, even.first + even.count, keep_rows);
    cut.push_back(parts_between(layout, bucket, begin, end, keep_rows));
    begin = end;
  }
  return cut;
}

}  // namespace gradwire::trainers
