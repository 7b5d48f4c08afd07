#include "gui/run_filter.h"

namespace gradwire::gui {

RunFilter parse_run_filter(const QString&) { return {}; }

}  // namespace gradwire::gui
