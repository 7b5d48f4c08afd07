#include "gui/views/group_table.h"

#include <QHeaderView>
#include <QLabel>
#include <QVBoxLayout>
#include <cmath>
#include <memory>
#include <numeric>

#include "results/runs/summary.h"

namespace gradwire::gui {

using results::RunGroup;
using results::RunSummary;
using results::Statistic;

namespace {

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

/// One group as it is shown and sorted.
struct GroupRow {
  QStringList texts;
  std::vector<double> keys;  ///< of the columns behind the label
  std::vector<results::RunId> members;
};

GroupRow row_of(const RunGroup& group) {
  GroupRow row;
  const auto runs = static_cast<double>(group.runs.size());
  const QString left_out =
      group.unfinished > 0 ? QString(" (+%1 unfinished)").arg(group.unfinished) : QString();
  row.texts << QString::fromStdString(group.label) << QString::number(runs) + left_out;
  row.keys.push_back(runs);
  for (const Figure& figure : kFigures) {
    const Statistic& statistic = group.*figure.statistic;
    const bool learned =
        figure.statistic == &RunGroup::final_accuracy || figure.statistic == &RunGroup::final_loss;
    const std::string text = learned
                                 ? results::shown_with_diverged(group, statistic, figure.quantity)
                                 : results::shown(statistic, figure.quantity);
    row.texts << QString::fromStdString(text);
    row.keys.push_back(statistic.mean);
  }
  for (const RunSummary& run : group.runs) row.members.push_back(run.id);
  return row;
}

std::vector<GroupRow> rows_of(const std::vector<const RunSummary*>& shown) {
  std::vector<RunSummary> runs;
  runs.reserve(shown.size());
  for (const RunSummary* run : shown) runs.push_back(*run);
  std::vector<GroupRow> rows;
  for (const RunGroup& group : results::group_runs(runs)) rows.push_back(row_of(group));
  return rows;
}

}  // namespace

class GroupModel : public QAbstractTableModel {
 public:
  using QAbstractTableModel::QAbstractTableModel;

  void set_rows(std::vector<GroupRow> rows) {
    beginResetModel();
    rows_ = std::move(rows);
    order_.resize(rows_.size());
    std::iota(order_.begin(), order_.end(), 0U);
    endResetModel();
  }
  const std::vector<results::RunId>& members(int row) const {
    return rows_[order_[static_cast<std::size_t>(row)]].members;
  }
  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : static_cast<int>(rows_.size());
  }
  int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : 2 + static_cast<int>(std::size(kFigures));
  }
  QVariant data(const QModelIndex& index, int role) const override {
    if (!index.isValid()) return {};
    if (role == Qt::TextAlignmentRole && index.column() > 0) {
      return int(Qt::AlignRight | Qt::AlignVCenter);
    }
    if (role != Qt::DisplayRole) return {};
    return rows_[order_[static_cast<std::size_t>(index.row())]].texts[index.column()];
  }
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    if (orientation != Qt::Horizontal || role != Qt::DisplayRole) return {};
    return section == 0   ? "Group"
           : section == 1 ? "n"
                          : kFigures[static_cast<std::size_t>(section - 2)].title;
  }
  void sort(int column, Qt::SortOrder order) override {
    if (column < 0) return;
    beginResetModel();
    const bool down = order == Qt::DescendingOrder;
    std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t first, std::uint32_t second) {
      const GroupRow &a = rows_[first], &b = rows_[second];
      if (column == 0) return down ? a.texts[0] > b.texts[0] : a.texts[0] < b.texts[0];
      const auto key = static_cast<std::size_t>(column - 1);
      // What is no number comes last whatever the direction.
      if (std::isnan(a.keys[key]) || std::isnan(b.keys[key])) {
        return !std::isnan(a.keys[key]) && std::isnan(b.keys[key]);
      }
      return down ? a.keys[key] > b.keys[key] : a.keys[key] < b.keys[key];
    });
    endResetModel();
  }

 private:
  std::vector<GroupRow> rows_;
  std::vector<std::uint32_t> order_;  ///< [rows] as shown
};

GroupTable::GroupTable(RunTable* table, RunSelection* selection, QWidget* parent)
    : QWidget(parent), runs_(table), selection_(selection) {
  model_ = new GroupModel(this);
  view_ = new QTableView(this);
  view_->setModel(model_);
  view_->setAccessibleName("Groups of runs that differ only in their seed");
  view_->setSelectionBehavior(QAbstractItemView::SelectRows);
  view_->setEditTriggers(QAbstractItemView::NoEditTriggers);
  view_->setAlternatingRowColors(true);
  view_->setShowGrid(false);
  view_->setWordWrap(false);
  view_->setSortingEnabled(true);
  view_->horizontalHeader()->setResizeContentsPrecision(200);
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
  // The snapshot keeps the runs alive while they are counted.
  const Snapshot runs = runs_->view().snapshot();
  std::vector<const RunSummary*> shown;
  for (int row = 0; row < runs_->view().rows(); ++row) shown.push_back(&runs_->view().at(row));
  job_.start([this, runs, shown = std::move(shown)](const LatestJob::Current&) {
    auto rows = std::make_shared<std::vector<GroupRow>>(rows_of(shown));
    return [this, rows] {
      building_ = true;
      model_->set_rows(std::move(*rows));
      view_->sortByColumn(view_->horizontalHeader()->sortIndicatorSection(),
                          view_->horizontalHeader()->sortIndicatorOrder());
      view_->resizeColumnsToContents();
      building_ = false;
    };
  });
}

void GroupTable::take_selection() {
  if (building_) return;
  std::vector<results::RunId> runs;
  for (const QModelIndex& index : view_->selectionModel()->selectedRows()) {
    const auto& members = model_->members(index.row());
    runs.insert(runs.end(), members.begin(), members.end());
  }
  selection_->select(std::move(runs));
}

}  // namespace gradwire::gui
