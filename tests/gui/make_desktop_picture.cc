#include <QApplication>
#include <QCheckBox>
#include <QCommandLineParser>
#include <QStyleFactory>
#include <QTest>
#include <QTextStream>

#include "gui/main_window.h"
#include "results/store.h"

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
      scenario("scenario", "scenario file", "FILE"), hover("hover", "pointer over run", "RUN");
  parser.addOptions(
      {dark, timeline, logarithmic, start, differing, select, baseline, filter, scenario, hover});
  parser.process(application);
  if (parser.positionalArguments().size() != 2) return 2;
  if (parser.isSet(dark)) QApplication::setPalette(dark_palette());
  gradwire::gui::MainWindow window({parser.positionalArguments()[0], parser.value(scenario), false},
                                   [](const std::string& path) {
                                     return gradwire::results::Store::open(
                                         path, gradwire::results::Store::Mode::kReadOnly);
                                   });
  window.resize(1440, 900);
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
  window.charts()->setCurrentIndex(parser.isSet(timeline) ? 1 : 0);
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
