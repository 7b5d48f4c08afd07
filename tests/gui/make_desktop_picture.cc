#include <QApplication>
#include <QCheckBox>
#include <QCommandLineParser>
#include <QStyleFactory>
#include <QTest>
#include <QTextStream>

#include "gui/main_window.h"
#include "results/store/store.h"

using gradwire::gui::TradeoffView;

/// make_desktop_picture DB OUT.png [options]: pictures of the real window for the documentation.
namespace {

QPalette dark_palette() {
  QPalette palette;
  const QColor base(0x1b, 0x1e, 0x23), window(0x26, 0x2a, 0x30), ink(0xe2, 0xe4, 0xe8);
  palette.setColor(QPalette::Base, base);
  palette.setColor(QPalette::AlternateBase, QColor(0x20, 0x24, 0x2a));
  for (auto role : {QPalette::Window, QPalette::Button, QPalette::ToolTipBase}) {
    palette.setColor(role, window);
  }
  for (auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText,
                    QPalette::HighlightedText, QPalette::ToolTipText}) {
    palette.setColor(role, ink);
  }
  palette.setColor(QPalette::PlaceholderText, QColor(0x90, 0x95, 0x9d));
  palette.setColor(QPalette::Highlight, QColor(0x2f, 0x6f, 0xb0));
  for (auto role : {QPalette::Text, QPalette::WindowText, QPalette::ButtonText}) {
    palette.setColor(QPalette::Disabled, role, QColor(0x6c, 0x72, 0x7a));
  }
  return palette;
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QApplication::setStyle(QStyleFactory::create("Fusion"));
  QCommandLineParser parser;
  const QCommandLineOption dark("dark", "dark palette"), timeline("timeline", "second tab"),
      logarithmic("log", "logarithmic cost"), start("start", "start the scenario"),
      differing("differing", "only columns that differ"),
      select("select", "runs, separated by commas", "RUNS"),
      baseline("baseline", "baseline run", "RUN"), filter("filter", "filter text", "TEXT"),
      scenario("scenario", "scenario file", "FILE"), hover("hover", "pointer over run", "RUN"),
      x("x", "column on x", "TITLE"), y("y", "column on y", "TITLE"),
      colour("colour", "column of the colours", "TITLE"),
      panels("panels", "column of the panels", "TITLE"), tab("tab", "tab of the charts", "NUMBER"),
      keys("keys", "shortcuts to press, such as Ctrl+6", "KEYS"),
      type("type", "text for the field in front", "TEXT"), wide("size", "such as 1440x900", "SIZE");
  parser.addOptions({dark, timeline, logarithmic, start, differing, select, baseline, filter,
                     scenario, hover, x, y, colour, panels, tab, keys, type, wide});
  parser.process(application);
  if (parser.positionalArguments().size() != 2) return 2;
  if (parser.isSet(dark)) QApplication::setPalette(dark_palette());
  gradwire::gui::MainWindow window({parser.positionalArguments()[0], parser.value(scenario), false},
                                   [](const std::string& path) {
                                     return gradwire::results::Store::open(
                                         path, gradwire::results::Store::Mode::kReadOnly);
                                   });
  window.resize(1440, 900);
  if (parser.isSet(wide)) {
    window.resize(parser.value(wide).section('x', 0, 0).toInt(),
                  parser.value(wide).section('x', 1).toInt());
  }
  window.show();
  QTest::qWait(600);
  for (QCheckBox* box : window.tradeoff()->findChildren<QCheckBox*>()) {
    if (box->text() == "Logarithmic") box->setChecked(parser.isSet(logarithmic));
  }
  window.table()->set_only_differing(parser.isSet(differing));
  window.table()->filter_field()->setText(parser.value(filter));
  if (parser.isSet(start)) window.run_panel()->start();
  if (parser.isSet(baseline)) {
    window.selection()->select({parser.value(baseline).toLongLong()});
    window.table()->toggle_baseline();
  }
  std::vector<gradwire::results::RunId> runs;
  for (const QString& run : parser.value(select).split(',', Qt::SkipEmptyParts)) {
    runs.push_back(run.toLongLong());
  }
  window.selection()->select(runs);
  for (const auto& [option, choose] :
       {std::pair(&x, &TradeoffView::choose_x), std::pair(&y, &TradeoffView::choose_y),
        std::pair(&colour, &TradeoffView::choose_colour),
        std::pair(&panels, &TradeoffView::choose_panels)}) {
    if (parser.isSet(*option) && !(window.tradeoff()->*choose)(parser.value(*option))) return 2;
  }
  window.charts()->setCurrentIndex(parser.isSet(timeline) ? 1 : parser.value(tab).toInt());
  for (const QString& key : parser.values(keys)) {
    const QKeyCombination combination = QKeySequence(key)[0];
    QTest::keyClick(&window, combination.key(), combination.keyboardModifiers());
    QTest::qWait(50);
  }
  if (QWidget* field = window.focusWidget(); field && parser.isSet(type)) {
    QTest::keyClicks(field, parser.value(type));
  }
  QTest::qWait(800);
  if (parser.isSet(hover)) {
    const auto at = window.tradeoff()->position_of(parser.value(hover).toLongLong());
    if (at) QTest::mouseMove(window.tradeoff()->chart(), at->toPoint());
    QTest::qWait(100);
  }
  const bool saved = window.grab().save(parser.positionalArguments()[1]);
  window.run_panel()->cancel();
  return saved ? 0 : 1;
}
