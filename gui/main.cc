#include <QApplication>
#include <QCommandLineParser>
#include <QTextStream>
#include <QTimer>

#include "base/error.h"
#include "gui/main_window.h"

namespace {

using gradwire::gui::MainWindow;

constexpr int kScreenshotDelayMs = 1500;

/// For the documentation: shows a run's timeline or the chart, saves the window, and quits.
void take_screenshot(MainWindow* window, const QString& file) {
  QTimer::singleShot(kScreenshotDelayMs, window, [window, file] {
    const bool saved = window->grab().save(file);
    if (!saved) QTextStream(stderr) << "cannot save " << file << '\n';
    QCoreApplication::exit(saved ? 0 : 1);
  });
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QCoreApplication::setOrganizationName("gradwire");
  QCoreApplication::setApplicationName("gradwire-gui");
  QCoreApplication::setApplicationVersion(GRADWIRE_GUI_VERSION);
  QCommandLineParser parser;
  parser.setApplicationDescription(
      "Explore results of Gradwire and run scenarios.\n\n"
      "  gradwire-gui results.db\n"
      "  gradwire-gui results.db --scenario scenarios/lossy-terngrad.json");
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("DB", "results database (default: ./gradwire.db)", "[DB]");
  QCommandLineOption scenario("scenario", "scenario file for the run panel", "FILE");
  QCommandLineOption screenshot("screenshot", "save the window as a picture and quit", "FILE");
  QCommandLineOption runs("select", "select these runs (numbers, separated by commas)", "RUNS");
  QCommandLineOption tab("tab", "chart to show: 1 trade-off, 2 timeline", "N", "1");
  for (QCommandLineOption* option : {&screenshot, &runs, &tab}) {
    option->setFlags(QCommandLineOption::HiddenFromHelp);
  }
  parser.addOptions({scenario, screenshot, runs, tab});
  parser.process(application);
  if (parser.positionalArguments().size() > 1) {
    QTextStream(stderr) << "gradwire-gui: more than one database given\n";
    return gradwire::exit_code(gradwire::ErrorKind::kUsage);
  }

  gradwire::gui::WindowOptions options;
  if (!parser.positionalArguments().isEmpty()) options.database = parser.positionalArguments()[0];
  options.scenario = parser.value(scenario);
  options.remember = !parser.isSet(screenshot);
  MainWindow window(options, [](const std::string& path) {
    using gradwire::results::Store;
    return Store::open(path, Store::Mode::kReadOnly);
  });
  window.charts()->setCurrentIndex(parser.value(tab).toInt() - 1);
  const QStringList selected = parser.value(runs).split(',', Qt::SkipEmptyParts);
  QObject::connect(
      &window, &MainWindow::runs_shown, &window,
      [&window, selected] {
        std::vector<gradwire::results::RunId> ids;
        for (const QString& run : selected) ids.push_back(run.toLongLong());
        if (!ids.empty()) window.selection()->select(ids);
      },
      Qt::SingleShotConnection);
  window.show();
  if (parser.isSet(screenshot)) take_screenshot(&window, parser.value(screenshot));
  return QApplication::exec();
}
