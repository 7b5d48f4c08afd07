#include "results/report/figure_parts.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/joined_texts.h"

namespace gradwire::results {
void attach_source(const ReportData& data, const std::vector<std::size_t>& groups, bool learning,
                   Figure& figure) {
  std::set<std::string> hashes, times, learned;
  for (const std::size_t i : groups) {
    const ReportGroup& group = data.groups[i];
    const RunHeader& header = group.group.runs.front().header;
    hashes.insert(header.scenario_hash);
    times.insert(group.time_provenance + " (" + engine_of(header) + ")");
    if (!group.learning_provenance.empty()) learned.insert(group.learning_provenance);
  }
  figure.scenario_hashes.assign(hashes.begin(), hashes.end());
  figure.provenance = "time " + joined_texts(times, ", ");
  if (learning && !learned.empty())
    figure.provenance = "learning " + joined_texts(learned, ", ") + ", " + figure.provenance;
}

double bars_height(std::size_t bars) {
  return 130 + 27.0 * static_cast<double>(bars);
}

bool has_points(const DrawnFigure& drawn) {
  return std::any_of(drawn.figure.series.begin(), drawn.figure.series.end(),
                     [](const Series& series) {
                       const auto real = [](double v) { return std::isfinite(v) && v != 0; };
                       return std::any_of(series.y.begin(), series.y.end(), real);
                     });
}

}  // namespace gradwire::results
