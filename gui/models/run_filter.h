#pragma once
#include <QString>

#include "gui/models/run_view.h"

namespace gradwire::gui {

/// What the filter field's text means: words to look for, or a typed expression
/// ("traffic_ratio<0.1 and workers>=16") that is checked before it is used.
struct RunFilter {
  bool typed = false;
  RunPredicate predicate;  ///< set when typed and valid
  QString error;           ///< set when typed and invalid
};

/// A text is typed when it contains a comparison operator; anything else is free text.
RunFilter parse_run_filter(const QString& text);

}  // namespace gradwire::gui
