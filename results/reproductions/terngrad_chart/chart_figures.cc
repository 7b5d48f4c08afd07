#include "results/reproductions/terngrad_chart/chart_figures.h"

#include <algorithm>

namespace gradwire::results {
namespace {

constexpr Dash kModelDash[] = {Dash::kDotted, Dash::kDashed, Dash::kSolid};

Dash dash_of(ChartModel model) {
  return kModelDash[static_cast<std::size_t>(model)];
}

std::vector<std::string> methods_of(const Chart& chart, const std::string& model) {
  std::vector<std::string> methods;
  for (const ChartBar& bar : chart.bars)
    if (bar.model == model && std::ranges::find(methods, bar.method) == methods.end())
      methods.push_back(bar.method);
  return methods;
}

/// Bars of one model and method, by number of GPUs.
std::vector<std::size_t> bars_of(const Chart& chart, const std::string& model,
                                 const std::string& method) {
  std::vector<std::size_t> bars;
  for (std::size_t i = 0; i < chart.bars.size(); ++i)
    if (chart.bars[i].model == model && chart.bars[i].method == method) bars.push_back(i);
  std::ranges::sort(bars, {}, [&](std::size_t i) { return chart.bars[i].gpus; });
  return bars;
}

/// A series over bars, with `y` of each.
template <typename Value>
Series series_over(const Chart& chart, std::span<const std::size_t> bars, SeriesKind kind,
                   std::string name, SeriesStyle style, Value y) {
  Series series;
  series.kind = kind;
  series.name = std::move(name);
  series.style = style;
  for (const std::size_t i : bars) {
    series.x.push_back(chart.bars[i].gpus);
    series.y.push_back(y(i));
  }
  return series;
}

Figure empty_figure(const std::string& title, const std::string& subtitle) {
  Figure figure;
  figure.title = title;
  figure.subtitle = subtitle;
  figure.x = {.label = "GPUs", .quantity = Quantity::kPlain, .scale = Scale::kLog2};
  figure.legend = Legend::kBottom;
  figure.provenance = "marks published, lines predicted";
  return figure;
}

void add_ideal(const Chart& chart, std::span<const std::size_t> bars, Figure& figure) {
  const ChartBar& first = chart.bars[bars.front()];
  SeriesStyle style{.color = {Role::kMuted}, .dash = Dash::kDashDot, .width = 1};
  figure.series.push_back(series_over(
      chart, bars, SeriesKind::kLine, "ideal", style,
      [&](std::size_t i) { return first.images_per_second * chart.bars[i].gpus / first.gpus; }));
}

/// Throughput: the published bars as marks, the ideal line, and for each method what
/// `add_lines(method, its bars, its style without marks, figure)` adds.
template <typename AddLines>
Figure throughput_figure(const Chart& chart, const std::string& model, const std::string& subtitle,
                         AddLines add_lines) {
  Figure figure = empty_figure(model, subtitle);
  figure.y = {.label = "images/s", .quantity = Quantity::kCount, .scale = Scale::kLog10};
  int number = 0;
  for (const std::string& method : methods_of(chart, model)) {
    const auto bars = bars_of(chart, model, method);
    if (number == 0) add_ideal(chart, bars, figure);
    SeriesStyle style = series_style(number++, true);
    figure.series.push_back(
        series_over(chart, bars, SeriesKind::kScatter, method + ", published", style,
                    [&](std::size_t i) { return chart.bars[i].images_per_second; }));
    style.mark = Mark::kNone;
    add_lines(method, bars, style, figure);
  }
  return figure;
}

/// A line a model, each with its dash: `y(fit, bar)`.
template <typename Value>
void add_fits(const Chart& chart, std::span<const ChartFit> fits, const std::string& method,
              std::span<const std::size_t> bars, SeriesStyle style, Figure& figure, Value y) {
  for (const ChartFit& fit : fits) {
    style.dash = dash_of(fit.model);
    figure.series.push_back(series_over(chart, bars, SeriesKind::kLine,
                                        method + ", " + std::string(name_of(fit.model)), style,
                                        [&](std::size_t i) { return y(fit, i); }));
  }
}

Figure model_figure(const Chart& chart, std::span<const ChartFit> fits, const std::string& model) {
  return throughput_figure(
      chart, model, "throughput; marks: as published, lines: models",
      [&](const std::string& method, std::span<const std::size_t> bars, const SeriesStyle& style,
          Figure& figure) {
        add_fits(chart, fits, method, bars, style, figure,
                 [](const ChartFit& fit, std::size_t i) { return fit.predicted[i]; });
      });
}

Figure residual_figure(const Chart& chart, std::span<const ChartFit> fits,
                       const std::string& model) {
  Figure figure = empty_figure(model + ": error", "predicted / published - 1");
  figure.y = {.label = "error", .quantity = Quantity::kShare};
  int number = 0;
  for (const std::string& method : methods_of(chart, model)) {
    const auto bars = bars_of(chart, model, method);
    add_fits(chart, fits, method, bars, series_style(number++, true), figure,
             [&](const ChartFit& fit, std::size_t i) {
               return fit.predicted[i] / chart.bars[i].images_per_second - 1;
             });
  }
  for (const double mark : {-0.1, 0.1})
    figure.annotations.push_back({Annotation::Kind::kHorizontal, 0, mark, ""});
  return figure;
}

/// The panel's bars of one method.
Series panel_line(std::span<const ChartBar> panel, const std::string& model,
                  const std::string& method, const SeriesStyle& style) {
  Series line;
  line.name = method + ", simulated";
  line.style = style;
  for (const ChartBar& bar : panel) {
    if (bar.model != model || bar.method != method) continue;
    line.x.push_back(bar.gpus);
    line.y.push_back(bar.images_per_second);
  }
  return line;
}

Figure panel_figure(const Chart& chart, std::span<const ChartBar> panel, const std::string& model) {
  Figure figure = throughput_figure(
      chart, model, "marks: as published, lines: simulated with encoding, overlap, TCP",
      [&](const std::string& method, std::span<const std::size_t>, const SeriesStyle& style,
          Figure& drawn) { drawn.series.push_back(panel_line(panel, model, method, style)); });
  figure.provenance = "marks published; lines simulated (flow), compute and codecs assumed";
  return figure;
}

}  // namespace

std::vector<DrawnFigure> chart_figures(const Chart& chart, std::span<const ChartFit> fits) {
  std::vector<DrawnFigure> figures;
  for (const ChartWorkload& workload : chart.workloads)
    figures.push_back({model_figure(chart, fits, workload.model), 540, 430});
  return figures;
}

std::vector<DrawnFigure> chart_residual_figures(const Chart& chart,
                                                std::span<const ChartFit> fits) {
  std::vector<DrawnFigure> figures;
  for (const ChartWorkload& workload : chart.workloads)
    figures.push_back({residual_figure(chart, fits, workload.model), 540, 330});
  return figures;
}

std::vector<DrawnFigure> chart_panel_figures(const Chart& chart, std::span<const ChartBar> panel) {
  std::vector<DrawnFigure> figures;
  for (const ChartWorkload& workload : chart.workloads)
    if (std::ranges::any_of(panel,
                            [&](const ChartBar& bar) { return bar.model == workload.model; }))
      figures.push_back({panel_figure(chart, panel, workload.model), 540, 430});
  return figures;
}

}  // namespace gradwire::results
