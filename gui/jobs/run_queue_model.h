#pragma once
#include <QAbstractListModel>
#include <QListView>
#include <QStyledItemDelegate>
#include <map>
#include <vector>

#include "gui/jobs/run_process.h"

namespace gradwire::gui {

enum class QueueState { kRunning, kFinished, kFailed, kCancelled };

struct QueueEntry {
  RunProgress progress;
  QueueState state = QueueState::kRunning;
  QString result;  ///< final figures, once done
};

/// The runs of the scenario that is running or ran last, newest at the bottom. Updates are kept
/// back and shown a few times a second: a fast child cannot flood the window.
class RunQueueModel : public QAbstractListModel {
  Q_OBJECT

 public:
  static constexpr int kEntryRole = Qt::UserRole + 1;

  using QAbstractListModel::QAbstractListModel;

  void clear();
  void update(const RunProgress& progress);
  void finish_run(const QJsonObject& row);
  /// What is still running becomes `state`.
  void end_all(QueueState state);
  const std::vector<QueueEntry>& entries() const { return entries_; }
  int done() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;

 private:
  int row_for(int run);
  std::vector<QueueEntry> entries_;
  std::map<int, int> row_of_run_;
};

/// Says what will be listed while nothing is.
class RunQueueList : public QListView {
  Q_OBJECT

 public:
  using QListView::QListView;

 protected:
  void paintEvent(QPaintEvent* event) override;
};

/// Two lines per run: what it is and how far it is, with a bar.
class RunQueueDelegate : public QStyledItemDelegate {
  Q_OBJECT

 public:
  using QStyledItemDelegate::QStyledItemDelegate;
  void paint(QPainter* painter, const QStyleOptionViewItem& option,
             const QModelIndex& index) const override;
  QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

QString entry_title(const QueueEntry& entry);
QString entry_text(const QueueEntry& entry);

}  // namespace gradwire::gui
