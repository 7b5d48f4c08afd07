#include <QApplication>
#include <QCommandLineParser>
#include <QTextStream>

#include "base/error.h"
#include "gui/main_window.h"

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
  const QCommandLineOption scenario("scenario", "scenario file for the run panel", "FILE");
  parser.addOption(scenario);
  parser.process(application);
  if (parser.positionalArguments().size() > 1) {
    QTextStream(stderr) << "gradwire-gui: more than one database given\n";
    return gradwire::exit_code(gradwire::ErrorKind::kUsage);
  }

  gradwire::gui::WindowOptions options;
  if (!parser.positionalArguments().isEmpty()) options.database = parser.positionalArguments()[0];
  options.scenario = parser.value(scenario);
  gradwire::gui::MainWindow window(options, [](const std::string& path) {
    using gradwire::results::Store;
    return Store::open(path, Store::Mode::kReadOnly);
  });
  window.show();
  return QApplication::exec();
}
