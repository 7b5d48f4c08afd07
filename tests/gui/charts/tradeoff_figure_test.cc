#include "gui/charts/tradeoff_figure.h"

#include <catch2/catch.hpp>

#include "gui/charts/run_card.h"
#include "gui/samples/sample_runs.h"

using namespace gradwire::gui;
using namespace gradwire::results;

namespace {

RunView view_of(std::vector<RunSummary> runs) {
  RunView view;
  view.set_runs(make_run_set(std::move(runs)));
  return view;
}

const Series* named(const TradeoffFigure& figure, const std::string& name) {
  for (const Series& series : figure.figure.series) {
    if (series.name == name) return &series;
  }
  return nullptr;
}

std::size_t fronts(const TradeoffFigure& figure) {
  std::size_t count = 0;
  for (const Series& series : figure.figure.series) count += series.kind == SeriesKind::kStep;
  return count;
}

}  // namespace

TEST_CASE("a chart's axes and colours are any columns, swept ones too", "[unit]") {
  const RunView view = view_of(samples::sample_runs(144));
  const RunSelection nothing;
  TradeoffOptions options;
  options.x = Column::kWorkers;
  options.y = Column::kStepTime;
  options.colour = *view.columns().swept_at("/network/link/bandwidth");
  options.log_x = true;
  const TradeoffFigure figure = tradeoff_figure(view, nothing, {}, options);
  CHECK(figure.drawn == 144);
  CHECK(figure.without == 0);
  CHECK(figure.figure.x.scale == Scale::kLog2);
  CHECK(figure.figure.y.quantity == gradwire::results::Quantity::kSeconds);
  REQUIRE(named(figure, "100 Mbps"));
  CHECK(named(figure, "100 Mbps")->x.size() == 48);
  CHECK(named(figure, "10 Gbps")->x.size() == 48);
  // Colours go by value: the slowest links have the first one.
  CHECK(figure.figure.series[0].name == "100 Mbps");
  // Nobody beats anybody in the number of workers.
  CHECK(fronts(figure) == 0);
  CHECK_FALSE(has_front(options.x, options.y));
  // A swept field on the axis.
  options.x = options.colour;
  options.log_x = true;
  const TradeoffFigure rates = tradeoff_figure(view, nothing, {}, options);
  CHECK(rates.figure.x.scale == Scale::kLog10);
  CHECK(rates.figure.series[0].x[0] == 1e8);
  // A text on the axis: places by name.
  options.x = Column::kMethod;
  const TradeoffFigure texts = tradeoff_figure(view, nothing, {}, options);
  CHECK(texts.figure.x.categories.size() == 6);
  CHECK(texts.drawn == 144);
}

TEST_CASE("runs without accuracy get axes that show them", "[unit]") {
  auto runs = samples::sample_runs(72);
  for (RunSummary& run : runs) run.final_accuracy.reset();
  const TradeoffOptions axes = usual_axes(view_of(runs));
  CHECK(axes.x == Column::kWorkers);
  CHECK(axes.y == Column::kStepTime);
  for (RunSummary& run : runs) run.header.workers = 8;
  const RunView one_size = view_of(runs);
  CHECK(usual_axes(one_size).x == *one_size.columns().swept_at("/network/link/bandwidth"));
  CHECK(usual_axes(view_of(samples::sample_runs(72))).y == Column::kAccuracy);
}

TEST_CASE("workloads have a front each, and the better side is the right one", "[unit]") {
  auto runs = samples::sample_runs(4);
  const auto set = [&](std::size_t i, const char* model, double seconds, double accuracy) {
    runs[i].header.model = model;
    runs[i].simulated_s = seconds;
    runs[i].final_accuracy = accuracy;
  };
  set(0, "easy", 1, 0.90);
  set(1, "easy", 2, 0.99);
  set(2, "hard", 10, 0.50);  // beaten by both of the other workload, which are no alternatives
  set(3, "hard", 20, 0.60);
  const RunView view = view_of(runs);
  const RunSelection nothing;
  const TradeoffFigure figure = tradeoff_figure(view, nothing, {}, {});
  CHECK(figure.workloads == 2);
  REQUIRE(fronts(figure) == 2);
  REQUIRE(named(figure, "not beaten: easy on digits"));
  CHECK(named(figure, "not beaten: easy on digits")->y == std::vector<double>{0.90, 0.99});
  CHECK(named(figure, "not beaten: hard on digits")->x == std::vector<double>{10, 20});
  // Two costs: small is better on both axes, so the front falls.
  TradeoffOptions costs;
  costs.y = Column::kLoss;
  for (std::size_t i = 0; i < 4; ++i) {
    runs[i].header.model = "easy";
    runs[i].final_loss = 1.0 / double(i + 1);
  }
  runs[3].final_loss = 0.9;
  const TradeoffFigure falling = tradeoff_figure(view_of(runs), nothing, {}, costs);
  REQUIRE(named(falling, "not beaten (Pareto front)"));
  CHECK(named(falling, "not beaten (Pareto front)")->x == std::vector<double>{1, 2, 10});
}

TEST_CASE("a selection that the filter hides is not drawn and dims nothing", "[unit]") {
  RunView view = view_of(samples::sample_runs(24));
  RunSelection selection;
  selection.select({3});
  auto curve = std::make_shared<RunCurve>();
  curve->run = 3;
  curve->points = {{0.1, 0.5}, {0.2, 0.8}};
  const auto drawn = [&] { return tradeoff_figure(view, selection, {{3, curve}}, {}); };
  CHECK(named(drawn(), "selected"));
  CHECK(drawn().figure.series[0].style.opacity < 0.6);
  view.set_text_filter("topk");  // run 3 is terngrad
  const TradeoffFigure hidden = drawn();
  CHECK_FALSE(named(hidden, "selected"));
  CHECK(hidden.figure.series[0].style.opacity > 0.6);
  for (const Series& series : hidden.figure.series) CHECK(series.kind != SeriesKind::kLine);
}

TEST_CASE("many numbers become ranges of as many runs", "[unit]") {
  const RunView view = view_of(samples::sample_runs(144));
  const RunClasses classes(view, Column::kStepTime, 8);
  REQUIRE(classes.names().size() == 5);
  std::vector<int> count(5);
  for (const RunSummary& run : view.all()) ++count[classes.of(run)];
  for (const int runs : count) CHECK(runs >= 28);
  const RunClasses workers(view, Column::kWorkers, 8);
  CHECK(workers.names() ==
        std::vector<std::string>{"workers 4", "workers 8", "workers 16", "workers 32"});
  CHECK(workers.of(view.all()[6]) == 1);
}

TEST_CASE("the hover card names what was varied, the axes first", "[unit]") {
  const RunView view = view_of(samples::sample_runs(144));
  const QStringList lines = run_card(view, view.all()[7], {Column::kStepTime}, {});
  CHECK(lines[2].startsWith("Step time: "));
  CHECK(lines.join("\n").contains("Bandwidth: 100 Mbps"));
  CHECK(lines.filter("Step time").size() == 1);
}

TEST_CASE("panels split the runs and keep a colour's meaning", "[unit]") {
  const RunView view = view_of(samples::sample_runs(144));
  const RunSelection nothing;
  const RunClasses panels(view, Column::kWorkers, 9);
  TradeoffOptions options;
  options.y = Column::kStepTime;
  options.panels = &panels;
  std::size_t drawn = 0;
  for (options.panel = 0; options.panel < panels.names().size(); ++options.panel) {
    const TradeoffFigure figure = tradeoff_figure(view, nothing, {}, options);
    drawn += figure.drawn;
    CHECK(figure.figure.series[0].name == "none");
    CHECK(figure.figure.title == panels.names()[options.panel]);
  }
  CHECK(drawn == 144);
}

TEST_CASE("a method has one colour in window and report", "[unit]") {
  RunView view;
  view.set_runs(make_run_set(samples::sample_runs(72)));
  std::vector<std::string> labels;
  for (const auto& run : view.all()) labels.push_back(run.header.method);
  const gradwire::results::MethodColors report(labels);
  const RunClasses window(view, Column::kMethod, kMethodColours);
  for (const auto& run : view.all()) {
    CHECK(window.number_of(window.of(run)) == report.of(run.header.method));
  }
  // Filtered, each keeps its own.
  view.set_text_filter("terngrad");
  const RunClasses filtered(view, Column::kMethod, kMethodColours);
  CHECK(filtered.number_of(filtered.of(view.at(0))) == report.of(view.at(0).header.method));
}
