#include "results/figures/figure.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <map>

#include "base/error.h"

namespace gradwire::results {
namespace {

bool has_limits(const Series& series) {
  return series.kind == SeriesKind::kBand || series.kind == SeriesKind::kIntervals;
}

void include_bars(const Figure& figure, Interval& lengths) {
  std::map<std::pair<std::string, double>, double> tops;
  for (const Series& series : figure.series) {
    if (series.kind != SeriesKind::kBars) continue;
    lengths.include(0);
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      // Side by side: each series its own pile.
      const std::string pile = series.stack.empty() ? "\n" + series.name : series.stack;
      if (!std::isfinite(series.y[i])) continue;
      double& top = tops[{pile, series.x[i]}];
      top += series.y[i];
      lengths.include(top);
    }
  }
}

std::string exact(double value) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%.17g", value);
  return text.data();
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) out += letter == '"' ? "\"\"" : std::string(1, letter);
  return out + "\"";
}

std::string column_name(const Axis& axis, const char* fallback) {
  std::string name = axis.label.empty() ? fallback : axis.label;
  switch (axis.quantity) {
    case Quantity::kSeconds:
      return name + " (s)";
    case Quantity::kBytes:
      return name + " (B)";
    case Quantity::kBitRate:
      return name + " (bps)";
    case Quantity::kShare:
      return name + " (share)";
    default:
      return name;
  }
}

}  // namespace

SeriesStyle series_style(int index, bool with_marks) {
  constexpr std::array marks = {Mark::kCircle, Mark::kSquare, Mark::kTriangle, Mark::kDiamond,
                                Mark::kCross,  Mark::kDown,   Mark::kPlus,     Mark::kRing};
  constexpr std::array dashes = {Dash::kSolid, Dash::kDashed, Dash::kDotted, Dash::kDashDot};
  const auto i = static_cast<std::size_t>(index);
  SeriesStyle style;
  style.color = Role{Role::kSeries, index};
  // After eight colours the dashes move on, so that colour and dash together differ for longer.
  style.dash = dashes[(i + i / kSeriesColors) % dashes.size()];
  if (with_marks) style.mark = marks[(i + i / kSeriesColors) % marks.size()];
  return style;
}

void check(const Figure& figure) {
  for (const Series& series : figure.series) {
    if (series.kind != SeriesKind::kBand) GRADWIRE_ASSERT(series.x.size() == series.y.size());
    if (has_limits(series))
      GRADWIRE_ASSERT(series.low.size() == series.x.size() &&
                      series.high.size() == series.x.size());
  }
}

Extent extent(const Figure& figure) {
  Extent all;
  Interval lengths;
  for (const Series& series : figure.series) {
    for (const double x : series.x)
      if (drawable(x, figure.x.scale) || series.kind == SeriesKind::kBars) all.x.include(x);
    if (series.kind == SeriesKind::kBars) continue;
    for (const auto* values : {&series.y, &series.low, &series.high})
      for (const double y : *values)
        if (drawable(y, figure.y.scale)) all.y.include(y);
  }
  for (const Annotation& note : figure.annotations) {
    if (note.kind != Annotation::Kind::kHorizontal && drawable(note.x, figure.x.scale))
      all.x.include(note.x);
    if (note.kind != Annotation::Kind::kVertical && drawable(note.y, figure.y.scale))
      all.y.include(note.y);
  }
  include_bars(figure, lengths);
  if (lengths.empty()) return all;
  all.y.include(lengths.low);
  all.y.include(lengths.high);
  return all;
}

std::string figure_csv(const Figure& figure) {
  check(figure);
  std::string out = "series," + quoted(column_name(figure.x, "x")) + "," +
                    quoted(column_name(figure.y, "y")) + ",low,high\n";
  for (const Series& series : figure.series)
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      const auto category = static_cast<std::size_t>(series.x[i]);
      const Axis& along = figure.horizontal_bars ? figure.y : figure.x;
      const bool named = series.kind == SeriesKind::kBars && category < along.categories.size();
      out += quoted(series.name) + ",";
      out += (named ? quoted(along.categories[category]) : exact(series.x[i])) + ",";
      if (i < series.y.size()) out += exact(series.y[i]);
      out += has_limits(series) ? "," + exact(series.low[i]) + "," + exact(series.high[i]) : ",,";
      out += "\n";
    }
  return out;
}

}  // namespace gradwire::results
