#include "gui/models/run_filter.h"

#include <memory>

#include "results/query.h"

namespace gradwire::gui {

RunFilter parse_run_filter(const QString& text) {
  RunFilter filter;
  filter.typed =
      text.contains('<') || text.contains('>') || text.contains('=') || text.contains('~');
  if (!filter.typed) return filter;
  try {
    const auto query = std::make_shared<const results::Query>(text.trimmed().toStdString());
    filter.predicate = [query](const results::RunSummary& run) { return query->matches(run); };
  } catch (const results::QueryError& error) {
    filter.error = QString::fromUtf8(error.what());
  }
  return filter;
}

}  // namespace gradwire::gui
