#include <algorithm>
#include <map>

#include "results/report/figure_parts.h"
#include "results/runs/scenario_view.h"

/// The report's figures across its sections.
namespace gradwire::results {
namespace {

Quantity quantity_of(const std::string& pointer) {
  const std::string name = short_name(pointer);
  if (name == "bandwidth") return Quantity::kBitRate;
  if (name == "delay") return Quantity::kSeconds;
  if (name == "loss") return Quantity::kShare;
  if (name == "bucket" || name == "bytes") return Quantity::kBytes;
  return Quantity::kCount;
}

Scale scale_of(const ReportData& data) {
  const double low = *data.sections.front().along, high = *data.sections.back().along;
  if (low <= 0 || high / low < 8) return Scale::kLinear;
  const bool workers = quantity_of(data.section_pointers.front()) == Quantity::kCount;
  return workers ? Scale::kLog2 : Scale::kLog10;
}

/// One curve a method over the quantity that differs between the sections.
DrawnFigure along_figure(const ReportData& data, const std::string& title,
                         Statistic RunGroup::*member, const Axis& y) {
  DrawnFigure drawn;
  Figure& figure = drawn.figure;
  const std::string& pointer = data.section_pointers.front();
  figure.title = title + " against " + short_name(pointer);
  figure.subtitle = "mean over seeds; whiskers: one sample standard deviation";
  figure.x.label = short_name(pointer);
  figure.x.quantity = quantity_of(pointer);
  figure.x.scale = scale_of(data);
  figure.y = y;
  figure.legend = Legend::kBottom;
  std::map<std::string, Series> lines;
  std::vector<std::string> order;
  std::vector<std::size_t> all;
  for (const Section& section : data.sections)
    for (const std::size_t i : section.groups) {
      all.push_back(i);
      const ReportGroup& group = data.groups[i];
      const Statistic& value = group.group.*member;
      if (value.n == 0) continue;
      const auto [found, fresh] = lines.try_emplace(group.name);
      Series& line = found->second;
      if (fresh) {
        order.push_back(group.name);
        line.name = group.name;
        line.style = series_style(group.color, true);
      }
      const double spread = std::isnan(value.spread) ? 0 : value.spread;
      line.x.push_back(*section.along);
      line.y.push_back(value.mean);
      line.low.push_back(value.mean - spread);
      line.high.push_back(value.mean + spread);
    }
  for (const std::string& name : order) {
    Series whiskers = lines[name];
    whiskers.kind = SeriesKind::kIntervals;
    whiskers.name.clear();
    figure.series.push_back(lines[name]);
    figure.series.push_back(std::move(whiskers));
  }
  attach_source(data, all, false, figure);
  return drawn;
}

/// Where more than one thing differs: a bar for each section and method.
DrawnFigure all_bars(const ReportData& data) {
  DrawnFigure drawn;
  Figure& figure = drawn.figure;
  figure.title = "Step time under every condition";
  figure.x = {"time of a step", Quantity::kSeconds};
  figure.horizontal_bars = true;
  figure.legend = Legend::kBottom;
  std::vector<std::string> order;
  std::map<std::string, Series> bars;
  std::vector<std::size_t> all;
  for (const Section& section : data.sections)
    for (const std::size_t i : section.groups) {
      const ReportGroup& group = data.groups[i];
      all.push_back(i);
      const auto [found, fresh] = bars.try_emplace(group.name);
      Series& series = found->second;
      if (fresh) {
        order.push_back(group.name);
        series.kind = SeriesKind::kBars;
        series.name = group.name;
        series.stack = "step";
        series.style = series_style(group.color);
      }
      series.x.push_back(static_cast<double>(figure.y.categories.size()));
      series.y.push_back(group.group.step_time_s.mean);
      figure.y.categories.push_back(section.label + ": " + group.name);
    }
  for (const std::string& name : order) figure.series.push_back(std::move(bars[name]));
  attach_source(data, all, false, figure);
  drawn.wide = true;
  drawn.width = 1080;
  drawn.height = 110 + 19.0 * static_cast<double>(figure.y.categories.size());
  return drawn;
}

}  // namespace

std::vector<DrawnFigure> overview_figures(const ReportData& data) {
  std::vector<DrawnFigure> figures;
  if (data.sections.size() < 2) return figures;
  if (data.sections.front().along) {
    figures.push_back(along_figure(data, "Step time", &RunGroup::step_time_s,
                                   {"time of a step", Quantity::kSeconds, Scale::kLog10}));
    figures.push_back(
        along_figure(data, "Time to the target", &RunGroup::time_to_target_s,
                     {"simulated time to the target", Quantity::kSeconds, Scale::kLog10}));
  } else {
    figures.push_back(all_bars(data));
  }
  std::erase_if(figures, [](const DrawnFigure& drawn) { return !has_points(drawn); });
  return figures;
}

}  // namespace gradwire::results
