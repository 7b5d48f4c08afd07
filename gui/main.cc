#include <QApplication>
#include <QCommandLineParser>
#include <QTextStream>

#include "base/error.h"
#include "gui/start_options.h"

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QCoreApplication::setOrganizationName("gradwire");
  QCoreApplication::setApplicationName("gradwire-gui");
  QCoreApplication::setApplicationVersion(GRADWIRE_GUI_VERSION);
  QCommandLineParser parser;
  parser.setApplicationDescription(
      "Explore results of Gradwire and run scenarios.\n\n"
      "  gradwire-gui results.db\n"
      "  gradwire-gui results.db scenarios/lossy-terngrad.json\n"
      "  gradwire-gui results.db run:42@1.20s..1.31s");
  parser.addHelpOption();
  parser.addVersionOption();
  parser.addPositionalArgument("DB", "results database (default: ./gradwire.db)", "[DB]");
  parser.addPositionalArgument("SCENARIO", "scenario file, to edit and run", "[FILE.json]");
  parser.addPositionalArgument("LINK", "a run of it, and a range of its time",
                               "[run:N[@FROM..TO]]");
  const QCommandLineOption scenario("scenario", "scenario file for the run panel", "FILE");
  parser.addOption(scenario);
  parser.process(application);
  gradwire::gui::WindowOptions options;
  try {
    options = gradwire::gui::start_options(parser.positionalArguments(), parser.value(scenario));
  } catch (const gradwire::Error& error) {
    QTextStream(stderr) << "gradwire-gui: " << error.what() << "\n";
    return gradwire::exit_code(gradwire::ErrorKind::kUsage);
  }
  gradwire::gui::MainWindow window(options, [](const std::string& path) {
    using gradwire::results::Store;
    return Store::open(path, Store::Mode::kReadOnly);
  });
  window.show();
  return QApplication::exec();
}
