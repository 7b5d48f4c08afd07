#include "gui/timeline/row_order.h"

#include <algorithm>

namespace gradwire::gui {

QString row_name(const RunTimeline& timeline, int row) {
  const TimelineRow& own = timeline.rows.rows[static_cast<std::size_t>(row)];
  if (own.link >= 0) {
    return QString::fromStdString(timeline.links[static_cast<std::size_t>(own.link)].name);
  }
  return host_text(own.worker, timeline.workers) + " " + name_of(own.group);
}

int row_of(const RunTimeline& timeline, std::uint32_t segment) {
  const results::TimelineSegment& own = timeline.segments[segment];
  const auto& rows = timeline.rows.rows;
  const auto it = std::ranges::find_if(rows, [&](const TimelineRow& row) {
    return row.link < 0 && row.worker == own.worker && row.group == group_of(own.lane);
  });
  return it == rows.end() ? -1 : static_cast<int>(it - rows.begin());
}

void RowOrder::set_tracks(const Tracks& tracks) {
  rows_.clear();
  // A pinned row of both runs: one above the other.
  for (const QString& pin : pins_) {
    for (int track = 0; track < 2; ++track) {
      const auto& timeline = tracks[static_cast<std::size_t>(track)];
      const int count = timeline ? static_cast<int>(timeline->rows.rows.size()) : 0;
      for (int row = 0; row < count; ++row) {
        if (row_name(*timeline, row) == pin) rows_.push_back({track, row, true});
      }
    }
  }
  fixed_ = static_cast<int>(rows_.size());
  for (int track = 0; track < 2; ++track) {
    const auto& timeline = tracks[static_cast<std::size_t>(track)];
    if (!timeline || timeline->rows.rows.empty()) continue;
    rows_.push_back({track, -1, false});
    for (int row = 0; row < static_cast<int>(timeline->rows.rows.size()); ++row) {
      if (!pins_.contains(row_name(*timeline, row))) rows_.push_back({track, row, false});
    }
  }
}

void RowOrder::toggle_pin(const Tracks& tracks, int track, int row) {
  const QString name = row_name(*tracks[static_cast<std::size_t>(track)], row);
  if (!pins_.removeOne(name)) pins_ << name;
  set_tracks(tracks);
}

void RowOrder::clear_pins(const Tracks& tracks) {
  pins_.clear();
  set_tracks(tracks);
}

int RowOrder::place_of(int track, int row) const {
  const auto it = std::ranges::find_if(
      rows_, [&](const ShownRow& each) { return each.track == track && each.row == row; });
  return it == rows_.end() ? -1 : static_cast<int>(it - rows_.begin());
}

}  // namespace gradwire::gui
