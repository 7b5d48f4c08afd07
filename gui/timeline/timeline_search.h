#pragma once
#include <QString>
#include <vector>

#include "gui/timeline/run_timeline.h"

namespace gradwire::gui {

/// Segments by words, without regard to case: "worker 3", "server 0" and "step 12" name a host and
/// a step; every other word must occur in the label, the lane's or the phase's name. "encode b0
/// worker 3", "wait".
class TimelineSearch {
 public:
  TimelineSearch() = default;
  TimelineSearch(const RunTimeline& timeline, const QString& words);

  bool empty() const { return found_.empty(); }
  /// In order of start.
  const std::vector<std::uint32_t>& found() const { return found_; }

 private:
  std::vector<std::uint32_t> found_;
};

/// Links whose name has all the words (of a search that is none of segments).
std::vector<std::size_t> links_found(const RunTimeline& timeline, const QString& words);

/// Which positions of each row are marked (found, or on a path), and whether a block has one.
class RowMarks {
 public:
  RowMarks() = default;
  RowMarks(const TimelineRows& rows, std::size_t segments,
           const std::vector<std::uint32_t>& marked);
  bool any() const { return !positions_.empty(); }
  bool any(std::size_t row, std::uint32_t first, std::uint32_t last) const;

 private:
  std::vector<std::vector<std::uint32_t>> positions_;  ///< [rows], ascending
};

}  // namespace gradwire::gui
