#include "gui/timeline/timeline_geometry.h"

#include <algorithm>
#include <cmath>

namespace gradwire::gui {

void TimelineWindow::clamp(double first_s, double last_s) {
  const double margin = 0.01 * (last_s - first_s);
  const double from = first_s - margin, to = std::max(last_s + margin, from + kShortest);
  length_s = std::clamp(length_s, std::min(kShortest, to - from), to - from);
  start_s = std::clamp(start_s, from, to - length_s);
}

void TimelineWindow::zoom(double factor, double x, double first_s, double last_s) {
  const double anchor = time_at(x);
  const double margin = 0.01 * (last_s - first_s);
  const double longest = std::max(last_s - first_s + 2 * margin, kShortest);
  length_s = std::clamp(length_s / factor, std::min(kShortest, longest), longest);
  start_s = anchor - x / width * length_s;
  clamp(first_s, last_s);
}

void TimelineWindow::pan(double pixels, double first_s, double last_s) {
  start_s += pixels / width * length_s;
  clamp(first_s, last_s);
}

void TimelineWindow::show(double from_s, double to_s, double first_s, double last_s) {
  const double margin = 0.01 * (to_s - from_s);
  start_s = from_s - margin;
  length_s = std::max(to_s - from_s + 2 * margin, kShortest);
  clamp(first_s, last_s);
}

namespace {

/// Puts segments of a row into blocks, one or a chunk at a time.
class BlockBuilder {
 public:
  BlockBuilder(const TimelineRow& row, const TimelineWindow& window,
               std::vector<TimelineBlock>& blocks)
      : row_(row), window_(window), blocks_(blocks) {
    blocks_.clear();
  }

  /// Where a whole chunk begins at `position` and lies within the last block's pixel.
  bool add_chunk(std::size_t position) {
    if (position % TimelineRow::kChunk != 0 || blocks_.empty()) return false;
    const std::size_t last = position + TimelineRow::kChunk - 1;
    if (last >= row_.start.size()) return false;
    const TimelineRow::Chunk& chunk = row_.chunks[position / TimelineRow::kChunk];
    if (row_.start[position] < window_.start_s) return false;
    if (chunk.longest_s * window_.width >= window_.length_s) return false;
    if (!fits(left(row_.start[position])) || !fits(left(row_.start[last]))) return false;
    merge(position, last, chunk.longest, chunk.longest_s, right(chunk.latest_end));
    return true;
  }

  void add(std::size_t position) {
    const double x0 = left(row_.start[position]), x1 = right(row_.end[position]);
    const double duration = row_.end[position] - row_.start[position];
    if (!blocks_.empty() && x1 - x0 < 1 && fits(x0)) {
      return merge(position, position, position, duration, x1);
    }
    const auto at = static_cast<std::uint32_t>(position);
    blocks_.push_back({x0, x1, row_.phase[position], row_.segments[position], 1, at, at});
    longest_s_ = duration;
  }

 private:
  double left(double time_s) const { return std::max(window_.x_of(time_s), -1.0); }
  double right(double time_s) const { return std::min(window_.x_of(time_s), window_.width + 1); }
  bool fits(double x0) const {
    const TimelineBlock& last = blocks_.back();
    return std::floor(x0) == std::floor(last.x0) && last.x1 - last.x0 <= 1;
  }
  void merge(std::size_t first, std::size_t last, std::size_t longest, double longest_s,
             double x1) {
    TimelineBlock& block = blocks_.back();
    block.count += static_cast<std::uint32_t>(last - first + 1);
    block.last = static_cast<std::uint32_t>(last);
    block.x1 = std::max(block.x1, x1);
    if (longest_s <= longest_s_) return;
    block.segment = row_.segments[longest];
    block.phase = row_.phase[longest];
    longest_s_ = longest_s;
  }

  const TimelineRow& row_;
  const TimelineWindow& window_;
  std::vector<TimelineBlock>& blocks_;
  double longest_s_ = 0;  ///< of the last block
};

}  // namespace

void visible_blocks(const TimelineRow& row, const TimelineWindow& window,
                    std::vector<TimelineBlock>& blocks) {
  BlockBuilder builder(row, window, blocks);
  const double window_end = window.end_s();
  std::size_t i = row.first_reaching(window.start_s);
  while (i < row.start.size() && row.start[i] <= window_end) {
    if (builder.add_chunk(i)) {
      i += TimelineRow::kChunk;
      continue;
    }
    if (row.end[i] >= window.start_s) builder.add(i);
    ++i;
  }
}

std::vector<LinkColumn> visible_columns(const results::LinkSeries& link,
                                        const TimelineWindow& window) {
  std::vector<LinkColumn> columns;
  const auto& intervals = link.intervals;
  auto next = std::partition_point(intervals.begin(), intervals.end(), [&](const auto& interval) {
    return interval.end_s <= window.start_s;
  });
  for (; next != intervals.end() && next->start_s < window.end_s(); ++next) {
    const double x0 = std::max(window.x_of(next->start_s), 0.0);
    const double x1 = std::min(window.x_of(next->end_s), window.width);
    const double busy = link.utilisation(*next);
    LinkColumn* last = columns.empty() ? nullptr : &columns.back();
    if (last && last->x1 - last->x0 < 1 && x1 - last->x0 < 2) {
      const double width = x1 - last->x0;
      if (width > 0) last->mean = (last->mean * (x0 - last->x0) + busy * (x1 - x0)) / width;
      last->peak = std::max(last->peak, busy);
      last->x1 = x1;
      continue;
    }
    columns.push_back({x0, x1, busy, busy});
  }
  return columns;
}

double link_bytes(const results::LinkSeries& link, double from_s, double to_s) {
  double bytes = 0;
  for (const auto& interval : link.intervals) {
    const double from = std::max(interval.start_s, from_s), to = std::min(interval.end_s, to_s);
    if (to <= from) continue;
    bytes += static_cast<double>(interval.wire_bytes) * (to - from) /
             (interval.end_s - interval.start_s);
  }
  return bytes;
}

std::optional<std::uint32_t> segment_at(const TimelineRow& row, double time_s, double slack_s) {
  std::optional<std::uint32_t> best;
  double best_distance = INFINITY, best_length = INFINITY;
  for (std::size_t i = row.first_reaching(time_s - slack_s); i < row.segments.size(); ++i) {
    if (row.start[i] > time_s + slack_s) break;
    if (row.end[i] < time_s - slack_s) continue;
    const double distance = std::max({row.start[i] - time_s, time_s - row.end[i], 0.0});
    const double length = row.end[i] - row.start[i];
    if (distance > best_distance || (distance == best_distance && length >= best_length)) continue;
    best = row.segments[i];
    best_distance = distance;
    best_length = length;
  }
  return best;
}

}  // namespace gradwire::gui
