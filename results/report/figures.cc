#include <algorithm>
#include <cmath>
#include <set>

#include "results/report/data.h"
#include "results/runs/scenario_view.h"

/// The report's figures.
namespace gradwire::results {
namespace {

std::string joined(const std::set<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += (out.empty() ? "" : ", ") + text;
  return out;
}

/// Where one method takes many times as long as another, a linear axis would squeeze the quick one.
Scale time_scale(const ReportData& data, const Section& section) {
  Interval ends;
  for (const std::size_t i : section.groups) ends.include(data.groups[i].group.simulated_s.mean);
  return ends.low > 0 && ends.high / ends.low > 5 ? Scale::kLog10 : Scale::kLinear;
}

void attach_source(const ReportData& data, const std::vector<std::size_t>& groups, bool learning,
                   Figure& figure) {
  std::set<std::string> hashes, times, learned;
  for (const std::size_t i : groups) {
    const ReportGroup& group = data.groups[i];
    const RunHeader& header = group.group.runs.front().header;
    hashes.insert(header.scenario_hash);
    times.insert(group.time_provenance + " (" + header.executor + ")");
    if (!group.learning_provenance.empty()) learned.insert(group.learning_provenance);
  }
  figure.scenario_hashes.assign(hashes.begin(), hashes.end());
  figure.provenance = "time " + joined(times);
  if (learning && !learned.empty())
    figure.provenance = "learning " + joined(learned) + ", " + figure.provenance;
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

double bars_height(std::size_t bars) {
  return 130 + 27.0 * static_cast<double>(bars);
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

bool has_points(const DrawnFigure& drawn) {
  return std::any_of(drawn.figure.series.begin(), drawn.figure.series.end(),
                     [](const Series& series) {
                       const auto real = [](double v) { return std::isfinite(v) && v != 0; };
                       return std::any_of(series.y.begin(), series.y.end(), real);
                     });
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
