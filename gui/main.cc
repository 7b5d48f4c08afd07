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
      "  gradwire-gui results.db --scenario scenarios/lossy-terngrad.json\n"
      "  gradwire-gui results.db run:42@1.20s..1.31s");
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("DB", "results database (default: ./gradwire.db)", "[DB]");
  parser.addPositionalArgument("LINK", "a run of it, and a range of its time",
                               "[run:N[@FROM..TO]]");
  const QCommandLineOption scenario("scenario", "scenario file for the run panel", "FILE");
  parser.addOption(scenario);
  parser.process(application);
  gradwire::gui::WindowOptions options;
  QStringList databases;
  for (const QString& argument : parser.positionalArguments()) {
    (gradwire::gui::is_deep_link(argument) ? options.link : databases.emplaceBack()) = argument;
  }
  try {
    if (!options.link.isEmpty()) gradwire::gui::parse_deep_link(options.link);
  } catch (const gradwire::Error& error) {
    QTextStream(stderr) << "gradwire-gui: " << error.what() << "\n";
    return gradwire::exit_code(gradwire::ErrorKind::kUsage);
  }
  if (databases.size() > 1) {
    QTextStream(stderr) << "gradwire-gui: more than one database given\n";
    return gradwire::exit_code(gradwire::ErrorKind::kUsage);
  }
  if (!databases.isEmpty()) options.database = databases[0];
  options.scenario = parser.value(scenario);
  gradwire::gui::MainWindow window(options, [](const std::string& path) {
    using gradwire::results::Store;
    return Store::open(path, Store::Mode::kReadOnly);
  });
  window.show();
  return QApplication::exec();
}
