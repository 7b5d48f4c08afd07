#include "gui/main_window.h"

#include <QApplication>
#include <QClipboard>
#include <QElapsedTimer>
#include <QHeaderView>
#include <QMenuBar>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "gui/samples/sample_runs.h"
#include "gui/views/key_sheet.h"

using namespace gradwire::gui;
using namespace gradwire::results;

namespace {

WindowOptions test_options(const QString& database = "memory.db") {
  WindowOptions options;
  options.database = database;
  options.remember = false;
  return options;
}

/// The real window over `runs` made-up runs, shown and loaded.
struct Fixture {
  explicit Fixture(int runs)
      : window(test_options(),
               [runs](const std::string&) { return samples::make_fake_store(runs); }) {
    QSignalSpy shown(&window, &MainWindow::runs_shown);
    window.resize(1280, 800);
    window.show();
    REQUIRE(shown.wait(5000));
    REQUIRE(QTest::qWaitForWindowActive(&window));
  }
  bool has_timeline() const {
    return QTest::qWaitFor([&] { return !window_timeline().rows().rows.empty(); }, 3000);
  }
  const TimelineView& window_timeline() const {
    return *const_cast<MainWindow&>(window).timeline();
  }
  QTableView* table() { return window.table()->table(); }
  RunId run_in_row(int row) { return window.table()->model()->run_at(row); }

  MainWindow window;
};

QPoint row_point(QTableView* table, int row) {
  return table->visualRect(table->model()->index(row, 1)).center();
}

}  // namespace

TEST_CASE("ten thousand runs sort, filter and scroll in the real window", "[gui]") {
  Fixture fixture(10000);
  QTableView* table = fixture.table();
  REQUIRE(table->model()->rowCount() == 10000);
  // The newest run first, until a header is clicked.
  CHECK(fixture.run_in_row(0) == 10000);
  QHeaderView* header = table->horizontalHeader();
  const int column = static_cast<int>(Column::kStepTime);
  table->scrollTo(table->model()->index(0, column));
  const QPoint at(header->sectionViewportPosition(column) + header->sectionSize(column) / 2,
                  header->height() / 2);
  QTest::mouseClick(header->viewport(), Qt::LeftButton, {}, at);
  REQUIRE(fixture.window.table()->view().sort_column() == Column::kStepTime);
  const RunView& view = fixture.window.table()->view();
  for (int row = 1; row < 10000; ++row) {
    const bool ascending = *view.at(row - 1).step_time_s <= *view.at(row).step_time_s;
    const bool descending = *view.at(row - 1).step_time_s >= *view.at(row).step_time_s;
    if (!(view.descending() ? descending : ascending)) FAIL("row " << row << " out of order");
  }
  // Typing filters after a pause, not per key.
  QLineEdit* filter = fixture.window.table()->filter_field();
  filter->setFocus();
  QTest::keyClicks(filter, "terngrad packet");
  CHECK(table->model()->rowCount() == 10000);
  CHECK(QTest::qWaitFor([&] { return table->model()->rowCount() < 10000; }, 2000));
  CHECK(view.at(0).header.method == "terngrad");
}

TEST_CASE("a wrong expression is explained and changes nothing", "[gui]") {
  Fixture fixture(100);
  QLineEdit* filter = fixture.window.table()->filter_field();
  filter->setText("traffic_ratio<0.1 and workers>=16");
  QTest::keyClick(filter, Qt::Key_Return);
  const int rows = fixture.table()->model()->rowCount();
  CHECK(rows < 100);
  CHECK(fixture.window.table()->filter_error().isEmpty());
  filter->setText("ratoi<0.1");
  QTest::keyClick(filter, Qt::Key_Return);
  CHECK(fixture.window.table()->filter_error().contains("ratio"));
  CHECK(fixture.table()->model()->rowCount() == rows);
}

TEST_CASE("table, chart and timeline share one selection", "[gui]") {
  Fixture fixture(60);
  // From the table: the timeline shows the run, the chart rings it.
  QTest::mouseClick(fixture.table()->viewport(), Qt::LeftButton, {}, row_point(fixture.table(), 3));
  const RunId clicked = fixture.run_in_row(3);
  CHECK(fixture.window.selection()->runs() == std::vector<RunId>{clicked});
  REQUIRE(fixture.has_timeline());
  CHECK(fixture.window.timeline()->rows().rows.size() ==
        3u * samples::sample_run(int(clicked - 1)).header.workers);
  // From the chart: the table's selected row follows.
  FigureView* chart = fixture.window.tradeoff()->chart();
  const RunId other = 26;
  const auto place = fixture.window.tradeoff()->position_of(other);
  REQUIRE(place);
  QTest::mouseClick(chart, Qt::LeftButton, {}, place->toPoint());
  const auto runs = fixture.window.selection()->runs();
  REQUIRE(runs.size() == 1);
  const auto hit = fixture.window.tradeoff()->position_of(runs[0]);
  CHECK((*hit - *place).manhattanLength() <= 10);
  const auto rows = fixture.table()->selectionModel()->selectedRows();
  REQUIRE(rows.size() == 1);
  CHECK(fixture.run_in_row(rows[0].row()) == runs[0]);
  // A sort moves rows, not the selection.
  fixture.table()->sortByColumn(static_cast<int>(Column::kAccuracy), Qt::AscendingOrder);
  CHECK(fixture.window.selection()->runs() == runs);
  CHECK(fixture.run_in_row(fixture.table()->selectionModel()->selectedRows()[0].row()) == runs[0]);
  // Escape clears it everywhere.
  fixture.window.selection()->clear();
  CHECK(fixture.table()->selectionModel()->selectedRows().isEmpty());
}

TEST_CASE("all runs can be selected and unselected at once", "[gui]") {
  Fixture fixture(10000);
  fixture.table()->selectAll();
  CHECK(fixture.window.selection()->runs().size() == 10000);
  QTest::qWait(10);
  CHECK(fixture.window.tradeoff()->note().contains("curves are drawn for up to"));
  fixture.window.selection()->clear();
  CHECK(fixture.table()->selectionModel()->selectedRows().isEmpty());
}

TEST_CASE("selected runs get their accuracy curves", "[gui]") {
  Fixture fixture(60);
  QTest::qWait(10);
  const auto lines = [&] {
    int count = 0;
    for (const Series& series : fixture.window.tradeoff()->chart()->figure().series) {
      if (series.kind == SeriesKind::kLine && series.x.size() == 20) ++count;
    }
    return count;
  };
  CHECK(lines() == 0);
  fixture.window.selection()->select({2, 3});
  CHECK(QTest::qWaitFor([&] { return lines() == 2; }, 3000));
}

TEST_CASE("the timeline zooms, hovers and steps through segments", "[gui]") {
  Fixture fixture(30);
  fixture.window.charts()->setCurrentIndex(1);
  fixture.window.selection()->select({2});
  REQUIRE(fixture.has_timeline());
  TimelineView* timeline = fixture.window.timeline();
  QTest::qWait(10);
  const double before = timeline->window().length_s;
  QTest::keyClick(timeline, Qt::Key_W);
  CHECK(timeline->window().length_s < before);
  const double start = timeline->window().start_s;
  QTest::keyClick(timeline, Qt::Key_D);
  CHECK(timeline->window().start_s > start);
  QTest::keyClick(timeline, Qt::Key_0);
  CHECK(timeline->window().length_s ==
        Approx((timeline->rows().end_s - timeline->rows().start_s) * 1.02));
  CHECK(timeline->overlap_text().contains("exposed"));
  // Click the first compute segment of worker 0 and step to its neighbour.
  timeline->fit_step();
  const TimelineRow& row = timeline->rows().rows[0];
  const int step_segments = int(row.segments.size()) / 12;
  // A forward pass, whatever waits stand between.
  const auto middle = *std::ranges::find_if(row.segments, [&](std::uint32_t i) {
    return timeline->tracks()[0]->segments[i].label == "forward";
  });
  CHECK(step_segments >= 4);
  const QStringList lines = timeline->hover_lines({middle, 0});
  CHECK(lines[0].startsWith("forward"));
  CHECK(lines.join("\n").contains("duration"));
  const double x =
      timeline->window().x_of(timeline->window().start_s + timeline->window().length_s * 0.06);
  QTest::mouseClick(timeline->viewport(), Qt::LeftButton, {},
                    QPoint(timeline->gutter_width() + int(x), timeline->row_middle(0)));
  REQUIRE(timeline->chosen());
  const auto chosen = *timeline->chosen();
  QTest::keyClick(timeline, Qt::Key_Period);
  CHECK(*timeline->chosen() != chosen);
  QTest::keyClick(timeline, Qt::Key_Comma);
  CHECK(*timeline->chosen() == chosen);
}

TEST_CASE("baseline, pins and full-precision copies", "[gui]") {
  Fixture fixture(60);
  fixture.window.selection()->select({5});
  fixture.table()->setFocus();
  QTest::keyClick(&fixture.window, Qt::Key_B);
  CHECK(fixture.run_in_row(0) == 5);
  const QModelIndex cell = fixture.table()->model()->index(1, int(Column::kStepTime));
  CHECK(cell.data(RunTableModel::kDeltaRole).toString().contains("%"));
  fixture.window.selection()->select({7, 9});
  QTest::keyClick(&fixture.window, Qt::Key_P);
  CHECK(fixture.run_in_row(1) == 7);
  CHECK(fixture.run_in_row(2) == 9);
  QTest::keyClick(&fixture.window, Qt::Key_C, Qt::ControlModifier);
  const QStringList lines = QApplication::clipboard()->text().split('\n', Qt::SkipEmptyParts);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].startsWith("id\tscenario_name"));
  const auto& run = fixture.window.table()->view().at(1);
  const auto column = lines[0].split('\t').indexOf("step_time_s");
  REQUIRE(column > 0);
  CHECK(lines[1].split('\t')[column].toDouble() == *run.step_time_s);
  // A swept field is copied in base units under its pointer, so that it can be asked for again.
  const auto rate = lines[0].split('\t').indexOf("/network/link/bandwidth");
  REQUIRE(rate > 0);
  CHECK(lines[1].split('\t')[rate].toDouble() == 1e8);
}

TEST_CASE("only differing columns, and letters typed into the filter stay there", "[gui]") {
  Fixture fixture(24);
  fixture.window.table()->set_only_differing(true);
  CHECK(fixture.table()->isColumnHidden(int(Column::kModel)));
  CHECK_FALSE(fixture.table()->isColumnHidden(int(Column::kMethod)));
  QLineEdit* filter = fixture.window.table()->filter_field();
  filter->setFocus();
  QTest::keyClicks(filter, "bp");
  CHECK(filter->text() == "bp");
  CHECK(fixture.window.table()->view().baseline() == nullptr);
}

TEST_CASE("database errors stand in the window, not in a dialog", "[gui]") {
  QTemporaryDir folder;
  const auto opener = [](const std::string& path) {
    return Store::open(path, Store::Mode::kReadOnly);
  };
  MainWindow window(test_options(folder.filePath("missing.db")), opener);
  window.show();
  CHECK(QTest::qWaitFor([&] { return !window.error_text().isEmpty(); }, 3000));
  CHECK(window.error_text().contains("missing.db"));
  QFile damaged(folder.filePath("damaged.db"));
  REQUIRE(damaged.open(QIODevice::WriteOnly));
  damaged.write("this is no database at all, however long one looks at it");
  damaged.close();
  window.open_database(damaged.fileName());
  CHECK(QTest::qWaitFor([&] { return window.error_text().contains("damaged.db"); }, 3000));
  CHECK(QApplication::activeModalWidget() == nullptr);
  // Once the file is there, "Try again" reads it.
  samples::write_sample_database(folder.filePath("missing.db").toStdString(), 3);
  QSignalSpy shown(&window, &MainWindow::runs_shown);
  window.open_database(folder.filePath("missing.db"));
  REQUIRE(shown.wait(5000));
  CHECK(window.error_text().isEmpty());
  CHECK(window.table()->view().rows() == 3);
}

TEST_CASE("new runs are announced and appear only on refresh", "[gui]") {
  QTemporaryDir folder;
  const std::string path = folder.filePath("runs.db").toStdString();
  samples::write_sample_database(path, 4);
  MainWindow window(test_options(QString::fromStdString(path)), [](const std::string& file) {
    return Store::open(file, Store::Mode::kReadOnly);
  });
  QSignalSpy shown(&window, &MainWindow::runs_shown);
  window.show();
  REQUIRE(shown.wait(5000));
  window.selection()->select({2});
  CHECK(window.note_text().isEmpty());
  samples::write_sample_database(path, 2);
  CHECK(QTest::qWaitFor([&] { return window.note_text().contains("new results"); }, 4000));
  CHECK(window.table()->view().rows() == 4);
  QTest::keyClick(&window, Qt::Key_F5);
  CHECK(QTest::qWaitFor([&] { return window.table()->view().rows() == 6; }, 3000));
  CHECK(window.note_text().isEmpty());
  CHECK(window.selection()->runs() == std::vector<RunId>{2});
}

TEST_CASE("every action has a shortcut and the key sheet lists it", "[gui]") {
  Fixture fixture(3);
  QStringList keys;
  int without = 0;
  for (const QAction* menu : fixture.window.menuBar()->actions()) {
    for (const QAction* action : menu->menu()->actions()) {
      if (action->isSeparator() || action->menu()) continue;
      if (action->shortcuts().isEmpty()) {
        CHECK(action->text().contains("About"));
        ++without;
      }
      for (const QKeySequence& key : action->shortcuts()) {
        CHECK_FALSE(keys.contains(key.toString()));
        keys << key.toString();
      }
    }
  }
  CHECK(without == 1);
  CHECK(keys.size() > 20);
  for (QWidget* widget : std::initializer_list<QWidget*>{
           fixture.window.timeline(), fixture.window.tradeoff()->chart(), fixture.table(),
           fixture.window.table()->filter_field()}) {
    CHECK_FALSE(widget->accessibleName().isEmpty());
  }
  QTest::keyClick(&fixture.window, Qt::Key_Question);
  auto* sheet = fixture.window.findChild<KeySheet*>();
  REQUIRE(sheet);
  CHECK_FALSE(sheet->isModal());
}

TEST_CASE("charts are painted in light and dark without fixed colours", "[gui]") {
  Fixture fixture(30);
  FigureView* chart = fixture.window.tradeoff()->chart();
  const QPalette light = QApplication::palette();
  const QColor light_corner = chart->grab().toImage().pixelColor(2, 2);
  CHECK(light_corner == light.color(QPalette::Base));
  QPalette dark = light;
  for (const auto& [role, value] : {std::pair(QPalette::Base, 0x1e),
                                    {QPalette::Window, 0x2a},
                                    {QPalette::Text, 0xdd},
                                    {QPalette::WindowText, 0xdd}}) {
    dark.setColor(role, QColor(value, value, value));
  }
  QApplication::setPalette(dark);
  QTest::qWait(10);
  CHECK(chart->grab().toImage().pixelColor(2, 2) == dark.color(QPalette::Base));
  fixture.window.charts()->setCurrentIndex(1);
  CHECK(fixture.window.timeline()->viewport()->grab().toImage().pixelColor(2, 2) ==
        dark.color(QPalette::Base));
  QApplication::setPalette(light);
}

TEST_CASE("charts and runs are exported in every format", "[gui]") {
  Fixture fixture(60);
  QTemporaryDir folder;
  fixture.window.selection()->select({2, 3});
  REQUIRE(fixture.has_timeline());
  QTest::qWait(20);
  const auto contents = [&](const char* name) {
    QFile file(folder.filePath(name));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
  };
  for (const char* name : {"a.svg", "a.pdf", "a.png", "a.csv"}) {
    fixture.window.export_chart(folder.filePath(name));
  }
  CHECK(contents("a.svg").contains("terngrad"));
  CHECK(contents("a.pdf").startsWith("%PDF"));
  CHECK(QImage(folder.filePath("a.png")).width() == 1520);
  // A header and at least one line a run with both figures (one of 60 failed).
  CHECK(contents("a.csv").count('\n') > 59);
  fixture.window.charts()->setCurrentIndex(1);
  fixture.window.timeline()->reset_zoom();
  for (const char* name : {"t.pdf", "t.png", "t.csv"}) {
    fixture.window.export_chart(folder.filePath(name));
  }
  CHECK(contents("t.pdf").startsWith("%PDF"));
  CHECK_FALSE(QImage(folder.filePath("t.png")).isNull());
  // Of both selected runs, one above the other.
  const auto segments = samples::sample_timeline(samples::sample_run(1), 12).size() +
                        samples::sample_timeline(samples::sample_run(2), 12).size();
  CHECK(std::size_t(contents("t.csv").count('\n')) == segments + 1);
  fixture.window.export_runs(folder.filePath("runs.csv"));
  CHECK(contents("runs.csv").count('\n') == 61);
  CHECK(fixture.window.error_text().isEmpty());
  fixture.window.export_chart("/nowhere/at/all.csv");
  CHECK(fixture.window.error_text().contains("/nowhere/at/all.csv"));
}

TEST_CASE("seeds are grouped with mean, spread and n; a group selects its runs", "[gui]") {
  Fixture fixture(720);
  fixture.window.charts()->setCurrentWidget(fixture.window.groups());
  const QAbstractItemModel* model = fixture.window.groups()->table()->model();
  REQUIRE(QTest::qWaitFor([&] { return model->rowCount() > 1; }, 5000));
  int members = 0;
  for (int row = 0; row < model->rowCount(); ++row) {
    members += model->index(row, 1).data().toString().section(' ', 0, 0).toInt();
  }
  CHECK(members <= 720);
  fixture.window.groups()->table()->selectRow(0);
  const int n = model->index(0, 1).data().toString().section(' ', 0, 0).toInt();
  CHECK(int(fixture.window.selection()->runs().size()) == n);
  CHECK(model->index(0, 2).data().toString().contains("%"));
}

TEST_CASE("panels split the chart, share their axes, and are exported each", "[gui]") {
  Fixture fixture(144);
  TradeoffView* view = fixture.window.tradeoff();
  REQUIRE(view->choose_y("Step time"));
  REQUIRE(view->choose_x("Bandwidth"));
  REQUIRE(view->choose_colour("Method"));
  REQUIRE(view->choose_panels("Workers"));
  CHECK_FALSE(view->choose_x("No such column"));
  REQUIRE(QTest::qWaitFor([&] { return view->panels() == 4; }, 2000));
  QTest::qWait(20);
  CHECK(view->panel(0)->figure().y.low == view->panel(3)->figure().y.low);
  CHECK(view->panel(0)->figure().y.high == view->panel(3)->figure().y.high);
  // Run 9 has 8 workers: the second panel. A click there selects it, or one in the same place.
  const auto place = view->position_of(9);
  REQUIRE(place);
  QTest::mouseClick(view->panel(1), Qt::LeftButton, {}, place->toPoint());
  REQUIRE(fixture.window.selection()->runs().size() == 1);
  CHECK(samples::sample_run(int(fixture.window.selection()->runs()[0] - 1)).header.workers == 8);
  QTemporaryDir folder;
  fixture.window.export_chart(folder.filePath("p.csv"));
  for (int i = 1; i <= 4; ++i) CHECK(QFile::exists(folder.filePath(QString("p-%1.csv").arg(i))));
  REQUIRE(view->choose_panels(""));
  CHECK(QTest::qWaitFor([&] { return view->panels() == 1; }, 2000));
}

TEST_CASE("a filter that leaves nothing says why in the window", "[gui]") {
  Fixture fixture(100);
  QLineEdit* filter = fixture.window.table()->filter_field();
  filter->setText("Method = terngrd");
  QTest::keyClick(filter, Qt::Key_Return);
  CHECK(fixture.table()->model()->rowCount() == 0);
  CHECK(fixture.window.table()->filter_hint().contains("Did you mean \"terngrad\"?"));
  filter->setText("Method = terngrad");
  QTest::keyClick(filter, Qt::Key_Return);
  CHECK(fixture.table()->model()->rowCount() > 0);
  CHECK(fixture.window.table()->filter_hint().isEmpty());
}

TEST_CASE("a scenario is opened, edited, and copied from what if, in the window", "[gui]") {
  Fixture fixture(10);
  QTemporaryDir folder;
  const QString path = folder.filePath("mine.json");
  QFile file(path);
  REQUIRE(file.open(QIODevice::WriteOnly));
  file.write(R"({"schema_version":1,"name":"mine","workload":{"profile":"alexnet","steps":3},
    "cluster":{"workers":8,"device":"reference-cpu"},"executor":"flow","method":{"name":"topk"},
    "network":{"topology":"star","link":{"bandwidth":"1Gbps","delay":"50us"}}})");
  file.close();
  fixture.window.open_scenario(path);
  ScenarioEditor* editor = fixture.window.editor();
  CHECK(editor->path() == path);
  REQUIRE(QTest::qWaitFor([&] { return editor->state().contains("1 run, 0 stored"); }, 3000));
  // Nothing is selected: what if asks about the scenario.
  WhatIfPanel* what_if = fixture.window.what_if();
  REQUIRE(QTest::qWaitFor([&] { return !what_if->verdict().isEmpty(); }, 3000));
  QTest::keyClick(&fixture.window, Qt::Key_6, Qt::ControlModifier);
  CHECK(fixture.window.focusWidget() == what_if->field(Knob::kBandwidth));
  what_if->field(Knob::kBandwidth)->setText("10Gbps");
  QTest::keyClick(&fixture.window, Qt::Key_C, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(editor->path() == folder.filePath("mine-what-if.json"));
  CHECK(editor->text()->toPlainText().contains("10Gbps"));
  CHECK(editor->modified());
  CHECK(fixture.window.charts()->currentWidget() == editor);
  REQUIRE(QTest::qWaitFor([&] { return editor->state().contains("1 run, 0 stored"); }, 3000));
  // Closing asks once, without a dialog; closing again leaves the edits.
  CHECK_FALSE(fixture.window.close());
  CHECK(fixture.window.note_text().contains("not saved"));
  CHECK(QApplication::activeModalWidget() == nullptr);
  CHECK(fixture.window.close());
}
