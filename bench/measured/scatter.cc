#include "bench/measured/scatter.h"

#include <algorithm>
#include <cstdio>

namespace gradwire::bench {
namespace {

std::string quoted(const std::string& text) {
  std::string cell = "\"";
  for (const char c : text) cell.append(c == '"' ? "\"\"" : std::string(1, c));
  return cell + "\"";
}

std::string figure(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

results::Figure scatter_of(std::span<const JudgedRow> judged, const std::string& subtitle) {
  results::Figure scatter;
  scatter.title = "Predicted against measured";
  scatter.subtitle = subtitle;
  scatter.x = {"measured", results::Quantity::kSeconds, results::Scale::kLog10};
  scatter.y = {"predicted", results::Quantity::kSeconds, results::Scale::kLog10};
  scatter.provenance =
      "predicted by a form; measured by others, as docs/validation/measured.md says";
  double least = 1e300, most = 0;
  int index = 0;
  for (const auto& [group, rows] : by_group(judged)) {
    results::Series series;
    series.kind = results::SeriesKind::kScatter;
    series.name = group;
    series.style = results::series_style(index++, true);
    series.style.mark_size = 5;
    for (const JudgedRow* row : rows) {
      series.x.push_back(row->measured);
      series.y.push_back(row->predicted);
      least = std::min({least, row->measured, row->predicted});
      most = std::max({most, row->measured, row->predicted});
    }
    scatter.series.push_back(std::move(series));
  }
  if (most > 0) {
    results::Series right;
    right.name = "right";
    right.x = right.y = {least, most};
    right.style = results::series_style(index);
    right.style.dash = results::Dash::kDashed;
    scatter.series.push_back(std::move(right));
  }
  return scatter;
}

std::string scatter_csv(std::span<const JudgedRow> judged, const std::string& way) {
  std::string csv = "way,source,row,measured_s,predicted_s,low_s,high_s,inside\n";
  for (const JudgedRow& row : judged)
    csv += way + "," + quoted(row.group) + "," + quoted(row.label) + "," + figure(row.measured) +
           "," + figure(row.predicted) + "," + figure(row.low) + "," + figure(row.high) + "," +
           (row.inside() ? "1" : "0") + "\n";
  return csv;
}

}  // namespace gradwire::bench
