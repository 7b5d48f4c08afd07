#include "gui/scaling/scaling_view.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "gui/main_window.h"
#include "tests/results/scalability/scale_runs.h"

using namespace gradwire::gui;
using namespace gradwire::results;

namespace {

/// none and topk on 2, 4 and 8 workers, three seeds that vary by a few per cent.
std::vector<RunId> add_runs(Store& store) {
  std::vector<RunId> runs;
  for (const char* method : {"none", "topk"}) {
    const double megabytes = method == std::string("none") ? 10 : 2;
    for (const int workers : {2, 4, 8}) {
      const double usual = step_time(scale_step(workers, megabytes), usual_constants()).total_s;
      for (const std::uint64_t seed : {1, 2, 3}) {
        ScaleRun run;
        run.method = method;
        run.workers = workers;
        run.seed = seed;
        run.megabytes = megabytes;
        run.seconds = usual * (0.97 + 0.03 * double(seed - 1));
        runs.push_back(add_scale_run(store, run));
      }
    }
  }
  return runs;
}

int count(const Figure& figure, SeriesKind kind, Dash dash) {
  int found = 0;
  for (const Series& series : figure.series) {
    found += series.kind == kind && series.style.dash == dash && !series.x.empty();
  }
  return found;
}

const Series* named(const Figure& figure, const std::string& name) {
  for (const Series& series : figure.series) {
    if (series.name == name) return &series;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("scaling curves show runs with intervals, model, band, ideal and what is extrapolated",
          "[unit]") {
  const auto store = Store::in_memory();
  const auto runs = add_runs(*store);
  const ScalingAnswer answer = scaling_of(*store, {runs, 0});
  INFO(answer.problem.toStdString());
  REQUIRE(answer.all);
  const Figure figure = scaling_figure(answer, ScalingKind::kThroughput);
  CHECK(figure.x.scale == Scale::kLog2);
  const Series* dense = named(figure, "none");
  REQUIRE(dense);
  CHECK(dense->kind == SeriesKind::kIntervals);
  REQUIRE(dense->x == std::vector<double>{2, 4, 8});
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(dense->low[i] < dense->y[i]);
    CHECK(dense->high[i] > dense->y[i]);
  }
  // Two curves, each solid among the runs and dashed beyond them, with a band each.
  CHECK(count(figure, SeriesKind::kLine, Dash::kSolid) == 2);
  CHECK(count(figure, SeriesKind::kLine, Dash::kDashed) == 2);
  CHECK(count(figure, SeriesKind::kLine, Dash::kDashDot) == 1);
  for (const Series& series : figure.series) {
    if (series.kind != SeriesKind::kLine || series.x.empty()) continue;
    if (series.style.dash == Dash::kSolid) CHECK(series.x.back() <= 8);
    if (series.style.dash == Dash::kDashed) CHECK(series.x.front() >= 8);
    if (series.style.dash == Dash::kDashed) CHECK(series.x.back() == 64);
  }
  // The legend says what they are.
  for (const char* entry : {"model", "extrapolated", "90 % band", "ideal"}) {
    CHECK(named(figure, entry));
  }
  CHECK(figure.subtitle.find("90 % interval") != std::string::npos);
  const auto strip = residual_strip(answer);
  REQUIRE(strip);
  CHECK(strip->x.low == figure.x.low);
  CHECK(strip->x.high == figure.x.high);
  REQUIRE(named(*strip, "none"));
  for (const double error : named(*strip, "none")->y) CHECK(std::abs(error) < 0.05);
  // A point is its runs.
  const std::size_t series = static_cast<std::size_t>(dense - figure.series.data());
  const auto place = place_of(answer, figure, series, 1);
  REQUIRE(place);
  CHECK(runs_at(answer, *place) == std::vector<RunId>{runs[3], runs[4], runs[5]});
  const QString card = scaling_card(answer, *place).join("\n");
  CHECK(card.contains("4 workers · 3 runs, simulated"));
  CHECK(card.contains("90 % interval over seeds"));
  CHECK(card.contains("Model: "));
}

TEST_CASE("runs of several workloads are no scaling curve: the question says so", "[unit]") {
  const auto store = Store::in_memory();
  auto runs = add_runs(*store);
  ScaleRun other;
  other.model = "resnet50";
  runs.push_back(add_scale_run(*store, other));
  CHECK(scaling_of(*store, {runs, 0}).problem.contains("several workloads"));
  RunView view;
  view.set_runs(make_run_set(store->runs()));
  const auto workloads = shown_workloads(view);
  REQUIRE(workloads.size() == 2);
  CHECK(workloads[0].workload == "lenet5");
  CHECK(workloads[0].runs.size() == 18);
  CHECK(workloads[1].runs.size() == 1);
}

TEST_CASE("the scaling tab fits what the table shows, and a click selects the runs", "[gui]") {
  QTemporaryDir folder;
  const QString path = folder.filePath("scale.db");
  const auto runs = add_runs(*Store::open(path.toStdString(), Store::Mode::kReadWrite));
  WindowOptions options;
  options.database = path;
  options.remember = false;
  MainWindow window(
      options, [](const std::string& file) { return Store::open(file, Store::Mode::kReadOnly); });
  QSignalSpy shown(&window, &MainWindow::runs_shown);
  window.resize(1280, 900);
  window.show();
  REQUIRE(shown.wait(5000));
  ScalingView* scaling = window.scaling();
  QSignalSpy answered(scaling, &ScalingView::answered);
  window.charts()->setCurrentWidget(scaling);
  REQUIRE(answered.wait(10000));
  INFO(scaling->note().toStdString());
  REQUIRE(scaling->answer()->all);
  CHECK(scaling->answer()->all->data.series.size() == 2);
  // A method has one colour in all charts.
  const auto colour_in = [](const Figure& figure, const char* name) {
    REQUIRE(named(figure, name));
    return named(figure, name)->style.color.series;
  };
  for (const char* method : {"none", "topk"}) {
    CHECK(colour_in(scaling->chart()->figure(), method) ==
          colour_in(window.tradeoff()->chart()->figure(), method));
  }
  QTest::qWait(20);
  const Figure& figure = scaling->chart()->figure();
  const auto series = static_cast<std::size_t>(named(figure, "topk") - figure.series.data());
  const QPointF at = scaling->chart()->position_of({series, 2});
  QTest::mouseClick(scaling->chart(), Qt::LeftButton, {}, at.toPoint());
  CHECK(window.selection()->runs() == std::vector<RunId>{runs[15], runs[16], runs[17]});
  // The table's filter is the chart's.
  window.table()->filter_field()->setText("method=topk");
  QTest::keyClick(window.table()->filter_field(), Qt::Key_Return);
  REQUIRE(answered.wait(10000));
  CHECK(scaling->answer()->all->data.series.size() == 1);
  scaling->kind()->setCurrentIndex(1);
  CHECK(scaling->chart()->figure().title == "Scaling efficiency");
  window.export_chart(folder.filePath("s.svg"));
  CHECK(QFile::exists(folder.filePath("s-1.svg")));
  CHECK(QFile::exists(folder.filePath("s-2.svg")));
}
