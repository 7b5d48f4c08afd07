#include "gui/models/run_set.h"

#include <QCoreApplication>
#include <QSet>
#include <QThread>
#include <QThreadPool>
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "results/runs/scenario_view.h"
#include "scenarios/fields/fields.h"

namespace gradwire::gui {
namespace {

using results::LeavesOfRuns;

/// Fields that a column of its own shows already.
constexpr std::array kShownElsewhere = {"/cluster/workers",  "/executor",    "/workload/model",
                                        "/workload/profile", "/method/name", "/workload/pipeline"};

bool shown_elsewhere(const std::string& pointer) {
  return std::find(kShownElsewhere.begin(), kShownElsewhere.end(), pointer) !=
             kShownElsewhere.end() ||
         pointer.ends_with("_hash") || pointer == "/schema_version";
}

Quantity quantity_of(OptionType type) {
  switch (type) {
    case OptionType::kBytes:
      return Quantity::kBytes;
    case OptionType::kRate:
      return Quantity::kRate;
    case OptionType::kDuration:
      return Quantity::kDuration;
    default:
      return Quantity::kPlain;
  }
}

/// A column is one of numbers where every value that there is reads as one.
void read_numbers(const LeavesOfRuns::Leaf& leaf, SweptColumn& column) {
  std::vector<double> numbers(leaf.texts.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (!leaf.texts[i].empty() && !results::number_from(leaf.texts[i], numbers[i])) return;
  }
  column.numbers = std::move(numbers);
  column.quantity = Quantity::kPlain;
}

SweptColumn column_of(const LeavesOfRuns::Leaf& leaf) {
  SweptColumn column;
  column.pointer = leaf.pointer;
  column.varied = leaf.varied;
  for (const std::string& text : leaf.texts) column.texts.push_back(QString::fromStdString(text));
  read_numbers(leaf, column);
  const auto* node = scenarios::scenario_table().find(leaf.pointer);
  if (!node) return column;
  const scenarios::Field& field = node->field();
  column.help = QString::fromStdString(field.spec.help);
  if (!field.unit.empty()) column.help += QString(" (%1)").arg(QString::fromStdString(field.unit));
  if (!column.numbers.empty()) column.quantity = quantity_of(field.spec.type);
  return column;
}

QString capitalised(QString text) {
  if (!text.isEmpty()) text[0] = text[0].toUpper();
  return text;
}

/// The last `parts` tokens of a pointer: "Link bandwidth".
QString title_of(const std::string& pointer, int parts) {
  QString title = QString::fromStdString(pointer).section('/', -parts).replace('/', ' ');
  return capitalised(title.replace('_', ' ').trimmed());
}

/// The shortest end of each pointer that no other column's title is.
void name_columns(std::vector<SweptColumn>& columns) {
  QSet<QString> taken;
  for (int c = 0; c < kColumns; ++c) taken << QString(info(column_at(c)).title);
  for (int parts = 1; parts <= 8; ++parts) {
    std::map<QString, int> count;
    for (const SweptColumn& column : columns) {
      if (column.title.isEmpty()) ++count[title_of(column.pointer, parts)];
    }
    for (SweptColumn& column : columns) {
      const QString title = title_of(column.pointer, parts);
      if (!column.title.isEmpty() || count[title] != 1 || taken.contains(title)) continue;
      column.title = title;
      taken << title;
    }
  }
  for (SweptColumn& column : columns) {
    if (column.title.isEmpty()) column.title = QString::fromStdString(column.pointer);
  }
}

/// Swept fields are looked for in whatever they hold: "10gbps" finds a rate.
std::vector<QString> texts_of(const RunSet& set) {
  std::vector<std::vector<QString>> swept;
  for (const SweptColumn& column : set.swept) {
    auto& lower = swept.emplace_back();
    for (const QString& text : column.texts) lower.push_back(text.toLower());
  }
  std::vector<QString> texts;
  texts.reserve(set.runs.size());
  for (std::size_t i = 0; i < set.runs.size(); ++i) {
    QString line = QString::number(set.runs[i].id);
    for (int c = 0; c < kColumns; ++c) {
      if (is_number(column_at(c))) continue;
      line += QChar('\n') + raw_text(set.runs[i], column_at(c)).toLower();
    }
    for (const auto& lower : swept) line += QChar('\n') + lower[set.scenario_of[i]];
    texts.push_back(std::move(line));
  }
  return texts;
}

}  // namespace

namespace {

/// Texts of 100,000 runs take a while to free: not in the window's thread.
void free_elsewhere(RunSet* set) {
  const QCoreApplication* program = QCoreApplication::instance();
  if (!program || QThread::currentThread() != program->thread()) {
    delete set;
  } else {
    QThreadPool::globalInstance()->start([set] { delete set; });
  }
}

}  // namespace

Snapshot make_run_set(std::vector<results::RunSummary> runs) {
  std::shared_ptr<RunSet> set(new RunSet, free_elsewhere);
  LeavesOfRuns leaves = results::leaves_of_runs(runs);
  set->runs = std::move(runs);
  set->index.reserve(set->runs.size());
  for (std::uint32_t i = 0; i < set->runs.size(); ++i) set->index[set->runs[i].id] = i;
  set->scenario_of = std::move(leaves.scenario_of);
  set->alike = std::move(leaves.alike);
  for (const LeavesOfRuns::Leaf& leaf : leaves.differing) {
    if (!shown_elsewhere(leaf.pointer)) set->swept.push_back(column_of(leaf));
  }
  std::stable_partition(set->swept.begin(), set->swept.end(),
                        [](const SweptColumn& column) { return column.varied; });
  name_columns(set->swept);
  set->texts = texts_of(*set);
  return set;
}

QString spaced_unit(const QString& text) {
  qsizetype end = 0;
  while (end < text.size() &&
         (text[end].isDigit() || text[end] == '.' || text[end] == '-' || text[end] == '+')) {
    ++end;
  }
  if (end == 0 || end == text.size() || !text[end].isLetter()) return text;
  QString unit = text.mid(end);
  if (unit.size() > 6 || unit.contains(' ')) return text;
  if (unit == "us") unit = QStringLiteral("µs");
  return text.left(end) + " " + unit;
}

}  // namespace gradwire::gui
