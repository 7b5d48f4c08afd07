#include "gui/start_options.h"

#include "base/error.h"

namespace gradwire::gui {

namespace {

/// Only one of each can be shown.
void take(const QString& argument, const char* what, QString& place) {
  if (!place.isEmpty())
    throw Error(ErrorKind::kUsage, "open", argument.toStdString(),
                std::string("more than one ") + what + " is given",
                "name one; others open from the window (Ctrl+O, Ctrl+Shift+O)");
  place = argument;
}

}  // namespace

bool is_scenario_file(const QString& path) {
  return path.endsWith(".json", Qt::CaseInsensitive);
}

WindowOptions start_options(const QStringList& arguments, const QString& scenario) {
  WindowOptions options;
  options.scenario = scenario;
  QString database;
  for (const QString& argument : arguments) {
    if (is_deep_link(argument)) {
      take(argument, "link", options.link);
      parse_deep_link(argument);
    } else if (is_scenario_file(argument)) {
      take(argument, "scenario", options.scenario);
    } else {
      take(argument, "results database", database);
    }
  }
  if (!database.isEmpty()) options.database = database;
  return options;
}

}  // namespace gradwire::gui
