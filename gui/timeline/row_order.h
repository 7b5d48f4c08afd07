#pragma once
#include <QString>
#include <QStringList>
#include <array>
#include <vector>

#include "gui/timeline/run_timeline.h"

/// Which rows of one or two runs stand where: pinned ones on top, then each run below a heading
/// that names it.
namespace gradwire::gui {

struct ShownRow {
  int track = 0;
  int row = -1;  ///< among the track's rows; -1: the heading of its run
  bool pinned = false;
  bool heading() const { return row < 0; }
  bool operator==(const ShownRow&) const = default;
};

using Tracks = std::array<TimelinePtr, 2>;  ///< the run, and the one it is compared with

class RowOrder {
 public:
  /// Pins are kept by name: they hold for every run that is shown.
  void set_tracks(const Tracks& tracks);
  /// Pins the row, in both runs, or takes its pin away.
  void toggle_pin(const Tracks& tracks, int track, int row);
  void clear_pins(const Tracks& tracks);
  const QStringList& pins() const { return pins_; }

  const std::vector<ShownRow>& rows() const { return rows_; }
  /// Rows on top that do not scroll.
  int fixed() const { return fixed_; }
  /// Where a row stands; -1: nowhere.
  int place_of(int track, int row) const;

 private:
  QStringList pins_;
  std::vector<ShownRow> rows_;
  int fixed_ = 0;
};

/// "worker 3 codec", "worker0 -> switch".
QString row_name(const RunTimeline& timeline, int row);
/// The row that a segment stands in; -1: none.
int row_of(const RunTimeline& timeline, std::uint32_t segment);

}  // namespace gradwire::gui
