#include "gui/views/group_table.h"

#include <QHeaderView>
#include <QLabel>
#include <QVBoxLayout>

#include "results/summary.h"

namespace gradwire::gui {

using results::RunGroup;
using results::RunSummary;
using results::Statistic;

namespace {

constexpr int kSortRole = Qt::UserRole + 1;
constexpr int kGroupRole = Qt::UserRole + 2;

struct Figure {
  const char* title;
  Statistic RunGroup::*statistic;
  results::Quantity quantity;
};
constexpr Figure kFigures[] = {
    {"Accuracy", &RunGroup::final_accuracy, results::Quantity::kShare},
    {"Loss", &RunGroup::final_loss, results::Quantity::kPlain},
    {"Step time", &RunGroup::step_time_s, results::Quantity::kSeconds},
    {"Compression", &RunGroup::compression_ratio, results::Quantity::kShare},
    {"Traffic", &RunGroup::traffic_ratio, results::Quantity::kShare},
    {"On the wire", &RunGroup::wire_bytes, results::Quantity::kBytes},
    {"Simulated", &RunGroup::simulated_s, results::Quantity::kSeconds},
    {"To target", &RunGroup::time_to_target_s, results::Quantity::kSeconds},
};

QStandardItem* number_item(const QString& text, double key, int group) {
  auto* item = new QStandardItem(text);
  item->setData(key, kSortRole);
  item->setData(group, kGroupRole);
  item->setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
  return item;
}

QList<QStandardItem*> row_of(const RunGroup& group, int index) {
  const QString label = QString::fromStdString(group.label);
  auto* name = new QStandardItem(label);
  name->setData(label, kSortRole);
  name->setData(index, kGroupRole);
  QList<QStandardItem*> row{name};
  const int runs = static_cast<int>(group.runs.size());
  const QString left_out =
      group.unfinished > 0 ? QString(" (+%1 unfinished)").arg(group.unfinished) : QString();
  row << number_item(QString::number(runs) + left_out, runs, index);
  for (const Figure& figure : kFigures) {
    const Statistic& statistic = group.*figure.statistic;
    const bool learned =
        figure.statistic == &RunGroup::final_accuracy || figure.statistic == &RunGroup::final_loss;
    const std::string text = learned
                                 ? results::shown_with_diverged(group, statistic, figure.quantity)
                                 : results::shown(statistic, figure.quantity);
    row << number_item(QString::fromStdString(text), statistic.mean, index);
  }
  return row;
}

}  // namespace

GroupTable::GroupTable(RunTable* table, RunSelection* selection, QWidget* parent)
    : QWidget(parent), runs_(table), selection_(selection) {
  model_ = new QStandardItemModel(this);
  model_->setSortRole(kSortRole);
  view_ = new QTableView(this);
  view_->setModel(model_);
  view_->setAccessibleName("Groups of runs that differ only in their seed");
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view_->setAlternatingRowColors(true);
  view_->setShowGrid(false);
  view_->setWordWrap(false);
  view_->setSortingEnabled(true);
  view_->verticalHeader()->hide();
  view_->verticalHeader()->setDefaultSectionSize(view_->fontMetrics().height() * 3 / 2);
  auto* note = new QLabel(
      "Mean ± standard deviation over seeds of the finished runs in the table; "
      "selecting a group selects its runs.",
      this);
  note->setContentsMargins(8, 4, 8, 2);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(note);
  layout->addWidget(view_, 1);
  timer_.setSingleShot(true);
  timer_.setInterval(0);
  connect(&timer_, &QTimer::timeout, this, &GroupTable::rebuild);
  connect(runs_, &RunTable::view_changed, this, [this] {
    stale_ = true;
    if (isVisible()) timer_.start();
  });
  connect(view_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &GroupTable::take_selection);
}

void GroupTable::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (stale_) timer_.start();
}

void GroupTable::rebuild() {
  stale_ = false;
  std::vector<RunSummary> shown;
  for (int row = 0; row < runs_->view().rows(); ++row) shown.push_back(runs_->view().at(row));
  const std::vector<RunGroup> groups = results::group_runs(shown);
  building_ = true;
  model_->clear();
  members_.clear();
  QStringList titles{"Group", "n"};
  for (const Figure& figure : kFigures) titles << figure.title;
  model_->setHorizontalHeaderLabels(titles);
  for (const RunGroup& group : groups) {
    model_->appendRow(row_of(group, static_cast<int>(members_.size())));
    auto& members = members_.emplace_back();
    for (const RunSummary& run : group.runs) members.push_back(run.id);
  }
  view_->sortByColumn(view_->horizontalHeader()->sortIndicatorSection(),
                      view_->horizontalHeader()->sortIndicatorOrder());
  view_->resizeColumnsToContents();
  building_ = false;
}

void GroupTable::take_selection() {
  if (building_) return;
  std::vector<results::RunId> runs;
  for (const QModelIndex& index : view_->selectionModel()->selectedRows()) {
    const auto group = static_cast<std::size_t>(index.data(kGroupRole).toInt());
    runs.insert(runs.end(), members_[group].begin(), members_[group].end());
  }
  selection_->select(std::move(runs));
}

}  // namespace gradwire::gui
