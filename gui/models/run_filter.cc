#include "gui/models/run_filter.h"

#include <QStringList>
#include <algorithm>
#include <map>
#include <memory>

#include "base/options.h"

namespace gradwire::gui {

namespace {

constexpr std::size_t kMostValues = 6;

using Comparison = results::Query::Comparison;

/// The values that runs have, the most frequent first.
std::vector<std::string> values_of(const Comparison& comparison,
                                   const std::vector<results::RunSummary>& runs) {
  std::map<std::string, int> count;
  for (const results::RunSummary& run : runs) {
    const std::string text = comparison.text(run);
    if (!text.empty()) ++count[text];
  }
  std::vector<std::pair<int, std::string>> frequent;
  for (const auto& [text, times] : count) frequent.emplace_back(-times, text);
  std::sort(frequent.begin(), frequent.end());
  std::vector<std::string> values;
  for (const auto& [times, text] : frequent) values.push_back(text);
  return values;
}

QString values_text(const std::vector<std::string>& values) {
  QStringList shown;
  for (std::size_t i = 0; i < values.size() && i < kMostValues; ++i) {
    shown << QString::fromStdString(values[i]);
  }
  QString text = shown.join(", ");
  if (values.size() > kMostValues) {
    text += QString(" and %1 more").arg(values.size() - kMostValues);
  }
  return text;
}

}  // namespace

RunFilter parse_run_filter(const QString& text, const RunColumns& columns) {
  RunFilter filter;
  filter.typed =
      text.contains('<') || text.contains('>') || text.contains('=') || text.contains('~');
  if (!filter.typed) return filter;
  try {
    const auto query =
        std::make_shared<const results::Query>(text.trimmed().toStdString(), columns.query_names());
    filter.predicate = [query](const results::RunSummary& run) { return query->matches(run); };
    filter.comparisons = query->comparisons();
  } catch (const results::QueryError& error) {
    filter.error = QString::fromUtf8(error.what());
  }
  return filter;
}

QString filter_hint(const RunFilter& filter, const std::vector<results::RunSummary>& runs) {
  if (runs.empty() || std::any_of(runs.begin(), runs.end(), filter.predicate)) return {};
  for (const Comparison& comparison : filter.comparisons) {
    if (std::any_of(runs.begin(), runs.end(), comparison.matches)) continue;
    const std::vector<std::string> values = values_of(comparison, runs);
    const QString name = QString::fromStdString(comparison.name);
    if (values.empty()) return QString("No run has a value of %1.").arg(name);
    QString text = QString("No run meets the comparison of %1 with \"%2\"; its values are %3.")
                       .arg(name, QString::fromStdString(comparison.value), values_text(values));
    const std::string near =
        comparison.ordered ? std::string() : nearest_name(comparison.value, values);
    if (!near.empty()) text += QString(" Did you mean \"%1\"?").arg(QString::fromStdString(near));
    return text;
  }
  return "Some runs meet each comparison, but none meets all of them.";
}

}  // namespace gradwire::gui
