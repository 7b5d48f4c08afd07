#include <algorithm>
#include <cmath>
#include <set>

#include "results/report/figure_parts.h"

/// The report's figures of one section.
namespace gradwire::results {
namespace {

/// Where one method takes many times as long as another, a linear axis would squeeze the quick one.
Scale time_scale(const ReportData& data, const Section& section) {
  Interval ends;
  for (const std::size_t i : section.groups) ends.include(data.groups[i].group.simulated_s.mean);
  return ends.low > 0 && ends.high / ends.low > 5 ? Scale::kLog10 : Scale::kLinear;
}

enum class Against { kTime, kBytes };

/// Mean curves with a band of one spread where a group has several seeds.
void add_curve(const ReportGroup& group, const Curve& curve, Against against, bool marks,
               Figure& figure) {
  if (curve.mean.empty()) return;
  const std::vector<double>& x = against == Against::kTime ? curve.time_s : curve.bytes;
  if (group.group.runs.size() > 1) {
    Series band{SeriesKind::kBand, "", x, {}, curve.low, curve.high, "", {}};
    band.style = series_style(group.color);
    figure.series.push_back(std::move(band));
  }
  Series line{SeriesKind::kLine, group.name, x, curve.mean, {}, {}, "", {}};
  line.style = series_style(group.color, marks);
  line.style.mark_size = 6;
  figure.series.push_back(std::move(line));
}

std::string band_note(const ReportData& data, const Section& section) {
  int least = 1 << 30, most = 0;
  for (const std::size_t i : section.groups) {
    const int n = static_cast<int>(data.groups[i].group.runs.size());
    least = std::min(least, n);
    most = std::max(most, n);
  }
  if (most < 2) return "one seed";
  const std::string n =
      least == most ? std::to_string(most) : std::to_string(least) + " to " + std::to_string(most);
  return "mean over " + n + " seeds; band: one sample standard deviation";
}

DrawnFigure accuracy_figure(const ReportData& data, const Section& section, Against against) {
  DrawnFigure drawn;
  Figure& figure = drawn.figure;
  const bool time = against == Against::kTime;
  figure.title = time ? "Accuracy against simulated time" : "Accuracy against bytes on the wire";
  figure.subtitle = band_note(data, section);
  figure.x.label = time ? "simulated time" : "bytes on the wire, all workers";
  figure.x.quantity = time ? Quantity::kSeconds : Quantity::kBytes;
  figure.x.scale = time ? time_scale(data, section) : Scale::kLog10;
  figure.y.label = "held-out accuracy";
  figure.y.quantity = Quantity::kShare;
  figure.legend = Legend::kBottom;
  for (const std::size_t i : section.groups)
    add_curve(data.groups[i], data.groups[i].accuracy, against, true, figure);
  const auto& target = data.groups[section.baseline].group.target_accuracy;
  if (target && !figure.series.empty())
    figure.annotations.push_back({Annotation::Kind::kHorizontal, 0, *target,
                                  "target " + format_value(*target, Quantity::kShare)});
  attach_source(data, section.groups, true, figure);
  return drawn;
}

DrawnFigure loss_figure(const ReportData& data, const Section& section) {
  DrawnFigure drawn;
  Figure& figure = drawn.figure;
  figure.title = "Training loss against simulated time";
  figure.subtitle = band_note(data, section);
  if (data.loss_window > 1)
    figure.subtitle += "; running mean over " + std::to_string(data.loss_window) + " steps";
  figure.x = {"simulated time", Quantity::kSeconds};
  figure.x.scale = time_scale(data, section);
  figure.y = {"training loss", Quantity::kPlain};
  figure.legend = Legend::kBottom;
  for (const std::size_t i : section.groups)
    add_curve(data.groups[i], data.groups[i].loss, Against::kTime, false, figure);
  attach_source(data, section.groups, true, figure);
  return drawn;
}

DrawnFigure split_figure(const ReportData& data, const Section& section) {
  DrawnFigure drawn;
  Figure& figure = drawn.figure;
  figure.title = "Where a step's time goes";
  figure.subtitle =
      "mean over steps, workers and seeds; parts add up to the step; communication counts where "
      "the "
      "worker neither computes nor encodes nor decodes";
  figure.x = {"time of a step", Quantity::kSeconds};
  figure.horizontal_bars = true;
  figure.legend = Legend::kBottom;
  const std::pair<const char*, double StepSplit::*> parts[] = {
      {"compute", &StepSplit::compute_s},
      {"encode and decode, not hidden", &StepSplit::exposed_codec_s},
      {"exposed communication", &StepSplit::exposed_s},
      {"idle", &StepSplit::idle_s}};
  int index = 0;
  for (const auto& [name, member] : parts) {
    Series series{SeriesKind::kBars, name, {}, {}, {}, {}, "step", {}};
    series.style = series_style(index++);
    for (const std::size_t i : section.groups) {
      series.x.push_back(static_cast<double>(series.x.size()));
      series.y.push_back(data.groups[i].split.*member);
    }
    const bool any = std::ranges::any_of(series.y, [](double seconds) { return seconds > 0; });
    if (any) figure.series.push_back(std::move(series));
  }
  for (const std::size_t i : section.groups) figure.y.categories.push_back(data.groups[i].name);
  attach_source(data, section.groups, false, figure);
  drawn.height = bars_height(section.groups.size()) + 22;
  return drawn;
}

/// A bar a group: bar(group) is its name and its length. `words`: titles and the axis of lengths.
template <typename Bar>
DrawnFigure group_bars(const ReportData& data, const Section& section, const Figure& words,
                       const std::string& series_name, Bar bar) {
  DrawnFigure drawn;
  Figure& figure = drawn.figure = words;
  figure.horizontal_bars = true;
  figure.legend = Legend::kNone;
  Series series{SeriesKind::kBars, series_name, {}, {}, {}, {}, series_name, {}};
  series.style = series_style(0);
  for (const std::size_t i : section.groups) {
    const auto [name, length] = bar(data.groups[i]);
    series.x.push_back(static_cast<double>(series.x.size()));
    series.y.push_back(length);
    figure.y.categories.push_back(name);
  }
  figure.series.push_back(std::move(series));
  attach_source(data, section.groups, false, figure);
  drawn.height = bars_height(section.groups.size());
  return drawn;
}

DrawnFigure bytes_figure(const ReportData& data, const Section& section) {
  Figure words;
  words.title = "Bytes on the wire";
  words.subtitle = "mean of a step, all workers, with headers and retransmissions";
  words.x = {"bytes of a step", Quantity::kBytes};
  return group_bars(data, section, words, "bytes", [](const ReportGroup& group) {
    return std::pair(group.name, group.split.wire_bytes);
  });
}

/// Only groups of which every run reached the target.
DrawnFigure target_figure(const ReportData& data, const Section& section) {
  Figure words;
  words.title = "Simulated time to the target accuracy";
  words.subtitle = "mean over seeds; a method that missed it in any run has no bar";
  words.x = {"simulated time", Quantity::kSeconds};
  return group_bars(data, section, words, "time", [](const ReportGroup& each) {
    const RunGroup& group = each.group;
    const bool reached = group.reached_target == static_cast<int>(group.runs.size());
    return std::pair(each.name + (reached ? "" : " (missed)"),
                     reached ? group.time_to_target_s.mean : std::nan(""));
  });
}

}  // namespace

std::vector<DrawnFigure> section_figures(const ReportData& data, const Section& section) {
  std::vector<DrawnFigure> figures = {accuracy_figure(data, section, Against::kTime),
                                      loss_figure(data, section),
                                      accuracy_figure(data, section, Against::kBytes),
                                      target_figure(data, section),
                                      split_figure(data, section),
                                      bytes_figure(data, section)};
  std::erase_if(figures, [](const DrawnFigure& drawn) { return !has_points(drawn); });
  return figures;
}

}  // namespace gradwire::results
