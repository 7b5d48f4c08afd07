#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/figures/figure.h"

/// Draws a Figure on a Canvas. The desktop program implements Canvas with a QPainter, svg.cc with
/// text: both give the same picture.
namespace gradwire::results {

struct Stroke {
  Role color;
  double width = 1;
  Dash dash = Dash::kSolid;
  double opacity = 1;
};

enum class Align : std::uint8_t { kStart, kMiddle, kEnd };

struct TextStyle {
  Role color;
  double size = 12;  ///< pixels
  bool bold = false;
  Align align = Align::kStart;
  double rotation = 0;  ///< degrees, clockwise, about the position
};

/// Positions in pixels, y downwards.
class Canvas {
 public:
  virtual ~Canvas() = default;
  virtual double text_width(std::string_view text, const TextStyle& style) const = 0;
  virtual void polyline(std::span<const Pixel> points, const Stroke& stroke) = 0;
  virtual void polygon(std::span<const Pixel> points, Role fill, double opacity) = 0;
  virtual void rectangle(const Rect& rect, Role fill, double opacity) = 0;
  /// One mark at each point, `size` pixels wide.
  virtual void marks(std::span<const Pixel> points, Mark mark, double size, Role color,
                     double opacity) = 0;
  /// `at` is the baseline's start, middle or end.
  virtual void text(Pixel at, std::string_view text, const TextStyle& style) = 0;
  /// Everything until unclip() is cut to `rect`.
  virtual void clip(const Rect& rect) = 0;
  virtual void unclip() = 0;
};

/// Where the parts of a figure lie. The desktop program keeps it for hover, brush and zoom.
struct PlotLayout {
  Rect plot;  ///< the area between the axes
  AxisMap x, y;
};

struct PaintOptions {
  double width = 760;
  double height = 400;
  double font_size = 12;
  bool with_title = true;
  bool with_provenance = true;
  /// What to show instead of the whole data (zoom); empty = all, rounded.
  Interval x_view, y_view;
};

PlotLayout layout(const Figure& figure, const PaintOptions& options, const Canvas& canvas);
/// Draws everything; gives back the layout that it used.
PlotLayout paint(const Figure& figure, const PaintOptions& options, Canvas& canvas);

/// The corners of a mark's outline around the origin, `size` wide; empty for kCircle and kRing
/// (draw a circle) and for kNone. kCross and kPlus are given as closed outlines too.
std::vector<Pixel> mark_outline(Mark mark, double size);
/// On and off lengths in units of the line's width; empty = solid.
std::vector<double> dash_pattern(Dash dash);

/// An estimate of the width of sans-serif text (advance widths of Helvetica's letter classes).
double estimated_text_width(std::string_view text, double size, bool bold);

}  // namespace gradwire::results
