#include <QApplication>
#include <QClipboard>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>
#include <set>

#include "gui/charts/figure_table.h"
#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"
#include "gui/views/chart_table.h"
#include "gui/views/command_palette.h"

/// Every chart as a table, and the columns of the run table by name.
using namespace gradwire::gui;
using namespace gradwire;

namespace {

struct Loaded {
  Loaded()
      : window({"memory.db", {}, false},
               [](const std::string&) { return samples::make_fake_store(60); }) {
    QSignalSpy shown(&window, &MainWindow::runs_shown);
    window.resize(1280, 800);
    window.show();
    REQUIRE(shown.wait(5000));
    REQUIRE(QTest::qWaitForWindowActive(&window));
    QTest::qWait(30);
  }
  MainWindow window;
};

}  // namespace

TEST_CASE("a figure's table has a row a point, with units, and the ranges", "[unit]") {
  results::Figure figure;
  figure.title = "Step time";
  figure.x = {"bandwidth", results::Quantity::kBitRate};
  figure.y = {"time of a step", results::Quantity::kSeconds};
  results::Series measured{results::SeriesKind::kIntervals, "topk", {1e9}, {0.25}, {0.2}, {0.3}};
  results::Series line{results::SeriesKind::kLine, "model", {1e9, 1e10}, {0.25, 0.1}};
  figure.series = {measured, line};
  const DataTable table = figure_table(
      figure, [](std::size_t s, std::size_t i) { return QString("%1/%2").arg(s).arg(i); });
  CHECK(table.header ==
        QStringList{"Point", "Series", "Bandwidth", "Time of a step", "From", "To"});
  REQUIRE(table.rows.size() == 3);
  CHECK(table.rows[0] == QStringList{"0/0", "topk", "1.00 Gbps", "250 ms", "200 ms", "300 ms"});
  CHECK(table.rows[2] == QStringList{"1/1", "model", "10.0 Gbps", "100 ms", "", ""});
  // A category is named, not numbered.
  figure.x.categories = {"none", "topk"};
  figure.series = {results::Series{results::SeriesKind::kScatter, "a", {1}, {0.5}}};
  CHECK(figure_table(figure).rows[0][1] == "topk");
  // What is too long for a table says so.
  figure.series[0].x.assign(kMostTableRows + 5, 0);
  figure.series[0].y.assign(kMostTableRows + 5, 0);
  CHECK(figure_table(figure).rows.size() == kMostTableRows);
  CHECK(figure_table(figure).title.contains("of which the first"));
}

TEST_CASE("one key shows every chart as a table that names what it holds", "[gui]") {
  Loaded fixture;
  MainWindow& window = fixture.window;
  window.selection()->select({2, 8}, 2);
  REQUIRE(QTest::qWaitFor([&] { return !window.timeline()->rows().rows.empty(); }, 3000));
  int charts = 0;
  for (int tab = 0; tab < window.charts()->count(); ++tab) {
    window.charts()->setCurrentIndex(tab);
    QTest::qWait(50);
    if (window.charts()->currentWidget() == window.scaling()) {
      REQUIRE(QTest::qWaitFor([&] { return window.scaling()->answer() != nullptr; }, 10000));
    }
    const DataTable table = window.chart_as_table();
    if (table.header.isEmpty()) continue;
    ++charts;
    INFO(window.charts()->tabText(tab).toStdString());
    CHECK(table.header.size() >= 2);
    for (const QStringList& row : table.rows) CHECK(row.size() == table.header.size());
  }
  // Trade-off, timeline, scaling, parallel; a made-up run has no network to draw.
  CHECK(charts >= 4);
  window.charts()->setCurrentWidget(window.tradeoff());
  QTest::keyClick(&window, Qt::Key_T, Qt::ControlModifier);
  auto* twin = window.findChild<ChartTable*>();
  REQUIRE(twin);
  CHECK_FALSE(twin->isModal());
  const DataTable& shown = twin->table()->shown();
  // 59 runs did not fail; curves and fronts have points of their own.
  std::set<QString> runs;
  for (const QStringList& row : shown.rows) {
    if (row[0].startsWith("Run ")) runs.insert(row[0].section(' ', 0, 1));
  }
  CHECK(runs.size() == 59);
  CHECK_FALSE(twin->table()->accessibleName().isEmpty());
  CHECK(twin->table()->accessibleDescription().contains("points"));
  CHECK(twin->table()->copied_text().count('\n') == int(shown.rows.size()) + 1);
  QTest::keyClick(twin, Qt::Key_Escape);
}

TEST_CASE("plots describe themselves and say where their table is", "[gui]") {
  Loaded fixture;
  for (QWidget* plot : std::initializer_list<QWidget*>{
           fixture.window.tradeoff()->chart(), fixture.window.timeline(),
           fixture.window.scaling()->chart(), fixture.window.parallel(),
           fixture.window.topology()->map()}) {
    CHECK_FALSE(plot->accessibleName().isEmpty());
    CHECK_FALSE(plot->accessibleDescription().isEmpty());
  }
  CHECK(fixture.window.tradeoff()->chart()->accessibleDescription().contains("Ctrl+T"));
}

TEST_CASE("a column is found by a few letters, and shown where it was hidden", "[gui]") {
  Loaded fixture;
  RunTable* table = fixture.window.table();
  table->set_only_differing(true);
  const int model = static_cast<int>(Column::kModel);
  REQUIRE(table->table()->isColumnHidden(model));
  QTest::keyClick(&fixture.window, Qt::Key_G, Qt::ControlModifier | Qt::ShiftModifier);
  auto* palette = fixture.window.findChild<CommandPalette*>();
  REQUIRE(palette);
  QTest::keyClicks(palette->field(), "model hidd");
  QTest::keyClick(palette->field(), Qt::Key_Return);
  CHECK(QTest::qWaitFor([&] { return !table->table()->isColumnHidden(model); }, 2000));
  CHECK(table->table()->currentIndex().column() == model);
  // By the name that filters use as well.
  bool named = false;
  for (const PaletteEntry& entry : table->column_entries()) {
    named = named || entry.text.contains("/network/link/bandwidth");
  }
  CHECK(named);
}
