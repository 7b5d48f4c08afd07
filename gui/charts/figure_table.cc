#include "gui/charts/figure_table.h"

#include <algorithm>

#include "results/figures/figure_table.h"

namespace gradwire::gui {

namespace {

QString value_text(double value, const results::Axis& axis) {
  if (const std::string* category = results::category_at(axis, value)) {
    return QString::fromStdString(*category);
  }
  return QString::fromStdString(results::format_value(value, axis.quantity));
}

QString capital(const std::string& label) {
  QString text = QString::fromStdString(label);
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

}  // namespace

DataTable figure_table(
    const results::Figure& figure,
    const std::function<QString(std::size_t series, std::size_t point)>& name_of) {
  const bool ranges = std::ranges::any_of(
      figure.series, [](const results::Series& series) { return !series.low.empty(); });
  // Bars that lie have their categories on the y axis.
  const results::Axis& along = figure.horizontal_bars ? figure.y : figure.x;
  const results::Axis& up = figure.horizontal_bars ? figure.x : figure.y;
  DataTable table;
  if (name_of) table.header << "Point";
  table.header << "Series" << capital(along.label) << capital(up.label);
  if (ranges)
    table.header << "From"
                 << "To";
  std::size_t all = 0;
  for (std::size_t s = 0; s < figure.series.size(); ++s) {
    const results::Series& series = figure.series[s];
    for (std::size_t i = 0; i < series.x.size(); ++i) {
      if (++all > kMostTableRows) continue;
      QStringList row;
      if (name_of) row << name_of(s, i);
      row << QString::fromStdString(series.name) << value_text(series.x[i], along)
          << (i < series.y.size() ? value_text(series.y[i], up) : QString());
      if (ranges) {
        row << (i < series.low.size() ? value_text(series.low[i], up) : QString())
            << (i < series.high.size() ? value_text(series.high[i], up) : QString());
      }
      table.rows.push_back(std::move(row));
    }
  }
  table.title = QString::fromStdString(figure.title) + counted(all, "points");
  return table;
}

}  // namespace gradwire::gui
