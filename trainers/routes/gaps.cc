#include "trainers/routes/gaps.h"

#include <algorithm>

namespace gradwire::trainers {
namespace {

/// Appends [first, end) to ranges that begin no later; what overlaps or meets the last joins it.
template <class Range>
void append(std::vector<Range>& ranges, std::int64_t first, std::int64_t end) {
  if (first >= end) return;
  if (ranges.empty() || ranges.back().first + ranges.back().count < first) {
    ranges.push_back({first, end - first});
    return;
  }
  ranges.back().count = std::max(ranges.back().count, end - ranges.back().first);
}

}  // namespace

Gaps joined(std::span<const sim::ByteRange> a, std::span<const sim::ByteRange> b) {
  Gaps all;
  while (!a.empty() || !b.empty()) {
    auto& next = b.empty() || (!a.empty() && a.front().first <= b.front().first) ? a : b;
    append(all, next.front().first, next.front().first + next.front().count);
    next = next.subspan(1);
  }
  return all;
}

Gaps within(std::span<const sim::ByteRange> gaps, std::size_t first, std::size_t count) {
  const auto begin = static_cast<std::int64_t>(first);
  const std::int64_t end = begin + static_cast<std::int64_t>(count);
  Gaps inside;
  for (const sim::ByteRange& gap : gaps)
    append(inside, std::max(gap.first, begin) - begin,
           std::min(gap.first + gap.count, end) - begin);
  return inside;
}

Gaps scaled(std::span<const sim::ByteRange> gaps, std::int64_t planned, std::int64_t actual) {
  Gaps fitted;
  for (const sim::ByteRange& gap : gaps)
    append(fitted, gap.first * actual / planned,
           ((gap.first + gap.count) * actual + planned - 1) / planned);
  return fitted;
}

std::vector<sim::ChunkRange> touched_elements(std::span<const sim::ByteRange> gaps, int bits,
                                              std::int64_t count) {
  std::vector<sim::ChunkRange> touched;
  for (const sim::ByteRange& gap : gaps)
    append(touched, 8 * gap.first / bits,
           std::min(count, (8 * (gap.first + gap.count) + bits - 1) / bits));
  return touched;
}

}  // namespace gradwire::trainers
