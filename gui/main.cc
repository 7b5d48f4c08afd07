#include <QApplication>
#include <QCommandLineParser>
#include <QTextStream>
#include <memory>

#include "base/error.h"
#include "gui/start_options.h"

namespace {

/// Whether there is anything to show windows on, as Qt looks for it. Without, QApplication ends the
/// process with advice about installations.
bool has_display() {
  return qEnvironmentVariableIsSet("DISPLAY") || qEnvironmentVariableIsSet("WAYLAND_DISPLAY") ||
         qEnvironmentVariableIsSet("QT_QPA_PLATFORM");
}

void describe(QCommandLineParser& parser, const QCommandLineOption& scenario) {
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
  parser.addOption(scenario);
}

}  // namespace

int main(int argc, char** argv) {
  const bool shows = has_display();
  const std::unique_ptr<QCoreApplication> application(shows ? new QApplication(argc, argv)
                                                            : new QCoreApplication(argc, argv));
  QCoreApplication::setOrganizationName("gradwire");
  QCoreApplication::setApplicationName("gradwire-gui");
  QCoreApplication::setApplicationVersion(GRADWIRE_GUI_VERSION);
  const QCommandLineOption scenario("scenario", "scenario file for the run panel", "FILE");
  QCommandLineParser parser;
  describe(parser, scenario);
  parser.process(*application);
  gradwire::gui::WindowOptions options;
  try {
    options = gradwire::gui::start_options(parser.positionalArguments(), parser.value(scenario));
  } catch (const gradwire::Error& error) {
    QTextStream(stderr) << "gradwire-gui: " << error.what() << "\n";
    return gradwire::exit_code(gradwire::ErrorKind::kUsage);
  }
  if (!shows) {
    QTextStream(stderr) << "gradwire-gui: cannot open a window: neither DISPLAY nor "
                           "WAYLAND_DISPLAY is set; start it "
                           "in a desktop session, or over ssh with -X\n";
    return gradwire::exit_code(gradwire::ErrorKind::kCapability);
  }
  gradwire::gui::MainWindow window(options, [](const std::string& path) {
    using gradwire::results::Store;
    return Store::open(path, Store::Mode::kReadOnly);
  });
  window.show();
  return QApplication::exec();
}
