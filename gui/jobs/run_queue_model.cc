#include "gui/jobs/run_queue_model.h"

#include <QPainter>
#include <algorithm>

#include "base/units.h"
#include "gui/charts/theme.h"

namespace gradwire::gui {

namespace {

QString queue_duration(double seconds) {
  return QString::fromStdString(format_duration(Seconds(seconds)));
}

const char* state_name(QueueState state) {
  switch (state) {
    case QueueState::kRunning:
      return "running";
    case QueueState::kFinished:
      return "finished";
    case QueueState::kFailed:
      return "failed";
    default:
      return "cancelled, partial run kept";
  }
}

QColor state_colour(const Theme& theme, QueueState state) {
  switch (state) {
    case QueueState::kRunning:
      return theme.accent;
    case QueueState::kFinished:
      return category_colour(theme, 2);
    case QueueState::kFailed:
      return category_colour(theme, 5);
    default:
      return theme.axis;
  }
}

}  // namespace

QString entry_title(const QueueEntry& entry) {
  const RunProgress& run = entry.progress;
  QString title = run.name;
  if (!run.method.isEmpty()) title += " · " + run.method;
  return title + QString(" · seed %1").arg(run.seed);
}

QString entry_text(const QueueEntry& entry) {
  const RunProgress& run = entry.progress;
  QStringList parts;
  if (entry.state != QueueState::kRunning) {
    if (entry.state == QueueState::kCancelled || entry.result.isEmpty())
      parts << state_name(entry.state);
    if (!entry.result.isEmpty()) parts << entry.result;
  }
  parts << QString("%1 of %2 steps").arg(run.step).arg(run.steps);
  if (entry.state == QueueState::kRunning && run.remaining_s >= 0) {
    parts << QString("%1 left").arg(queue_duration(run.remaining_s));
  }
  parts << QString("%1 simulated in %2")
               .arg(queue_duration(run.simulated_s), queue_duration(run.wall_s));
  return parts.join(" · ");
}

void RunQueueModel::clear() {
  beginResetModel();
  entries_.clear();
  row_of_run_.clear();
  endResetModel();
}

int RunQueueModel::row_for(int run) {
  if (const auto it = row_of_run_.find(run); it != row_of_run_.end()) return it->second;
  const int row = static_cast<int>(entries_.size());
  beginInsertRows({}, row, row);
  entries_.emplace_back();
  row_of_run_[run] = row;
  endInsertRows();
  return row;
}

void RunQueueModel::update(const RunProgress& progress) {
  const int row = row_for(progress.run);
  entries_[static_cast<std::size_t>(row)].progress = progress;
  emit dataChanged(index(row), index(row));
}

void RunQueueModel::finish_run(const QJsonObject& object) {
  // The row belongs to the run that reported progress last; one without progress is new.
  const bool open = !entries_.empty() && entries_.back().state == QueueState::kRunning;
  const int last = entries_.empty() ? -1 : entries_.back().progress.run;
  const int row = row_for(object["run"].toInt(open ? last : last + 1));
  QueueEntry& entry = entries_[static_cast<std::size_t>(row)];
  if (entry.progress.name.isEmpty()) {
    entry.progress = progress_of(object);
    entry.progress.run = open ? last : last + 1;
    entry.progress.name = object["scenario_name"].toString(entry.progress.name);
    entry.progress.seed = object["seed"].toVariant().toLongLong();
    entry.progress.step = object["steps_done"].toInteger();
    entry.progress.steps = object["steps_total"].toInteger();
    entry.progress.simulated_s = object["simulated_s"].toDouble();
  }
  const QString status = object["status"].toString();
  const bool no_result = status == "diverged" || status == "invalid";
  const bool failed = status == "failed" || no_result;
  entry.state = failed                ? QueueState::kFailed
                : status == "partial" ? QueueState::kCancelled
                                      : QueueState::kFinished;
  // The store knows how many steps were kept; the last progress message may be older.
  if (const QJsonValue done = object["steps_done"]; done.isDouble())
    entry.progress.step = done.toInteger();
  else if (entry.state == QueueState::kFinished)
    entry.progress.step = std::max(entry.progress.step, entry.progress.steps);
  if (const QJsonValue total = object["steps_total"]; total.isDouble())
    entry.progress.steps = total.toInteger();
  entry.result = failed ? object["error"].toString() : QString();
  if (no_result) {
    entry.result = status + ": " + entry.result;
  } else if (const QJsonValue accuracy = object["final_accuracy"]; accuracy.isDouble()) {
    entry.result = QString("accuracy %1 %").arg(accuracy.toDouble() * 100, 0, 'f', 1);
  } else if (const QJsonValue step_time = object["step_time_s"]; step_time.isDouble()) {
    entry.result = queue_duration(step_time.toDouble()) + " a step";
  }
  emit dataChanged(index(row), index(row));
}

void RunQueueModel::end_all(QueueState state) {
  for (QueueEntry& entry : entries_) {
    if (entry.state == QueueState::kRunning) entry.state = state;
  }
  if (!entries_.empty()) emit dataChanged(index(0), index(rowCount() - 1));
}

int RunQueueModel::done() const {
  return static_cast<int>(std::count_if(entries_.begin(), entries_.end(), [](const auto& entry) {
    return entry.state != QueueState::kRunning;
  }));
}

int RunQueueModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(entries_.size());
}

QVariant RunQueueModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const QueueEntry& entry = entries_[static_cast<std::size_t>(index.row())];
  if (role == Qt::DisplayRole) return entry_title(entry);
  if (role == Qt::ToolTipRole || role == Qt::AccessibleTextRole) {
    return entry_title(entry) + "\n" + entry_text(entry);
  }
  if (role == kEntryRole) return index.row();
  return {};
}

void RunQueueList::paintEvent(QPaintEvent* event) {
  QListView::paintEvent(event);
  if (!model() || model()->rowCount() > 0) return;
  QPainter painter(viewport());
  painter.setPen(theme_of(palette()).faint_ink);
  painter.drawText(viewport()->rect().adjusted(16, 16, -16, -16),
                   Qt::AlignCenter | Qt::TextWordWrap,
                   "Runs of the scenario appear here, each with its progress.");
}

QSize RunQueueDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex&) const {
  return {120, option.fontMetrics.height() * 2 + 22};
}

void RunQueueDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                             const QModelIndex& index) const {
  const auto* model = static_cast<const RunQueueModel*>(index.model());
  const QueueEntry& entry = model->entries()[static_cast<std::size_t>(index.row())];
  const Theme theme = theme_of(option.palette);
  const QRect box = option.rect.adjusted(8, 4, -8, -4);
  const int line = option.fontMetrics.height();
  painter->save();
  painter->setPen(theme.ink);
  painter->drawText(
      QRect(box.left(), box.top(), box.width(), line), Qt::AlignLeft,
      option.fontMetrics.elidedText(entry_title(entry), Qt::ElideMiddle, box.width()));
  const QRectF bar(box.left(), box.top() + line + 3, box.width(), 6);
  const double share =
      entry.progress.steps > 0 ? double(entry.progress.step) / double(entry.progress.steps) : 0;
  painter->setRenderHint(QPainter::Antialiasing);
  painter->setPen(Qt::NoPen);
  painter->setBrush(theme.grid);
  painter->drawRoundedRect(bar, 3, 3);
  painter->setBrush(state_colour(theme, entry.state));
  painter->drawRoundedRect(QRectF(bar.left(), bar.top(), bar.width() * std::min(1.0, share), 6), 3,
                           3);
  painter->setPen(theme.faint_ink);
  painter->drawText(QRect(box.left(), box.top() + line + 11, box.width(), line), Qt::AlignLeft,
                    option.fontMetrics.elidedText(entry_text(entry), Qt::ElideRight, box.width()));
  painter->restore();
}

}  // namespace gradwire::gui
