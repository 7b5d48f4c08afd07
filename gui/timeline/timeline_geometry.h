#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "gui/timeline/timeline_rows.h"

/// The timeline's arithmetic, without a widget: the window of time that is shown, which pixels a
/// segment covers, how busy a link is there, and what lies under a point.
namespace gradwire::gui {

/// The window of time on screen. Pixels are device-independent and start at the plot's left edge.
struct TimelineWindow {
  double start_s = 0;   ///< time at pixel 0
  double length_s = 1;  ///< time shown over `width` pixels
  double width = 1;

  double x_of(double time_s) const { return (time_s - start_s) / length_s * width; }
  double time_at(double x) const { return start_s + x / width * length_s; }
  double end_s() const { return start_s + length_s; }
  /// The same pixels of a run whose times are shown later by `shift_s`.
  TimelineWindow before(double shift_s) const { return {start_s - shift_s, length_s, width}; }
  /// factor > 1 shows less time; the time under pixel `x` stays there. Never shows less than
  /// kShortest nor more than [first_s, last_s] with a small margin.
  void zoom(double factor, double x, double first_s, double last_s);
  void pan(double pixels, double first_s, double last_s);
  void show(double from_s, double to_s, double first_s, double last_s);

  static constexpr double kShortest = 1e-9;

 private:
  void clamp(double first_s, double last_s);
};

/// What is painted: one segment, or several neighbours that share a pixel.
struct TimelineBlock {
  double x0 = 0, x1 = 0;
  Phase phase = Phase::kOther;  ///< of the longest segment in it
  std::uint32_t segment = 0;    ///< the longest segment in it
  std::uint32_t count = 1;
  std::uint32_t first = 0, last = 0;  ///< positions in the row
};

/// Blocks of one row inside the window, left to right. Segments narrower than a pixel are merged
/// with neighbours in the same pixel: at most 2 blocks per pixel plus what is wider than one.
void visible_blocks(const TimelineRow& row, const TimelineWindow& window,
                    std::vector<TimelineBlock>& blocks);

/// How busy a link's direction is over some pixels, as shares of its nominal rate.
struct LinkColumn {
  double x0 = 0, x1 = 0;
  double mean = 0, peak = 0;
};

/// Columns inside the window, left to right; intervals narrower than a pixel are taken together.
std::vector<LinkColumn> visible_columns(const results::LinkSeries& link,
                                        const TimelineWindow& window);

/// Bytes that a link carried in [from_s, to_s], each interval's spread evenly over it.
double link_bytes(const results::LinkSeries& link, double from_s, double to_s);

/// The segment of `row` at time_s, or the nearest within `slack_s`; of several, the shortest.
std::optional<std::uint32_t> segment_at(const TimelineRow& row, double time_s, double slack_s);

}  // namespace gradwire::gui
