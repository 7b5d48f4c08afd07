#pragma once
#include <optional>
#include <string>
#include <vector>

#include "results/figures/palette.h"
#include "results/figures/plot_geometry.h"

/// A figure as data: what it shows, not how it is drawn. `paint` (figure_painter.h) draws it on any
/// Canvas: the SVG writer's or a QPainter's, with the same picture.
namespace gradwire::results {

struct Axis {
  std::string label;  ///< without unit: "simulated time"
  Quantity quantity = Quantity::kPlain;
  Scale scale = Scale::kLinear;
  std::optional<double> low = {}, high = {};  ///< empty = from the data
  std::vector<std::string> categories = {};   ///< if not empty: category i stands at i
};

enum class Mark : std::uint8_t {
  kNone,
  kCircle,
  kSquare,
  kTriangle,
  kDiamond,
  kCross,
  kDown,
  kPlus,
  kRing
};
enum class Dash : std::uint8_t { kSolid, kDashed, kDotted, kDashDot };

/// Colour is never the only difference: by default series i has colour, mark and dash number i.
struct SeriesStyle {
  Role color;
  Mark mark = Mark::kNone;
  Dash dash = Dash::kSolid;
  double width = 1.75;  ///< of lines
  double mark_size = 7;
  double opacity = 1;
};
/// Colour, dash and (where `with_marks`) mark of the i-th series of a figure.
SeriesStyle series_style(int index, bool with_marks = false);

enum class SeriesKind : std::uint8_t {
  kLine,
  kStep,  ///< horizontal until the next point
  kScatter,
  kBars,       ///< x = category's index, y = length
  kBand,       ///< between low and high
  kIntervals,  ///< a mark at y with whiskers from low to high
};

struct Series {
  SeriesKind kind = SeriesKind::kLine;
  std::string name;  ///< in the legend; empty = not there
  std::vector<double> x, y;
  std::vector<double> low, high;  ///< of kBand and kIntervals
  /// Bars of equal `stack` stand on one another, others side by side.
  std::string stack;
  SeriesStyle style;
};

struct Annotation {
  enum class Kind : std::uint8_t { kText, kVertical, kHorizontal } kind = Kind::kText;
  double x = 0, y = 0;  ///< data coordinates; a vertical line uses x, a horizontal one y
  std::string text;
};

enum class Legend : std::uint8_t { kNone, kRight, kBottom };

struct Figure {
  std::string title;
  std::string subtitle;  ///< what one should see, or the conditions
  Axis x, y;
  std::vector<Series> series;
  std::vector<Annotation> annotations;
  Legend legend = Legend::kRight;
  bool horizontal_bars = false;  ///< categories on the y axis (top to bottom), lengths on x
  /// Pixels to the left of the axes, at least: figures above one another line up.
  double least_left = 0;
  /// "simulated", "measured on ...": printed under the figure.
  std::string provenance;
  /// Hashes of the scenarios that it was drawn from: in the metadata and under the figure.
  std::vector<std::string> scenario_hashes;
  std::string description;  ///< for those who cannot see it; empty = made from the parts
};

/// Throws an assertion where vectors of a series have different sizes.
void check(const Figure& figure);

/// What all series cover on each axis, with the error bars, bars' base 0 and annotations' lines.
struct Extent {
  Interval x, y;
};
Extent extent(const Figure& figure);

/// The figure's data as a table for export: one row a point (series, x, y, low, high) as CSV with
/// units in the header.
std::string figure_csv(const Figure& figure);

}  // namespace gradwire::results
