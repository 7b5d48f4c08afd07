#include <algorithm>
#include <tuple>

#include "gui/timeline/timeline_view.h"

/// Searching the timeline, and the critical path in it.
namespace gradwire::gui {

void TimelineView::search(const QString& words) {
  words_ = words;
  found_.clear();
  found_links_.clear();
  found_marks_ = {};
  for (int track = 0; track < 2; ++track) {
    if (!tracks_[std::size_t(track)]) continue;
    const RunTimeline& run = timeline(track);
    const TimelineSearch search(run, words);
    for (const std::uint32_t segment : search.found()) found_.push_back({segment, track});
    found_marks_[std::size_t(track)] = RowMarks(run.rows, run.segments.size(), search.found());
  }
  for (int track = 0; track < 2 && found_.empty() && tracks_[std::size_t(track)]; ++track) {
    const std::vector<std::size_t> links = links_found(timeline(track), words);
    const auto& rows = timeline(track).rows.rows;
    for (int row = 0; row < static_cast<int>(rows.size()); ++row) {
      const std::int32_t link = rows[static_cast<std::size_t>(row)].link;
      if (link >= 0 && std::ranges::find(links, std::size_t(link)) != links.end()) {
        found_links_.push_back({track, row, false});
      }
    }
  }
  emit found_changed();
  viewport()->update();
}

void TimelineView::choose_found(int direction) {
  if (!found_links_.empty()) {
    const auto count = static_cast<std::ptrdiff_t>(found_links_.size());
    auto at = link_ ? std::ranges::find(found_links_, *link_) - found_links_.begin() : count;
    at = at == count ? (direction > 0 ? 0 : count - 1) : (at + direction + count) % count;
    const ShownRow& next = found_links_[static_cast<std::size_t>(at)];
    return choose_link(next.track, next.row);
  }
  if (found_.empty()) return;
  const auto key = [this](const SegmentRef& at) {
    return std::tuple(at.track, timeline(at.track).segments[at.segment].start_s, at.segment);
  };
  SegmentRef next = direction > 0 ? found_.front() : found_.back();
  if (chosen_) {
    const auto after = std::ranges::partition_point(
        found_, [&](const SegmentRef& at) { return key(at) <= key(*chosen_); });
    const auto from = std::ranges::partition_point(
        found_, [&](const SegmentRef& at) { return key(at) < key(*chosen_); });
    if (direction > 0 && after != found_.end()) next = *after;
    if (direction < 0 && from != found_.begin()) next = *(from - 1);
  }
  choose(next);
}

void TimelineView::show_path(CriticalChain chain, int track) {
  chain_ = std::move(chain);
  chain_track_ = track;
  path_marks_ = {};
  const RunTimeline& run = timeline(track);
  path_marks_[std::size_t(track)] = RowMarks(run.rows, run.segments.size(), chain_.segments);
  say_chosen();
  viewport()->update();
}

void TimelineView::toggle_path() {
  if (!tracks_[0]) return;
  if (!chain_.segments.empty()) {
    chain_ = {};
    path_marks_ = {};
    say_chosen();
    viewport()->update();
  } else if (chosen_) {
    show_path(chain_to(timeline(chosen_->track), chosen_->segment), chosen_->track);
  } else {
    show_path(chain_to_end(timeline(0)), 0);
  }
}

}  // namespace gradwire::gui
