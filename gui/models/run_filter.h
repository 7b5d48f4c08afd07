#pragma once
#include <QString>

#include "gui/models/run_view.h"

namespace gradwire::gui {

/// What the filter field's text means: words to look for, or a typed expression
/// ("traffic_ratio<0.1 and workers>=16") that is checked before it is used.
struct RunFilter {
  bool typed = false;
  RunPredicate predicate;  ///< set when typed and valid
  std::vector<results::Query::Comparison> comparisons;
  QString error;  ///< set when typed and invalid
};

/// A text is typed when it contains a comparison operator; anything else is free text. Fields may
/// be named as the columns' headers are.
RunFilter parse_run_filter(const QString& text, const RunColumns& columns = {});

/// Where no run passes: which comparison no run of the database meets, and the values that some
/// would ("no run has Method = topq; there are none, topk 1%: did you mean topk 1%?").
QString filter_hint(const RunFilter& filter, const std::vector<results::RunSummary>& runs);

}  // namespace gradwire::gui
