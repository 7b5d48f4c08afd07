#pragma once
#include <QStringList>

#include "gui/main_window.h"

namespace gradwire::gui {

/// Scenarios are told from results databases by their ending: *.json.
bool is_scenario_file(const QString& path);

/// What the program's arguments ask to open, in any order: at most a results database, a scenario
/// file and a link (models/deep_link.h). `scenario`: one that an option names, or empty. Throws
/// Error(kUsage) that says what is wrong.
WindowOptions start_options(const QStringList& arguments, const QString& scenario);

}  // namespace gradwire::gui
