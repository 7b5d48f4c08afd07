#include <QApplication>
#include <QHeaderView>
#include <QScrollBar>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"
#include "gui/views/command_palette.h"
#include "gui/views/export_view.h"

/// What the window promises about speed, colours, accessibility and numbers.
using namespace gradwire::gui;
using namespace gradwire;
using results::RunId;

namespace {

struct Window {
  explicit Window(int runs)
      : window({"memory.db", {}, false},
               [runs](const std::string&) { return samples::make_fake_store(runs); }) {
    QSignalSpy shown(&window, &MainWindow::runs_shown);
    window.resize(1280, 800);
    window.show();
    REQUIRE(shown.wait(60000));
    REQUIRE(QTest::qWaitForWindowActive(&window));
    QTest::qWait(20);
  }
  QTableView* table() { return window.table()->table(); }
  MainWindow window;
};

const results::Series* rings(MainWindow& window) {
  for (const results::Series& series : window.tradeoff()->chart()->figure().series) {
    if (series.name == "selected") return &series;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a run selected among 10,000 is selected in table and chart", "[gui]") {
  Window fixture(10000);
  fixture.window.selection()->select({1000});
  REQUIRE(QTest::qWaitFor([&] { return rings(fixture.window) != nullptr; }, 3000));
  CHECK(fixture.table()->selectionModel()->selectedRows().size() == 1);
  CHECK(rings(fixture.window)->x.size() == 1);
}

TEST_CASE("of 10,000 points the one under the pointer says what it is", "[gui]") {
  Window fixture(10000);
  FigureView* chart = fixture.window.tradeoff()->chart();
  const QImage before = chart->grab().toImage();
  const auto place = fixture.window.tradeoff()->position_of(5000);
  REQUIRE(place);
  QTest::mouseMove(chart, place->toPoint());
  CHECK(chart->grab().toImage() != before);
}

TEST_CASE("a figure of 100,000 points is a small file that names its scenario", "[gui]") {
  results::Figure figure;
  figure.scenario_hashes = {"0123456789abcdef"};
  results::Series line;
  for (int i = 0; i < 100000; ++i) {
    line.x.push_back(i);
    line.y.push_back(std::sin(i * 0.01) + 0.1 * std::sin(i * 1.7));
  }
  line.name = "a";
  figure.series.push_back(line);
  QTemporaryDir folder;
  const QString file = folder.filePath("line.svg");
  export_figure(figure, {}, {}, QApplication::font(), file);
  const std::string svg = read_file(file.toStdString());
  CHECK(svg.size() < 200'000);
  CHECK(svg.size() > 5'000);
  CHECK(svg.find("0123456789") != std::string::npos);
  // The whole window's figures name theirs.
  Window fixture(30);
  CHECK_FALSE(fixture.window.tradeoff()->chart()->figure().scenario_hashes.empty());
}

TEST_CASE("light and dark reach their contrasts in every palette role that is read", "[gui]") {
  Window fixture(30);
  const QPalette before = QApplication::palette();
  FigureView* chart = fixture.window.tradeoff()->chart();
  for (const ColourScheme scheme : {ColourScheme::kLight, ColourScheme::kDark}) {
    apply(scheme);
    QTest::qWait(20);
    const QPalette palette = fixture.window.palette();
    INFO(static_cast<int>(scheme));
    CHECK(contrast(palette.color(QPalette::Text), palette.color(QPalette::Base)) >= 4.5);
    CHECK(contrast(palette.color(QPalette::Text), palette.color(QPalette::AlternateBase)) >= 4.5);
    CHECK(contrast(palette.color(QPalette::WindowText), palette.color(QPalette::Window)) >= 4.5);
    CHECK(contrast(palette.color(QPalette::ButtonText), palette.color(QPalette::Button)) >= 4.5);
    CHECK(contrast(palette.color(QPalette::PlaceholderText), palette.color(QPalette::Base)) >= 4.5);
    CHECK(contrast(palette.color(QPalette::HighlightedText), palette.color(QPalette::Highlight)) >=
          4.5);
    CHECK(chart->grab().toImage().pixelColor(2, 2) == palette.color(QPalette::Base));
  }
  // The switch goes through light and dark back to the desktop's.
  apply(ColourScheme::kDesktop);
  QTest::keyClick(&fixture.window, Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(QApplication::palette().color(QPalette::Base) ==
        palette_of(ColourScheme::kLight).color(QPalette::Base));
  QTest::keyClick(&fixture.window, Qt::Key_K, Qt::ControlModifier | Qt::ShiftModifier);
  CHECK(QApplication::palette().color(QPalette::Base) ==
        palette_of(ColourScheme::kDark).color(QPalette::Base));
  QApplication::setPalette(before);
}

TEST_CASE("what can have the focus has a name, and series differ without colour", "[gui]") {
  Window fixture(144);
  for (int tab = 0; tab < fixture.window.charts()->count(); ++tab) {
    fixture.window.charts()->setCurrentIndex(tab);
    for (const QWidget* widget : fixture.window.findChildren<QWidget*>()) {
      if (!widget->isVisible() || !(widget->focusPolicy() & Qt::TabFocus)) continue;
      const bool text = !widget->property("text").toString().isEmpty();
      const bool inner = QString(widget->objectName()).startsWith("qt_") ||
                         qobject_cast<const QTabBar*>(widget) || widget->inherits("QTabWidget") ||
                         widget->inherits("QScrollArea");
      INFO(tab << " " << widget->metaObject()->className() << " "
               << widget->objectName().toStdString() << " in "
               << widget->parentWidget()->metaObject()->className());
      CHECK((text || inner || !widget->accessibleName().isEmpty()));
    }
  }
  std::set<results::Mark> marks;
  std::size_t series = 0;
  for (const results::Series& each : fixture.window.tradeoff()->chart()->figure().series) {
    if (each.kind != results::SeriesKind::kScatter || each.name == "selected") continue;
    marks.insert(each.style.mark);
    ++series;
  }
  CHECK(series == 6);
  CHECK(marks.size() == series);
}

TEST_CASE("axes and cells of quantities carry their unit", "[gui]") {
  Window fixture(60);
  TradeoffView* view = fixture.window.tradeoff();
  for (const char* title : {"Step time", "Simulated", "On the wire", "Accuracy", "Bandwidth"}) {
    REQUIRE(view->choose_x(title));
    QTest::qWait(10);
    CHECK(view->chart()->figure().x.quantity != results::Quantity::kPlain);
  }
  const RunView& runs = fixture.window.table()->view();
  for (int c = 0; c < runs.columns().count(); ++c) {
    const Column column = column_at(c);
    const Quantity quantity = runs.columns().quantity(column);
    if (quantity == Quantity::kText || quantity == Quantity::kIdentifier ||
        quantity == Quantity::kCount || quantity == Quantity::kPlain) {
      continue;
    }
    const QString text = runs.columns().shown_text(runs.at(0), column, {});
    INFO(runs.columns().title(column).toStdString() << ": " << text.toStdString());
    CHECK((text == QStringLiteral("–") || text.contains(' ')));
  }
}

TEST_CASE("a refresh leaves the view where it is", "[gui]") {
  Window fixture(1000);
  QScrollBar* bar = fixture.table()->verticalScrollBar();
  bar->setValue(400);
  fixture.window.selection()->select({580});
  const int at = bar->value();
  fixture.window.tradeoff()->chart()->zoom_in();
  const auto zoomed = fixture.window.tradeoff()->chart()->x_view();
  QSignalSpy shown(&fixture.window, &MainWindow::runs_shown);
  QTest::keyClick(&fixture.window, Qt::Key_F5);
  REQUIRE(shown.wait(5000));
  QTest::qWait(20);
  CHECK(bar->value() == at);
  CHECK(fixture.window.selection()->runs() == std::vector<RunId>{580});
  CHECK(fixture.window.tradeoff()->chart()->x_view().low == zoomed.low);
  CHECK(fixture.window.tradeoff()->chart()->x_view().high == zoomed.high);
}

TEST_CASE("commands are found by name and done by Return", "[gui]") {
  Window fixture(10);
  QTest::keyClick(&fixture.window, Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
  auto* palette = fixture.window.findChild<CommandPalette*>();
  REQUIRE(palette);
  CHECK_FALSE(palette->isModal());
  REQUIRE(palette->list()->count() > 30);
  QTest::keyClicks(palette->field(), "columns differ");
  int visible = 0;
  for (int row = 0; row < palette->list()->count(); ++row) {
    visible += !palette->list()->item(row)->isHidden();
  }
  CHECK(visible == 1);
  CHECK_FALSE(fixture.window.table()->only_differing());
  QTest::keyClick(palette->field(), Qt::Key_Return);
  CHECK(QTest::qWaitFor([&] { return fixture.window.table()->only_differing(); }, 2000));
}

TEST_CASE("the way from opening to a changed scenario needs no mouse", "[gui]") {
  Window fixture(60);
  const auto press = [&](const char* keys) {
    const QKeyCombination key = QKeySequence(keys)[0];
    QWidget* at = fixture.window.focusWidget() ? fixture.window.focusWidget() : &fixture.window;
    QTest::keyClick(at, key.key(), key.keyboardModifiers());
  };
  const auto type = [&](const char* text) { QTest::keyClicks(fixture.window.focusWidget(), text); };
  press("Ctrl+F");
  type("method=terngrad and bandwidth>=1Gbps");
  press("Return");
  const RunView& view = fixture.window.table()->view();
  CHECK(view.rows() > 0);
  CHECK(view.rows() < 60);
  press("Ctrl+4");
  press("Down");
  press("Home");
  CHECK(fixture.window.selection()->runs().size() == 1);
  press("B");
  CHECK(view.baseline() != nullptr);
  press("Ctrl+1");
  CHECK(fixture.window.focusWidget() == fixture.window.tradeoff()->chart());
  press("+");
  CHECK(fixture.window.tradeoff()->chart()->zoomed());
  press("Home");
  CHECK_FALSE(fixture.window.tradeoff()->chart()->zoomed());
  press("Ctrl+8");
  CHECK(fixture.window.focusWidget() == fixture.window.editor()->text());
  press("Ctrl+9");
  CHECK(fixture.window.focusWidget() == fixture.window.editor()->form()->search());
  press("Ctrl+7");
  CHECK(fixture.window.focusWidget() == fixture.window.scaling()->chart());
  press("Ctrl+Alt+1");
  CHECK(fixture.window.focusWidget() == fixture.window.topology()->map());
  press("Ctrl+Shift+A");
  CHECK(fixture.window.charts()->currentWidget() == fixture.window.tradeoff());
}

TEST_CASE("exports have the size, the letters and the pixels that are asked for", "[gui]") {
  Window fixture(30);
  QTemporaryDir folder;
  fixture.window.set_export_options({100, 60, 12, 3});
  for (const char* name : {"a.svg", "a.png"}) fixture.window.export_chart(folder.filePath(name));
  // 100 mm are 378 pixels of 1/96 inch, 60 mm 227; 12 pt are 16 of them.
  CHECK(QImage(folder.filePath("a.png")).size() == QSize(3 * 378, 3 * 227));
  const QString svg = QString::fromStdString(read_file(folder.filePath("a.svg").toStdString()));
  CHECK(svg.contains("width=\"378\""));
  fixture.window.charts()->setCurrentWidget(fixture.window.topology());
  fixture.window.export_chart(folder.filePath("n.png"));
  CHECK(QImage(folder.filePath("n.png")).size() == QSize(3 * 378, 3 * 227));
  CHECK(svg.contains("16"));
}

TEST_CASE("rows are as high as the font asks", "[gui]") {
  Window fixture(30);
  const QFontMetrics metrics(fixture.table()->font());
  CHECK(fixture.table()->verticalHeader()->defaultSectionSize() == metrics.height() * 3 / 2);
}

TEST_CASE("a hundred thousand runs are shown, filtered, sorted and drawn", "[gui]") {
  Window fixture(100000);
  RunTable* table = fixture.window.table();
  table->filter_field()->setText("bandwidth>=1Gbps and workers>=16");
  table->apply_filter();
  // Two bandwidths of three, two sizes of four.
  CHECK(table->view().rows() > 100000 / 3 - 1000);
  CHECK(table->view().rows() < 100000 / 3 + 1000);
  table->table()->sortByColumn(static_cast<int>(Column::kStepTime), Qt::AscendingOrder);
  CHECK(*table->view().at(0).step_time_s <= *table->view().at(1000).step_time_s);
  QTest::qWait(20);
  std::size_t drawn = 0;
  for (const results::Series& series : fixture.window.tradeoff()->chart()->figure().series) {
    if (series.kind == results::SeriesKind::kScatter) drawn += series.x.size();
  }
  // Those that failed have no accuracy, one in 97.
  CHECK(drawn > 32900);
  CHECK(drawn <= static_cast<std::size_t>(table->view().rows()));
}
