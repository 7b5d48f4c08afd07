#include "gui/main_window.h"

#include <QCloseEvent>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QScrollArea>
#include <QStatusBar>
#include <QVBoxLayout>

#include "gui/start_options.h"

namespace gradwire::gui {

using results::RunId;

MainWindow::MainWindow(const WindowOptions& options, Database::Opener opener)
    : options_(options),
      database_(new Database(std::move(opener), this)),
      selection_(new RunSelection(this)) {
  setWindowTitle("Gradwire");
  setAcceptDrops(true);
  build();
  build_menus();
  connect_all();
  connect_history();
  resize(1360, 860);
  first_layout_ = saveState();
  if (options_.remember) restore_settings();
  open_database(options_.database);
  if (!options_.scenario.isEmpty()) open_scenario(options_.scenario);
}

void MainWindow::build() {
  error_bar_ = new MessageBar(MessageBar::Kind::kError, this);
  note_bar_ = new MessageBar(MessageBar::Kind::kNote, this);
  table_ = new RunTable(selection_, this);
  tradeoff_ = new TradeoffView(table_, selection_, database_, this);
  timeline_page_ = new TimelinePage(this);
  timeline_ = timeline_page_->timeline();
  charts_ = new QTabWidget(this);
  charts_->setDocumentMode(true);
  charts_->addTab(tradeoff_, "Trade-off");
  groups_ = new GroupTable(table_, selection_, this);
  charts_->addTab(timeline_page_, "Timeline");
  charts_->addTab(groups_, "Seeds");
  scaling_ = new ScalingView(table_, selection_, database_, this);
  charts_->addTab(scaling_, "Scaling");
  editor_ = new ScenarioEditor(this);
  charts_->addTab(editor_, "Scenario");
  topology_ = new TopologyView(this);
  charts_->addTab(topology_, "Network");
  topology_->map()->setAccessibleDescription(
      "Hosts, switches and links with their load. Ctrl+T shows the links as a table");
  parallel_ = new ParallelView(table_, selection_, this);
  charts_->addTab(parallel_, "Parallel");
  splitter_ = new QSplitter(Qt::Vertical, this);
  splitter_->addWidget(charts_);
  splitter_->addWidget(table_);
  splitter_->setStretchFactor(0, 3);
  splitter_->setStretchFactor(1, 2);
  splitter_->setChildrenCollapsible(false);
  auto* centre = new QWidget(this);
  auto* layout = new QVBoxLayout(centre);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  layout->addWidget(error_bar_);
  layout->addWidget(note_bar_);
  layout->addWidget(splitter_, 1);
  setCentralWidget(centre);

  build_docks();
  status_process_ = new QLabel(this);
  status_selection_ = new QLabel(this);
  status_runs_ = new QLabel(this);
  for (QLabel* label : {status_process_, status_selection_, status_runs_}) {
    label->setContentsMargins(10, 0, 10, 0);
    statusBar()->addPermanentWidget(label);
  }
}

QDockWidget* MainWindow::add_dock(const char* title, const char* name, QWidget* content) {
  auto* dock = new QDockWidget(title, this);
  dock->setObjectName(name);
  dock->setWidget(content);
  addDockWidget(Qt::LeftDockWidgetArea, dock);
  return dock;
}

void MainWindow::build_docks() {
  answers_ = new AnswersPanel(table_, database_, this);
  answers_dock_ = add_dock("Answers", "answers", answers_);
  run_panel_ = new RunPanel(this);
  run_dock_ = add_dock("Run a scenario", "run", run_panel_);
  what_if_ = new WhatIfPanel(this);
  auto* scroll = new QScrollArea(this);
  scroll->setWidget(what_if_);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  what_if_dock_ = add_dock("What if", "what-if", scroll);
  tabifyDockWidget(answers_dock_, run_dock_);
  tabifyDockWidget(run_dock_, what_if_dock_);
  answers_dock_->raise();
  resizeDocks({answers_dock_}, {330}, Qt::Horizontal);
}

void MainWindow::connect_all() {
  connect(database_, &Database::runs_loaded, this, &MainWindow::show_runs);
  connect(database_, &Database::failed, this, [this](const QString& message) {
    failed_ = true;
    error_bar_->show_message(message, "Try again");
    update_status();
  });
  connect(database_, &Database::changed, this, [this] {
    note_bar_->show_message(
        "The database has new results. The table stays as it is until it is "
        "refreshed (F5).",
        "Refresh");
  });
  connect(database_, &Database::what_if_loaded, what_if_, &WhatIfPanel::set_base);
  connect(editor_, &ScenarioEditor::changed, this, &MainWindow::update_status);
  connect(editor_->text(), &QPlainTextEdit::textChanged, this,
          [this] { setProperty("discards", false); });
  connect(run_panel_, &RunPanel::start_requested, this, &MainWindow::start_scenario);
  connect(what_if_, &WhatIfPanel::scenario_wanted, this, &MainWindow::take_copied_scenario);
  connect(database_, &Database::timelines_loaded, timeline_, &TimelineView::set_timelines);
  connect(database_, &Database::timelines_loaded, this, &MainWindow::go_to_range);
  connect(error_bar_, &MessageBar::action_triggered, database_, &Database::refresh);
  connect(note_bar_, &MessageBar::action_triggered, database_, &Database::refresh);
  connect(selection_, &RunSelection::changed, this, &MainWindow::show_current_run);
  connect(table_, &RunTable::view_changed, this, &MainWindow::show_current_run);
  connect(table_, &RunTable::message, this,
          [this](const QString& text) { statusBar()->showMessage(text, 5000); });
  connect(table_->table(), &QTableView::doubleClicked, this,
          [this] { charts_->setCurrentWidget(timeline_page_); });
  connect(database_, &Database::topology_loaded, topology_, &TopologyView::set_topology);
  connect(charts_, &QTabWidget::currentChanged, this, &MainWindow::show_topology);
  connect(timeline_, &TimelineView::middle_changed, topology_, &TopologyView::set_time);
  connect(topology_, &TopologyView::time_chosen, timeline_, &TimelineView::centre_on);
  connect(run_panel_, &RunPanel::open_requested, this, &MainWindow::choose_scenario);
  connect(run_panel_, &RunPanel::state_changed, this, &MainWindow::update_status);
  connect(run_panel_, &RunPanel::ended, this, &MainWindow::on_run_ended);
}

void MainWindow::open_database(const QString& path) {
  const QString absolute = QFileInfo(path).absoluteFilePath();
  failed_ = false;
  error_bar_->hide();
  note_bar_->hide();
  selection_->clear();
  table_->set_runs(make_run_set({}));
  run_panel_->set_database(absolute);
  setWindowTitle(QFileInfo(path).fileName() + " – Gradwire");
  database_->open(absolute);
  history_.clear();
  open_views();
  remember_recent(absolute);
}

void MainWindow::open_scenario(const QString& path) {
  run_panel_->set_scenario(path);
  if (QFileInfo(editor_->path()) != QFileInfo(path)) open_in_editor(path);
  run_dock_->show();
  run_dock_->raise();
  if (selection_->current() == 0) database_->request_what_if(0, path);
  remember_recent(QFileInfo(path).absoluteFilePath());
}

void MainWindow::open_any(const QString& path) {
  if (is_scenario_file(path)) {
    open_scenario(path);
  } else {
    open_database(path);
  }
}

void MainWindow::show_runs(const Snapshot& runs) {
  failed_ = false;
  error_bar_->hide();
  note_bar_->hide();
  table_->set_runs(runs);
  editor_->set_runs(runs);
  // A refreshed run may have a longer timeline.
  timeline_run_ = topology_run_ = 0;
  show_current_run();
  visit_view();
  if (const QString link = std::exchange(options_.link, {}); !link.isEmpty()) open_link(link);
  emit runs_shown();
}

RunId MainWindow::compared_run() const {
  if (!comparing_) return 0;
  const std::vector<RunId>& runs = selection_->runs();
  if (runs.size() == 2) return runs[0] == selection_->current() ? runs[1] : runs[0];
  const auto* baseline = table_->view().baseline();
  return baseline ? baseline->id : 0;
}

void MainWindow::show_current_run() {
  const RunId current = selection_->current(), second = compared_run();
  const bool other = current != timeline_run_;
  if (other || second != second_run_) {
    timeline_run_ = current;
    second_run_ = second;
    if (current == 0) timeline_->set_timelines(nullptr);
    database_->request_timelines(current, second);
  }
  if (other) {
    database_->request_what_if(current, run_panel_->scenario());
    show_topology();
  }
  update_status();
}

/// Building a large network takes a while: only for who looks at it.
void MainWindow::show_topology() {
  const RunId current = selection_->current();
  if (charts_->currentWidget() != topology_ || current == topology_run_) return;
  topology_run_ = current;
  if (current == 0) topology_->set_topology(nullptr);
  database_->request_topology(current);
}

void MainWindow::on_run_ended(RunProcess::Outcome outcome, const QString& message) {
  if (outcome == RunProcess::Outcome::kFailed) {
    error_bar_->show_message(message, "Refresh");
  } else {
    statusBar()->showMessage(message, 8000);
  }
  if (outcome != RunProcess::Outcome::kFailed || !failed_) database_->refresh();
  if (property("closing").toBool()) close();
}

void MainWindow::update_status() {
  const RunView& view = table_->view();
  const QString file = QFileInfo(database_->path()).fileName();
  status_runs_->setText(
      failed_ ? QString("%1: not readable").arg(file)
              : QString("%1: %2 runs").arg(file, QLocale::c().toString(view.total())));
  const std::size_t selected = selection_->runs().size();
  status_selection_->setText(QString("%1 selected").arg(selected));
  const bool running = run_panel_->process()->running();
  status_process_->setText(running ? run_panel_->state_text() : QString("nothing running"));
  const bool scenario = !run_panel_->scenario().isEmpty() || editor_->modified();
  if (start_) start_->setEnabled(!running && scenario);
  if (save_scenario_) save_scenario_->setEnabled(editor_->modified());
  charts_->setTabText(charts_->indexOf(editor_), editor_->modified() ? "Scenario *" : "Scenario");
  if (cancel_) cancel_->setEnabled(running);
  if (pause_) pause_->setEnabled(running);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (options_.remember) save_settings();
  if (!discards_edits()) return event->ignore();
  if (!run_panel_->process()->running() || run_panel_->process()->cancelling()) {
    event->accept();
    return;
  }
  setProperty("closing", true);
  run_panel_->cancel();
  note_bar_->show_message(
      "Cancelling the run; the window closes when its results are saved. Close "
      "it again to end the run at once.");
  event->ignore();
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  if (event->mimeData()->hasUrls()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  for (const QUrl& url : event->mimeData()->urls()) {
    if (url.isLocalFile()) open_any(url.toLocalFile());
  }
}

}  // namespace gradwire::gui
