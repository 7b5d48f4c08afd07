#pragma once
#include <QStringList>

#include "gui/models/run_view.h"

namespace gradwire::gui {

/// What a chart's hover card says of a run: its name, what was varied, and its figures; the
/// columns of `first` stand on top.
QStringList run_card(const RunView& view, const results::RunSummary& run,
                     const std::vector<Column>& first, NumberStyle style);

}  // namespace gradwire::gui
