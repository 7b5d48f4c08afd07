#include "results/figures/figure_table.h"

#include <algorithm>
#include <cmath>

namespace gradwire::results {
namespace {

std::string text_of(double value, const Axis& axis) {
  if (const std::string* category = category_at(axis, value)) return *category;
  return std::isfinite(value) ? format_value(value, axis.quantity) : "-";
}

bool is_bars(const Series& series) {
  return series.kind == SeriesKind::kBars;
}

FigureTable bars_table(const Figure& figure) {
  const Axis& names = figure.horizontal_bars ? figure.y : figure.x;
  const Axis& lengths = figure.horizontal_bars ? figure.x : figure.y;
  FigureTable table;
  table.rows = {{names.label}};
  for (std::size_t i = 0; i < names.categories.size(); ++i)
    table.rows.push_back({names.categories[i]});
  for (const Series& series : figure.series) {
    if (!is_bars(series)) continue;
    table.rows[0].push_back(series.name == "bytes" || series.name == "time" ? lengths.label
                                                                            : series.name);
    for (std::size_t i = 1; i < table.rows.size(); ++i) table.rows[i].push_back("-");
    for (std::size_t i = 0; i < series.x.size(); ++i)
      if (const auto row = static_cast<std::size_t>(series.x[i]) + 1; row < table.rows.size())
        table.rows[row].back() = text_of(series.y[i], lengths);
  }
  return table;
}

/// The band or whiskers that were drawn about a curve: unnamed, in its colour, of its points.
const Series* around(const Figure& figure, const Series& curve) {
  for (const Series& other : figure.series)
    if (!other.low.empty() && (&other == &curve || other.name.empty()) && other.x == curve.x &&
        other.style.color.series == curve.style.color.series)
      return &other;
  return nullptr;
}

void add_points(const Figure& figure, const Series& curve, std::size_t most, FigureTable& table) {
  const std::size_t n = curve.x.size(), shown = std::min(n, most);
  const Series* spread = around(figure, curve);
  table.thinned = table.thinned || shown < n;
  for (std::size_t k = 0; k < shown; ++k) {
    const std::size_t i = shown == n ? k : k * (n - 1) / (shown - 1);
    std::string about;
    if (spread && spread->low[i] != spread->high[i])
      about = text_of(spread->low[i], figure.y) + " to " + text_of(spread->high[i], figure.y);
    table.rows.push_back({curve.name, text_of(curve.x[i], figure.x),
                          i < curve.y.size() ? text_of(curve.y[i], figure.y) : "-", about});
  }
}

}  // namespace

const std::string* category_at(const Axis& axis, double value) {
  const bool inside = value >= 0 && value < static_cast<double>(axis.categories.size());
  return inside ? &axis.categories[static_cast<std::size_t>(value)] : nullptr;
}

FigureTable figure_table(const Figure& figure, std::size_t most) {
  if (std::ranges::any_of(figure.series, is_bars)) return bars_table(figure);
  FigureTable table;
  table.rows = {{"series", figure.x.label, figure.y.label, "spread"}};
  for (const Series& series : figure.series)
    if (!series.name.empty()) add_points(figure, series, std::max<std::size_t>(most, 2), table);
  const auto without_spread = [](const auto& row) { return row[3].empty() || row[3] == "spread"; };
  if (std::ranges::all_of(table.rows, without_spread))
    for (auto& row : table.rows) row.pop_back();
  return table;
}

}  // namespace gradwire::results
