#pragma once
#include <string>
#include <vector>

#include "results/figures/figure_painter.h"

/// Shared by the files that lay out and paint figures; not an interface.
namespace gradwire::results {

inline constexpr double kLegendSample = 30;  ///< pixels before a legend entry's text

struct LegendCell {
  const Series* series;
  std::string text;
  double x, y, width;  ///< relative to the legend's corner
};

struct Frame {
  Rect plot;
  Interval x_view, y_view;
  std::vector<Tick> x_ticks, y_ticks;
  std::vector<LegendCell> legend;
};

std::vector<Tick> axis_ticks(const Axis& axis, const Interval& view, int target);
std::string axis_title(const Axis& axis, const Interval& view);
std::string shortened(const std::string& text, double width, const TextStyle& style,
                      const Canvas& canvas);
std::vector<std::string> wrapped(const std::string& text, double width, const TextStyle& style,
                                 const Canvas& canvas);
std::vector<LegendCell> legend_cells(const Figure& figure, const PaintOptions& options,
                                     const Canvas& canvas);
Frame frame_of(const Figure& figure, const PaintOptions& options, const Canvas& canvas);
PlotLayout layout_of(const Figure& figure, const Frame& frame);
bool has_footer(const Figure& figure);

/// Everything that is drawn inside the axes.
void paint_series(const Figure& figure, const PlotLayout& layout, double font_size, Canvas& canvas);
/// The short sample of a series in the legend.
void paint_sample(const Series& series, Pixel at, Canvas& canvas);

}  // namespace gradwire::results
