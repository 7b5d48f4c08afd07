#include <algorithm>
#include <cmath>
#include <utility>

#include "results/figures/figure_internal.h"

/// Where the parts of a figure lie.
namespace gradwire::results {
namespace {

struct Views {
  Interval x, y;
};

Interval category_range(const Axis& axis) {
  const double last = static_cast<double>(axis.categories.size()) - 0.5;
  return {-0.5, std::max(last, 0.5)};
}

Interval view_of(const Axis& axis, const Interval& data, const Interval& zoom, bool from_zero) {
  if (!zoom.empty() && zoom.low < zoom.high) return zoom;
  if (!axis.categories.empty()) return category_range(axis);
  Interval range = nice_range(data, axis.scale);
  if (from_zero && range.low > 0 && axis.scale == Scale::kLinear) range.low = 0;
  if (axis.low) range.low = *axis.low;
  if (axis.high) range.high = *axis.high;
  if (!(range.low < range.high)) range.high = range.low + (range.low == 0 ? 1 : range.low);
  return range;
}

Views views(const Figure& figure, const PaintOptions& options) {
  Extent data = extent(figure);
  if (figure.horizontal_bars) {
    std::swap(data.x, data.y);
    // Room for the totals that are printed at the bars' ends.
    if (!data.x.empty() && figure.x.scale == Scale::kLinear) data.x.high *= 1.13;
  }
  const bool bars = std::any_of(figure.series.begin(), figure.series.end(),
                                [](const Series& s) { return s.kind == SeriesKind::kBars; });
  return {view_of(figure.x, data.x, options.x_view, bars && figure.horizontal_bars),
          view_of(figure.y, data.y, options.y_view, bars && !figure.horizontal_bars)};
}

/// Pixels along x for a tick's label; powers of two and percents are short.
double tick_room(const Axis& axis) {
  return axis.scale == Scale::kLog2 ? 36 : axis.quantity == Quantity::kShare ? 60 : 90;
}

}  // namespace

std::vector<Tick> axis_ticks(const Axis& axis, const Interval& view, int target) {
  if (axis.categories.empty()) return ticks(view, axis.scale, target, axis.quantity);
  std::vector<Tick> result;
  for (std::size_t i = 0; i < axis.categories.size(); ++i)
    result.push_back({static_cast<double>(i), axis.categories[i]});
  return result;
}

std::string axis_title(const Axis& axis, const Interval& view) {
  const std::string unit =
      axis.categories.empty() ? unit_of(view, axis.scale, axis.quantity) : std::string();
  if (unit.empty()) return axis.label;
  return axis.label.empty() ? unit : axis.label + " (" + unit + ")";
}

std::string shortened(const std::string& text, double width, const TextStyle& style,
                      const Canvas& canvas) {
  if (canvas.text_width(text, style) <= width) return text;
  std::string cut = text;
  while (!cut.empty() && canvas.text_width(cut + "\u2026", style) > width) {
    // Whole UTF-8 characters: continuation bytes are 10xxxxxx.
    while (cut.size() > 1 && (static_cast<unsigned char>(cut.back()) & 0xC0) == 0x80)
      cut.pop_back();
    cut.pop_back();
  }
  return cut + "\u2026";
}

std::vector<std::string> wrapped(const std::string& text, double width, const TextStyle& style,
                                 const Canvas& canvas) {
  std::vector<std::string> lines;
  std::string line;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t space = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, space - at);
    const std::string longer = line.empty() ? word : line + " " + word;
    if (!line.empty() && canvas.text_width(longer, style) > width) {
      lines.push_back(std::move(line));
      line = word;
    } else {
      line = longer;
    }
    at = space + 1;
  }
  if (!line.empty()) lines.push_back(std::move(line));
  return lines;
}

std::vector<const Series*> legend_entries(const Figure& figure) {
  std::vector<const Series*> entries;
  for (const Series& series : figure.series)
    if (!series.name.empty()) entries.push_back(&series);
  return entries;
}

std::vector<LegendCell> legend_cells(const Figure& figure, const PaintOptions& options,
                                     const Canvas& canvas) {
  const TextStyle style{{Role::kInk}, options.font_size};
  const double row = options.font_size * 1.6;
  const double limit = figure.legend == Legend::kRight ? options.width * 0.32 : options.width - 60;
  std::vector<LegendCell> cells;
  double x = 0, y = 0;
  if (figure.legend == Legend::kNone) return cells;
  for (const Series* series : legend_entries(figure)) {
    LegendCell cell{series, shortened(series->name, limit - kLegendSample, style, canvas), 0, 0, 0};
    cell.width = kLegendSample + canvas.text_width(cell.text, style) + 14;
    if (figure.legend == Legend::kBottom && x > 0 && x + cell.width > options.width - 24) {
      x = 0;
      y += row;
    }
    cell.x = x;
    cell.y = y;
    if (figure.legend == Legend::kBottom)
      x += cell.width;
    else
      y += row;
    cells.push_back(std::move(cell));
  }
  return cells;
}

Frame frame_of(const Figure& figure, const PaintOptions& options, const Canvas& canvas) {
  const double font = options.font_size, line = font * 1.45;
  const Views view = views(figure, options);
  const TextStyle label{{Role::kMuted}, font};
  Frame frame;
  frame.x_view = view.x;
  frame.y_view = view.y;
  frame.y_ticks = axis_ticks(figure.y, view.y, std::max(2, static_cast<int>(options.height / 60)));
  double widest = 0;
  for (Tick& tick : frame.y_ticks) {
    tick.label = shortened(tick.label, options.width * 0.38, label, canvas);
    widest = std::max(widest, canvas.text_width(tick.label, label));
  }
  const double left = std::max({widest + 16, 24.0, figure.least_left});
  frame.legend = legend_cells(figure, options, canvas);
  double right = 18, top = 8, bottom = line * 1.25;
  if (options.with_title && !figure.title.empty()) top += font * 1.9;
  if (options.with_title && !figure.subtitle.empty())
    top += line *
           static_cast<double>(wrapped(figure.subtitle, options.width - 16, label, canvas).size());
  if (!figure.y.label.empty()) top += line;
  top += 4;
  if (!figure.x.label.empty()) bottom += line;
  if (figure.legend == Legend::kRight)
    for (const LegendCell& cell : frame.legend) right = std::max(right, cell.width + 14);
  if (figure.legend == Legend::kBottom && !frame.legend.empty())
    bottom += frame.legend.back().y + line * 1.4;
  if (options.with_provenance && has_footer(figure)) bottom += line * 1.1;
  frame.plot = {left, top, std::max(20.0, options.width - left - right),
                std::max(20.0, options.height - top - bottom)};
  frame.x_ticks = axis_ticks(figure.x, view.x,
                             std::max(2, static_cast<int>(frame.plot.width / tick_room(figure.x))));
  return frame;
}

bool has_footer(const Figure& figure) {
  return !figure.provenance.empty() || !figure.scenario_hashes.empty();
}

PlotLayout layout_of(const Figure& figure, const Frame& frame) {
  const Rect& plot = frame.plot;
  const bool downwards = figure.horizontal_bars && !figure.y.categories.empty();
  const double y_first = downwards ? plot.y : plot.bottom();
  const double y_last = downwards ? plot.bottom() : plot.y;
  return {plot, AxisMap(figure.x.scale, frame.x_view, plot.x, plot.right()),
          AxisMap(figure.y.scale, frame.y_view, y_first, y_last)};
}

PlotLayout layout(const Figure& figure, const PaintOptions& options, const Canvas& canvas) {
  return layout_of(figure, frame_of(figure, options, canvas));
}

}  // namespace gradwire::results
