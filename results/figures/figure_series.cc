#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "results/figures/figure_internal.h"

/// What lies inside the axes: bands, bars, curves, marks, intervals.
namespace gradwire::results {
namespace {

Stroke stroke_of(const SeriesStyle& style) {
  return {style.color, style.width, style.dash, style.opacity};
}

void paint_band(const Series& series, const PlotLayout& at, Canvas& canvas) {
  std::vector<Pixel> outline;
  for (const auto& path : decimate(series.x, series.high, at.x, at.y))
    outline.insert(outline.end(), path.begin(), path.end());
  std::vector<Pixel> back;
  for (const auto& path : decimate(series.x, series.low, at.x, at.y))
    back.insert(back.end(), path.begin(), path.end());
  outline.insert(outline.end(), back.rbegin(), back.rend());
  if (outline.size() > 2) canvas.polygon(outline, series.style.color, 0.2 * series.style.opacity);
}

std::vector<Pixel> stairs(const std::vector<Pixel>& path) {
  std::vector<Pixel> result;
  for (const Pixel p : path) {
    if (!result.empty()) result.push_back({p.x, result.back().y});
    result.push_back(p);
  }
  return result;
}

std::vector<Pixel> drawn_points(const Series& series, const PlotLayout& at) {
  std::vector<Pixel> points;
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const Pixel p{at.x.pixel(series.x[i]), at.y.pixel(series.y[i])};
    if (at.plot.contains(p)) points.push_back(p);
  }
  return points;
}

void paint_curve(const Series& series, const PlotLayout& at, Canvas& canvas) {
  for (const auto& path : decimate(series.x, series.y, at.x, at.y)) {
    if (path.size() == 1) {  // a lone point would be invisible as a line
      canvas.marks(path, Mark::kCircle, series.style.mark_size * 0.7, series.style.color,
                   series.style.opacity);
      continue;
    }
    canvas.polyline(series.kind == SeriesKind::kStep ? stairs(path) : path,
                    stroke_of(series.style));
  }
  if (series.style.mark == Mark::kNone || series.x.size() > 60) return;
  canvas.marks(drawn_points(series, at), series.style.mark, series.style.mark_size,
               series.style.color, series.style.opacity);
}

/// At most one mark for each 1 x 1 pixel cell: 100,000 points stay small and look the same.
std::vector<Pixel> thinned(std::vector<Pixel> points) {
  std::set<std::pair<long, long>> taken;
  std::vector<Pixel> kept;
  for (const Pixel p : points)
    if (taken.insert({std::lround(p.x), std::lround(p.y)}).second) kept.push_back(p);
  return kept;
}

void paint_intervals(const Series& series, const PlotLayout& at, Canvas& canvas) {
  const Stroke stroke{series.style.color, 1.25, Dash::kSolid, series.style.opacity};
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    const double x = at.x.pixel(series.x[i]);
    const double low = at.y.pixel(series.low[i]), high = at.y.pixel(series.high[i]);
    if (std::isnan(x) || std::isnan(low) || std::isnan(high)) continue;
    const Pixel whisker[] = {{x - 4, high}, {x + 4, high}, {x, high},
                             {x, low},      {x - 4, low},  {x + 4, low}};
    canvas.polyline(whisker, stroke);
  }
  canvas.marks(drawn_points(series, at),
               series.style.mark == Mark::kNone ? Mark::kCircle : series.style.mark,
               series.style.mark_size, series.style.color, series.style.opacity);
}

/// Which of the piles of a category a series belongs to, and how many piles there are.
class Piles {
 public:
  explicit Piles(const Figure& figure) {
    for (const Series& series : figure.series)
      if (series.kind == SeriesKind::kBars) index_.try_emplace(key(series), index_.size());
  }
  static std::string key(const Series& series) {
    return series.stack.empty() ? "\n" + series.name : series.stack;
  }
  double width() const {
    return 0.76 / static_cast<double>(std::max<std::size_t>(1, index_.size()));
  }
  double first_edge(const Series& series) const {
    return -0.38 + width() * static_cast<double>(index_.at(key(series)));
  }
  std::size_t size() const { return index_.size(); }

 private:
  std::map<std::string, std::size_t> index_;
};

Rect bar_rect(const Figure& figure, const PlotLayout& at, double edge, double width, double from,
              double to) {
  if (figure.horizontal_bars) {
    const double a = at.x.pixel(from), b = at.x.pixel(to);
    const double c = at.y.pixel(edge), d = at.y.pixel(edge + width);
    return {std::min(a, b), std::min(c, d), std::abs(b - a), std::abs(d - c)};
  }
  const double a = at.y.pixel(from), b = at.y.pixel(to);
  const double c = at.x.pixel(edge), d = at.x.pixel(edge + width);
  return {std::min(c, d), std::min(a, b), std::abs(d - c), std::abs(b - a)};
}

/// Stripes tell the parts of a bar apart in greyscale: part i has i of them across its length.
void paint_hatch(const Rect& rect, int index, bool horizontal, Canvas& canvas) {
  if (index % kSeriesColors == 0 || rect.width < 3 || rect.height < 3) return;
  const double gap = 4.0 + 3.0 * (index % 3);
  const Stroke stroke{{Role::kBackground}, 1, index % 2 ? Dash::kSolid : Dash::kDotted, 0.55};
  const double length = horizontal ? rect.width : rect.height;
  for (double along = gap; along < length && along / gap < 400; along += gap) {
    const Pixel across[] = {
        horizontal ? Pixel{rect.x + along, rect.y} : Pixel{rect.x, rect.bottom() - along},
        horizontal ? Pixel{rect.x + along, rect.bottom()}
                   : Pixel{rect.right(), rect.bottom() - along}};
    canvas.polyline(across, stroke);
  }
}

using Tops = std::map<std::pair<std::string, double>, double>;

void paint_bars(const Figure& figure, const PlotLayout& at, const Series& series,
                const Piles& piles, Tops& tops, Canvas& canvas) {
  for (std::size_t i = 0; i < series.x.size(); ++i) {
    if (!std::isfinite(series.y[i])) continue;
    double& top = tops[{Piles::key(series), series.x[i]}];
    const Rect rect = bar_rect(figure, at, series.x[i] + piles.first_edge(series), piles.width(),
                               top, top + series.y[i]);
    canvas.rectangle(rect, series.style.color, series.style.opacity);
    paint_hatch(rect, series.style.color.series, figure.horizontal_bars, canvas);
    top += series.y[i];
  }
}

/// The total at the end of each horizontal bar, where there is one pile a category.
void paint_totals(const Figure& figure, const PlotLayout& at, const Tops& tops, double font_size,
                  Canvas& canvas) {
  for (const auto& [key, top] : tops) {
    const std::string text = format_value(top, figure.x.quantity);
    const TextStyle style{{Role::kInk}, font_size * 0.85};
    const double width = canvas.text_width(text, style);
    const double x = at.x.pixel(top) + 5;
    const double y = at.y.pixel(key.second) + font_size * 0.3;
    if (x + width < at.plot.right() + 14) canvas.text({x, y}, text, style);
  }
}

}  // namespace

void paint_series(const Figure& figure, const PlotLayout& at, double font_size, Canvas& canvas) {
  const Piles piles(figure);
  Tops tops;
  canvas.clip(at.plot);
  for (const Series& series : figure.series) {
    if (series.kind == SeriesKind::kBand) paint_band(series, at, canvas);
    if (series.kind == SeriesKind::kBars) paint_bars(figure, at, series, piles, tops, canvas);
  }
  for (const Series& series : figure.series)
    if (series.kind == SeriesKind::kLine || series.kind == SeriesKind::kStep)
      paint_curve(series, at, canvas);
  for (const Series& series : figure.series) {
    if (series.kind == SeriesKind::kIntervals) paint_intervals(series, at, canvas);
    if (series.kind == SeriesKind::kScatter)
      canvas.marks(thinned(drawn_points(series, at)),
                   series.style.mark == Mark::kNone ? Mark::kCircle : series.style.mark,
                   series.style.mark_size, series.style.color, series.style.opacity);
  }
  canvas.unclip();
  if (figure.horizontal_bars && piles.size() == 1)
    paint_totals(figure, at, tops, font_size, canvas);
}

void paint_sample(const Series& series, Pixel at, Canvas& canvas) {
  const Pixel ends[] = {{at.x, at.y}, {at.x + 22, at.y}};
  const Pixel middle[] = {{at.x + 11, at.y}};
  const SeriesStyle& style = series.style;
  switch (series.kind) {
    case SeriesKind::kBars: {
      const Rect rect{at.x + 4, at.y - 6, 14, 12};
      canvas.rectangle(rect, style.color, style.opacity);
      paint_hatch(rect, style.color.series, true, canvas);
      return;
    }
    case SeriesKind::kBand:
      canvas.rectangle({at.x, at.y - 5, 22, 10}, style.color, 0.2 * style.opacity);
      return;
    case SeriesKind::kLine:
    case SeriesKind::kStep:
      canvas.polyline(ends, stroke_of(style));
      break;
    default:
      break;
  }
  const bool needs_mark =
      series.kind == SeriesKind::kScatter || series.kind == SeriesKind::kIntervals;
  const Mark mark = style.mark == Mark::kNone && needs_mark ? Mark::kCircle : style.mark;
  canvas.marks(middle, mark, style.mark_size, style.color, style.opacity);
}

}  // namespace gradwire::results
