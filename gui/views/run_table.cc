#include "gui/views/run_table.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QItemSelection>
#include <QScrollBar>
#include <QVBoxLayout>

#include "gui/views/run_cell_delegate.h"

namespace gradwire::gui {

using results::RunId;

namespace {
/// Typing must not run a query per key.
constexpr int kFilterDelayMs = 150;
}  // namespace

RunTable::RunTable(RunSelection* selection, QWidget* parent)
    : QWidget(parent), selection_(selection), model_(new RunTableModel(this)) {
  build_filter_row();
  build_table();
  filter_timer_.setSingleShot(true);
  filter_timer_.setInterval(kFilterDelayMs);
  connect(&filter_timer_, &QTimer::timeout, this, &RunTable::apply_filter);
  connect(filter_, &QLineEdit::textChanged, &filter_timer_, qOverload<>(&QTimer::start));
  connect(filter_, &QLineEdit::returnPressed, this, &RunTable::apply_filter);
  connect(differing_, &QCheckBox::toggled, this, [this](bool on) {
    update_columns();
    emit only_differing_changed(on);
  });
  connect(selection_, &RunSelection::changed, this, [this] { show_selection(true); });
  connect(model_, &QAbstractItemModel::modelAboutToBeReset, this, &RunTable::remember_place);
  connect(model_, &QAbstractItemModel::modelReset, this, &RunTable::restore_place);
  connect(table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &RunTable::take_selection);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &RunTable::take_selection);
}

void RunTable::build_filter_row() {
  filter_ = new QLineEdit(this);
  filter_->setPlaceholderText(
      "Filter: words, or an expression such as traffic_ratio<0.1 and workers>=16");
  filter_->setClearButtonEnabled(true);
  filter_->setAccessibleName("Filter of the run table");
  differing_ = new QCheckBox("Only columns that differ", this);
  count_ = new QLabel(this);
  count_->setAccessibleName("Number of runs shown");
  error_ = new QLabel(this);
  error_->setWordWrap(true);
  error_->setTextFormat(Qt::PlainText);
  error_->setAccessibleName("Error in the filter");
  error_->hide();
  hint_ = new QLabel(this);
  hint_->setWordWrap(true);
  hint_->setTextFormat(Qt::PlainText);
  hint_->setAccessibleName("Why no run passes the filter");
  hint_->hide();
  auto* row = new QHBoxLayout;
  row->setContentsMargins(6, 6, 6, 0);
  row->addWidget(filter_, 1);
  row->addWidget(differing_);
  row->addWidget(count_);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(4);
  layout->addLayout(row);
  layout->addWidget(error_);
  layout->addWidget(hint_);
}

void RunTable::build_table() {
  table_ = new QTableView(this);
  table_->setModel(model_);
  table_->setItemDelegate(new RunCellDelegate(table_));
  table_->setSelectionBehavior(QAbstractItemView::SelectRows);
  table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  table_->setSortingEnabled(true);
  table_->sortByColumn(static_cast<int>(Column::kRun), Qt::DescendingOrder);
  table_->setShowGrid(false);
  table_->setAlternatingRowColors(true);
  table_->setWordWrap(false);
  table_->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
  table_->setAccessibleName("Runs");
  table_->verticalHeader()->hide();
  table_->verticalHeader()->setDefaultSectionSize(table_->fontMetrics().height() * 3 / 2);
  table_->horizontalHeader()->setHighlightSections(false);
  table_->horizontalHeader()->setSectionsMovable(true);
  table_->setTabKeyNavigation(false);
  layout()->addWidget(table_);
}

void RunTable::set_runs(Snapshot runs) {
  model_->change([&](RunView& view) {
    view.forget_filter();
    view.set_runs(std::move(runs));
    filter_view(parse_run_filter(applied_, view.columns()), view);
  });
  place_swept();
  update_columns();
  emit runs_replaced();
  if (!sized_ && view().rows() > 0) {
    table_->horizontalHeader()->setResizeContentsPrecision(500);
    table_->resizeColumnsToContents();
    sized_ = true;
  }
}

void RunTable::apply_filter() {
  filter_timer_.stop();
  const RunFilter filter = parse_run_filter(filter_->text(), view().columns());
  // With a name that is near, the list of all others is for those who ask.
  const bool near = filter.error.contains("did you mean");
  error_->setText(near ? filter.error.section("allowed:", 0, 0).trimmed() : filter.error);
  error_->setToolTip(filter.error);
  error_->setVisible(!filter.error.isEmpty());
  // While an expression is wrong the table keeps showing what it showed.
  if (!filter.error.isEmpty()) return;
  applied_ = filter_->text();
  model_->change([&](RunView& view) { filter_view(filter, view); });
  show_hint(filter);
  update_columns();
}

void RunTable::filter_view(const RunFilter& filter, RunView& view) {
  if (filter.typed && filter.error.isEmpty()) {
    view.set_predicate(filter.predicate);
  } else {
    view.set_text_filter(filter.typed ? QString() : applied_);
  }
}

void RunTable::show_hint(const RunFilter& filter) {
  hint_->setText(filter.typed ? gui::filter_hint(filter, view().all()) : QString());
  hint_->setVisible(!hint_->text().isEmpty());
}

void RunTable::place_swept() {
  QHeaderView* header = table_->horizontalHeader();
  const int count = view().columns().count() - kColumns;
  for (int i = swept_; i < count; ++i) {
    const int after = i == 0 ? static_cast<int>(Column::kWorkers) : kColumns + i - 1;
    header->moveSection(header->visualIndex(kColumns + i), header->visualIndex(after) + 1);
  }
  swept_ = count;
}

void RunTable::set_only_differing(bool on) {
  differing_->setChecked(on);
}

void RunTable::set_with_lacking(bool on) {
  with_lacking_ = on;
  update_columns();
}

void RunTable::set_number_style(NumberStyle style) {
  model_->set_number_style(style);
}

void RunTable::toggle_baseline() {
  const RunId current = selection_->current();
  if (current == 0) {
    emit message("Select a run first: it becomes the baseline.");
    return;
  }
  const auto* baseline = view().baseline();
  const bool already = baseline && baseline->id == current;
  model_->change([&](RunView& view) {
    view.set_baseline(already ? std::nullopt : std::optional<RunId>(current));
  });
  if (!already) table_->resizeColumnsToContents();
}

void RunTable::toggle_pins() {
  if (selection_->runs().empty()) emit message("Select the runs to pin first.");
  bool room = true;
  model_->change([&](RunView& view) {
    for (RunId id : selection_->runs()) room = room && view.toggle_pin(id);
  });
  if (!room) emit message(QString("At most %1 runs can be pinned.").arg(RunView::kMaxPins));
}

void RunTable::clear_pins() {
  model_->change([](RunView& view) {
    view.clear_pins();
    view.set_baseline(std::nullopt);
  });
}

void RunTable::store_view(ViewState& state) const {
  state.filter = applied_;
  state.only_differing = differing_->isChecked();
  state.with_lacking = with_lacking_;
  state.sort_key = view().columns().key(view().sort_column());
  state.descending = view().descending();
}

void RunTable::show_view(const ViewState& state) {
  filter_->setText(state.filter);
  apply_filter();
  set_only_differing(state.only_differing);
  set_with_lacking(state.with_lacking);
  for (int c = 0; c < view().columns().count(); ++c) {
    if (view().columns().key(column_at(c)) != state.sort_key) continue;
    table_->sortByColumn(c, state.descending ? Qt::DescendingOrder : Qt::AscendingOrder);
  }
}

void RunTable::remember_place() {
  syncing_ = true;
  saved_scroll_ = table_->verticalScrollBar()->value();
}

void RunTable::restore_place() {
  syncing_ = false;
  show_selection(false);
  table_->verticalScrollBar()->setValue(saved_scroll_);
  update_count();
  emit view_changed();
}

void RunTable::take_selection() {
  if (syncing_) return;
  std::vector<RunId> runs;
  for (const QItemSelectionRange& range : table_->selectionModel()->selection()) {
    for (int row = range.top(); row <= range.bottom(); ++row) runs.push_back(model_->run_at(row));
  }
  const QModelIndex current = table_->selectionModel()->currentIndex();
  syncing_ = true;
  selection_->select(std::move(runs), current.isValid() ? model_->run_at(current.row()) : 0);
  syncing_ = false;
}

void RunTable::show_selection(bool scroll) {
  if (syncing_) return;
  std::vector<int> rows;
  for (RunId id : selection_->runs()) {
    if (const int row = view().row_of(id); row >= 0) rows.push_back(row);
  }
  std::sort(rows.begin(), rows.end());
  QItemSelection ranges;
  for (std::size_t first = 0, last = 0; first < rows.size(); first = last + 1) {
    last = first;
    while (last + 1 < rows.size() && rows[last + 1] == rows[last] + 1) ++last;
    ranges.append(QItemSelectionRange(model_->index(rows[first], 0),
                                      model_->index(rows[last], model_->columnCount() - 1)));
  }
  syncing_ = true;
  table_->selectionModel()->select(ranges, QItemSelectionModel::ClearAndSelect);
  const int current = view().row_of(selection_->current());
  if (current >= 0) {
    const int column = std::max(0, table_->horizontalHeader()->logicalIndexAt(0));
    table_->selectionModel()->setCurrentIndex(model_->index(current, column),
                                              QItemSelectionModel::NoUpdate);
    if (scroll) table_->scrollTo(model_->index(current, column));
  }
  syncing_ = false;
}

void RunTable::update_columns() {
  std::vector<bool> differs;
  if (differing_->isChecked()) differs = view().differing_columns();
  for (int c = 0; c < view().columns().count(); ++c) {
    const SweptColumn* swept = view().columns().swept(column_at(c));
    const bool lacking = swept && !swept->varied && !with_lacking_;
    table_->setColumnHidden(
        c, lacking || (differing_->isChecked() && !differs[static_cast<std::size_t>(c)]));
  }
}

void RunTable::update_count() {
  const QLocale locale = QLocale::c();
  const QString total = locale.toString(view().total());
  count_->setText(view().rows() == view().total()
                      ? QString("%1 runs").arg(total)
                      : QString("%1 of %2 runs").arg(locale.toString(view().rows()), total));
}

}  // namespace gradwire::gui
