#include "results/scalability/figures.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "results/figures/method_colors.h"

namespace gradwire::results {
namespace {

constexpr double kLeft = 62;  ///< of the figures that stand above one another

using Value = double (*)(const Scalability&, std::size_t, int workers, double seconds,
                         double alone_s);

double throughput_value(const Scalability& all, std::size_t series, int workers, double seconds,
                        double) {
  return all.throughput(series, workers, seconds);
}
double efficiency_value(const Scalability&, std::size_t, int, double seconds, double alone_s) {
  return alone_s / seconds;
}
double seconds_value(const Scalability&, std::size_t, int, double seconds, double) {
  return seconds;
}

bool is_power_of_two(int n) {
  return n > 0 && (n & (n - 1)) == 0;
}

Axis workers_axis(const Scalability& all) {
  double least = 1 << 30, most = 1;
  for (const ScaleSeries& series : all.data.series) {
    least = std::min<double>(least, series.points.front().workers);
    most = std::max<double>(most, series.most_workers());
  }
  for (const auto& model : all.models)
    if (model && model->holds()) most = std::max<double>(most, model->curve.back().workers());
  return {"workers", Quantity::kPlain, Scale::kLog2, least / 1.2, most * 1.2, {}};
}

/// Line and band over one stretch of the curve.
struct Stretch {
  Series line, band;
};

void add_stretch(const CurvePoint& point, double middle, double a, double b, Stretch& stretch) {
  stretch.line.x.push_back(point.workers());
  stretch.line.y.push_back(middle);
  stretch.band.x.push_back(point.workers());
  stretch.band.low.push_back(std::min(a, b));
  stretch.band.high.push_back(std::max(a, b));
}

Stretch stretch_of(SeriesStyle style, bool beyond) {
  Stretch stretch;
  style.mark = Mark::kNone;
  style.dash = beyond ? Dash::kDashed : Dash::kSolid;
  stretch.line.style = style;
  style.opacity = beyond ? 0.55 : 1;
  stretch.band.style = style;
  stretch.band.kind = SeriesKind::kBand;
  return stretch;
}

/// Small marks at powers of two beyond the runs, so that dashed lines can be told apart in grey.
Series beyond_marks(const SeriesStyle& style) {
  Series marks{SeriesKind::kScatter, "", {}, {}, {}, {}, "", style};
  marks.style.mark_size = 6;
  return marks;
}

void add_curve(const Scalability& all, std::size_t index, Value value, Figure& figure) {
  const SeriesModel* model = all.model(index);
  if (!model) return;
  const SeriesStyle style = scale_style(all, index);
  Stretch within = stretch_of(style, false), beyond = stretch_of(style, true);
  Series marks = beyond_marks(style);
  const int most = all.data.series[index].most_workers();
  for (const CurvePoint& point : model->curve) {
    const auto at = [&](double seconds) {
      return value(all, index, point.workers(), seconds, point.alone_s);
    };
    const StepPrediction& prediction = point.prediction;
    const bool share = value == efficiency_value;
    const double middle = at(prediction.time.total_s),
                 a = share ? point.efficiency_high : at(prediction.low_s),
                 b = share ? point.efficiency_low : at(prediction.high_s);
    if (point.workers() <= most) add_stretch(point, middle, a, b, within);
    if (point.workers() >= most) add_stretch(point, middle, a, b, beyond);
    if (point.workers() <= most || !is_power_of_two(point.workers())) continue;
    marks.x.push_back(point.workers());
    marks.y.push_back(middle);
  }
  if (beyond.line.x.size() < 2) beyond = {};
  for (Series* series : {&within.band, &beyond.band, &within.line, &beyond.line, &marks})
    if (!series->x.empty()) figure.series.push_back(std::move(*series));
}

void add_points(const Scalability& all, std::size_t index, Value value, Figure& figure) {
  const ScaleSeries& source = all.data.series[index];
  const SeriesModel* model = all.model(index);
  Series points{SeriesKind::kIntervals, source.name, {}, {}, {}, {}, "", scale_style(all, index)};
  points.style.mark_size = 8;
  for (std::size_t i = 0; i < source.points.size(); ++i) {
    const ScalePoint& point = source.points[i];
    const double alone = model ? model->known[i].alone_s : 0;
    const auto at = [&](double seconds) {
      return value(all, index, point.workers, seconds, alone);
    };
    const double a = at(point.low_s), b = at(point.high_s);
    points.x.push_back(point.workers);
    points.y.push_back(at(point.seconds));
    points.low.push_back(std::min(a, b));
    points.high.push_back(std::max(a, b));
  }
  figure.series.push_back(std::move(points));
}

/// What marks, lines and bands mean: entries of the legend without points.
void add_key(bool modelled, bool ideal, Figure& figure) {
  SeriesStyle grey{.color = {Role::kMuted}};
  if (modelled) {
    figure.series.push_back({SeriesKind::kLine, "model", {}, {}, {}, {}, "", grey});
    grey.dash = Dash::kDashed;
    figure.series.push_back({SeriesKind::kLine, "extrapolated", {}, {}, {}, {}, "", grey});
    grey.dash = Dash::kSolid;
    figure.series.push_back({SeriesKind::kBand, "90 % band", {}, {}, {}, {}, "", grey});
  }
  if (!ideal) return;
  grey.dash = Dash::kDashDot;
  grey.width = 1;
  figure.series.push_back({SeriesKind::kLine, "ideal", {}, {}, {}, {}, "", grey});
}

void add_ideal(const Scalability& all, Figure& figure) {
  if (!all.model(all.best) || !all.computes) return;
  SeriesStyle grey{.color = {Role::kMuted}, .dash = Dash::kDashDot, .width = 1};
  Series line{SeriesKind::kLine, "", {}, {}, {}, {}, "", grey};
  for (const int n : shown_workers(all, all.best)) {
    line.x.push_back(n);
    line.y.push_back(all.throughput(all.best, n, all.predicted(all.best, n).alone_s));
  }
  figure.series.push_back(std::move(line));
}

constexpr double kFarAbove = 30;

/// How many times the best series' run on the most workers the ideal is: a line far above would
/// press all others together.
double ideal_above(const Scalability& all) {
  const SeriesModel* model = all.model(all.best);
  const ScalePoint& last = all.data.series[all.best].points.back();
  return model ? last.seconds / model->known.back().alone_s : 0;
}

/// A line where the runs end.
void add_end_of_runs(const Scalability& all, bool text, Figure& figure) {
  std::set<int> ends;
  for (const ScaleSeries& series : all.data.series) ends.insert(series.most_workers());
  if (*figure.x.high <= *ends.rbegin() * 1.3) return;
  figure.annotations.push_back({Annotation::Kind::kVertical, static_cast<double>(*ends.rbegin()), 0,
                                text ? "beyond the runs" : ""});
}

Figure over_workers(const Scalability& all, const std::string& title) {
  Figure figure;
  figure.title = title;
  figure.x = workers_axis(all);
  figure.legend = Legend::kBottom;
  figure.least_left = kLeft;
  return figure;
}

void add_all(const Scalability& all, Value value, bool ideal, Figure& figure) {
  if (ideal) add_ideal(all, figure);
  for (std::size_t i = 0; i < all.data.series.size(); ++i) add_curve(all, i, value, figure);
  for (std::size_t i = 0; i < all.data.series.size(); ++i) add_points(all, i, value, figure);
  add_key(all.any_holds(), ideal, figure);
  add_end_of_runs(all, true, figure);
  set_source(all, figure);
}

std::string interval_words(const Scalability& all) {
  bool seeds = false, steps = false;
  for (const ScaleSeries& series : all.data.series)
    for (const ScalePoint& point : series.points) {
      seeds = seeds || (point.over_seeds && point.relative_error > 0);
      steps = steps || (!point.over_seeds && point.relative_error > 0);
    }
  if (!seeds && !steps) return "marks: runs, whose steps do not vary";
  return std::string("marks: runs, with the 90 % interval of their mean over ") +
         (seeds && steps ? "seeds or steps"
          : seeds        ? "seeds"
                         : "steps");
}

double legend_room(const Scalability& all) {
  return 20 * std::ceil(static_cast<double>(all.data.series.size()) / 3);
}

}  // namespace

int scale_color(const Scalability& all, std::size_t series) {
  std::vector<std::string> labels;
  for (const ScaleSeries& each : all.data.series) labels.push_back(each.header.method);
  const auto own = labels.begin() + static_cast<std::ptrdiff_t>(series);
  const auto before = std::count(labels.begin(), own, *own);
  return MethodColors(labels).of(*own) + static_cast<int>(before) * kSeriesColors;
}

SeriesStyle scale_style(const Scalability& all, std::size_t series) {
  SeriesStyle style = series_style(scale_color(all, series), true);
  style.dash = Dash::kSolid;  // dashes say "extrapolated"
  return style;
}

std::vector<int> shown_workers(const Scalability& all, std::size_t series) {
  std::set<int> workers;
  for (const ScalePoint& point : all.data.series[series].points) workers.insert(point.workers);
  if (const SeriesModel* model = all.model(series))
    for (const CurvePoint& point : model->curve)
      if (is_power_of_two(point.workers())) workers.insert(point.workers());
  if (all.answer(series, all.options.at)) workers.insert(all.options.at);
  if (!all.reach.empty() && all.reach[series]) workers.insert(*all.reach[series]);
  return {workers.begin(), workers.end()};
}

void set_source(const Scalability& all, Figure& figure) {
  std::set<std::string> how;
  for (const ScaleSeries& series : all.data.series)
    for (const ScalePoint& point : series.points)
      how.insert(point.provenance + " (" + engine_of(series.header) + ")");
  figure.provenance = "marks " + in_words({how.begin(), how.end()});
  if (all.any_holds()) figure.provenance += ", lines predicted";
}

NamedFigure throughput_figure(const Scalability& all) {
  NamedFigure named{"throughput",
                    {over_workers(all, "Throughput"), kFigureWidth, 350 + legend_room(all)}};
  Figure& figure = named.drawn.figure;
  figure.subtitle = interval_words(all);
  figure.y = {all.throughput_unit(), Quantity::kCount, Scale::kLog10};
  const bool ideal = all.computes && all.data.series[0].samples > 0;
  const double above = ideal ? ideal_above(all) : 0;
  add_all(all, throughput_value, ideal && above < kFarAbove, figure);
  if (above >= kFarAbove)
    figure.subtitle +=
        "; ideal: " + format_value(above, Quantity::kPlain) + " times the largest run";
  return named;
}

NamedFigure efficiency_figure(const Scalability& all) {
  NamedFigure named{
      "efficiency",
      {over_workers(all, "Scaling efficiency"), kFigureWidth, 350 + legend_room(all)}};
  Figure& figure = named.drawn.figure;
  figure.subtitle = "throughput over that of as many lone workers that send nothing";
  figure.y = {"efficiency", Quantity::kShare, Scale::kLinear, 0.0, {}, {}};
  add_all(all, efficiency_value, false, figure);
  const double target = all.options.target;
  if (extent(figure).y.high < 0.4 * target) {
    figure.subtitle += "; the target of " + percent(target) + " is far above";
    return named;
  }
  figure.y.high = 1.05;
  figure.annotations.push_back(
      {Annotation::Kind::kHorizontal, 0, target, "target " + percent(target)});
  return named;
}

NamedFigure step_time_figure(const Scalability& all) {
  NamedFigure named{"step-time",
                    {over_workers(all, "Time of a step"), kFigureWidth, 350 + legend_room(all)}};
  Figure& figure = named.drawn.figure;
  figure.subtitle = interval_words(all);
  figure.y = {"time of a step", Quantity::kSeconds, Scale::kLog10};
  add_all(all, seconds_value, false, figure);
  return named;
}

NamedFigure residual_figure(const Scalability& all) {
  NamedFigure named{"residuals",
                    {over_workers(all, "The model's error at the runs"), kFigureWidth, 195}};
  Figure& figure = named.drawn.figure;
  figure.subtitle = "model's step time / run's - 1";
  figure.legend = Legend::kNone;
  figure.y = {"error", Quantity::kShare};
  double most = 0.01;
  for (std::size_t i = 0; i < all.data.series.size(); ++i) {
    const SeriesModel* model = all.model(i);
    if (!model) continue;
    Series marks{SeriesKind::kScatter, all.data.series[i].name, {}, {}, {}, {}, "",
                 scale_style(all, i)};
    for (std::size_t k = 0; k < model->errors.size(); ++k) {
      marks.x.push_back(all.data.series[i].points[k].workers);
      marks.y.push_back(model->errors[k]);
      most = std::max(most, std::abs(model->errors[k]));
    }
    figure.series.push_back(std::move(marks));
  }
  figure.y.low = -1.15 * most;
  figure.y.high = 1.15 * most;
  figure.annotations.push_back({Annotation::Kind::kHorizontal, 0, 0, ""});
  add_end_of_runs(all, false, figure);
  set_source(all, figure);
  figure.provenance =
      "predicted, over " + figure.provenance.substr(6, figure.provenance.find(", lines") - 6);
  return named;
}

}  // namespace gradwire::results
