#include <algorithm>
#include <cmath>

#include "results/scalability/figures.h"

/// The parts of a step, what moves the answer, and what was held back.
namespace gradwire::results {
namespace {

struct Part {
  const char* name;
  double (*seconds)(const CurvePoint& point);
};

const Part kParts[] = {
    {"compute", [](const CurvePoint& p) { return p.prediction.time.compute_s - p.wait_s; }},
    {"encode", [](const CurvePoint& p) { return p.prediction.time.encode_s; }},
    {"exposed communication", [](const CurvePoint& p) { return p.prediction.time.exposed_s; }},
    {"decode and add", [](const CurvePoint& p) { return p.prediction.time.decode_s; }},
    {"wait for slower workers", [](const CurvePoint& p) { return p.wait_s; }}};

Series bars_of(const Part& part, const std::vector<CurvePoint>& points, int style) {
  Series series{SeriesKind::kBars, part.name, {}, {}, {}, {}, "step", series_style(style)};
  for (std::size_t i = 0; i < points.size(); ++i) {
    series.x.push_back(static_cast<double>(i));
    series.y.push_back(part.seconds(points[i]));
  }
  return series;
}

bool all_zero(const Series& series) {
  return std::ranges::all_of(series.y, [](double y) { return y <= 0; });
}

Series known_marks(const ScaleSeries& source, const std::vector<int>& workers) {
  SeriesStyle style{.color = {Role::kInk}, .mark = Mark::kDiamond, .mark_size = 9};
  Series marks{SeriesKind::kIntervals, "the runs' whole step", {}, {}, {}, {}, "", style};
  for (const ScalePoint& point : source.points) {
    const auto at = std::ranges::find(workers, point.workers);
    marks.x.push_back(static_cast<double>(at - workers.begin()));
    marks.y.push_back(point.seconds);
    marks.low.push_back(point.low_s);
    marks.high.push_back(point.high_s);
  }
  return marks;
}

Series tornado_bars(const Scalability& all, bool more) {
  Series series{SeriesKind::kBars,
                more ? "20 % more of it" : "20 % less of it",
                {},
                {},
                {},
                {},
                more ? "more" : "less",
                series_style(more ? 0 : 1)};
  for (const SensitivityRow& row : all.sensitivity) {
    series.x.push_back(static_cast<double>(series.x.size()));
    series.y.push_back(more ? row.more : row.less);
  }
  return series;
}

}  // namespace

NamedFigure split_figure(const Scalability& all, std::size_t index) {
  const ScaleSeries& source = all.data.series[index];
  const std::vector<int> workers = shown_workers(all, index);
  NamedFigure named{"split-" + std::to_string(index + 1), {{}, kFigureWidth, 340}};
  Figure& figure = named.drawn.figure;
  figure.title = source.name;
  figure.subtitle = "exposed parts of a step, by the model";
  figure.legend = Legend::kBottom;
  figure.y = {"time of a step", Quantity::kSeconds};
  figure.x.label = "workers";
  std::vector<CurvePoint> points;
  for (const int n : workers) {
    points.push_back(all.predicted(index, n));
    figure.x.categories.push_back(std::to_string(n));
  }
  int style = 0;
  for (const Part& part : kParts) {
    Series bars = bars_of(part, points, style++);
    if (!all_zero(bars)) figure.series.push_back(std::move(bars));
  }
  figure.series.push_back(known_marks(source, workers));
  const auto end = std::ranges::find(workers, source.most_workers()) - workers.begin();
  if (workers.back() > source.most_workers())
    figure.annotations.push_back(
        {Annotation::Kind::kVertical, static_cast<double>(end) + 0.5, 0, "extrapolated"});
  figure.provenance = "bars predicted; marks " + source.points[0].provenance + " (" +
                      engine_of(source.header) + "); compute times " + source.compute_provenance;
  return named;
}

NamedFigure sensitivity_figure(const Scalability& all) {
  NamedFigure named{"sensitivity",
                    {{}, kFigureWidth, 150 + 38.0 * static_cast<double>(all.sensitivity.size())}};
  Figure& figure = named.drawn.figure;
  figure.title = "What moves the throughput most";
  figure.subtitle = all.data.series[all.best].name + " on " + std::to_string(all.options.at) +
                    " workers; each input alone 20 % less and 20 % more";
  figure.horizontal_bars = true;
  figure.legend = Legend::kBottom;
  figure.x = {"change of throughput", Quantity::kShare};
  for (const SensitivityRow& row : all.sensitivity)
    figure.y.categories.push_back(row.note.empty() ? row.input : row.input + " *");
  figure.series = {tornado_bars(all, false), tornado_bars(all, true)};
  figure.annotations.push_back({Annotation::Kind::kVertical, 0, 0, ""});
  for (const SensitivityRow& row : all.sensitivity)
    if (!row.note.empty()) figure.subtitle += " (* " + row.note + ")";
  figure.provenance = "predicted";
  return named;
}

NamedFigure validation_figure(const Scalability& all) {
  NamedFigure named{"validation", {{}, kFigureWidth, 0}};
  Figure& figure = named.drawn.figure;
  figure.title = "Runs that the model had not seen";
  figure.subtitle = "step time predicted from fewer workers / the run's - 1; bar: 90 % band";
  figure.x = {"workers of the run held back", Quantity::kPlain, Scale::kLog2};
  figure.y = {"error", Quantity::kShare};
  figure.legend = Legend::kBottom;
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    const SeriesModel* model = all.model(i);
    if (!model || model->validation.held.empty()) continue;
    Series points{SeriesKind::kIntervals, all.data.series[i].name, {}, {}, {}, {}, "",
                  scale_style(all, i)};
    for (const HeldBack& held : model->validation.held) {
      // Series beside each other, not over each other.
      const double aside = std::exp2(
          0.06 * (static_cast<double>(i) - static_cast<double>(all.data.series.size() - 1) / 2));
      points.x.push_back(held.workers * aside);
      points.y.push_back(held.error());
      points.low.push_back(held.prediction.low_s / held.known_s - 1);
      points.high.push_back(held.prediction.high_s / held.known_s - 1);
    }
    figure.series.push_back(std::move(points));
  }
  figure.annotations.push_back({Annotation::Kind::kHorizontal, 0, 0, ""});
  figure.provenance = "predicted, over runs that were held back";
  named.drawn.height = figure.series.empty() ? 0 : 300;
  return named;
}

}  // namespace gradwire::results
