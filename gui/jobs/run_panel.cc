#include "gui/jobs/run_panel.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QJsonDocument>
#include <QSplitter>
#include <QToolButton>
#include <QVBoxLayout>

namespace gradwire::gui {

namespace {
constexpr int kFlushMs = 50;
constexpr int kLogLines = 5000;
}  // namespace

RunPanel::RunPanel(QWidget* parent) : QWidget(parent), queue_(new RunQueueModel(this)) {
  build();
  connect_process();
  flush_timer_.setSingleShot(true);
  flush_timer_.setInterval(kFlushMs);
  connect(&flush_timer_, &QTimer::timeout, this, &RunPanel::flush);
  update_state();
}

void RunPanel::build() {
  scenario_ = new QComboBox(this);
  scenario_->setAccessibleName("Scenario file");
  scenario_->setPlaceholderText("No scenario chosen");
  scenario_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  scenario_->setMinimumContentsLength(12);
  auto* open = new QToolButton(this);
  open->setText("Open…");
  open->setToolTip("Choose a scenario file (or drop one on the window)");
  start_ = new QPushButton("Start", this);
  start_->setToolTip("Run the scenario (Ctrl+Return)");
  pause_ = new QPushButton("Pause", this);
  pause_->setToolTip("Stop where it is; again: go on (Ctrl+Shift+R)");
  cancel_ = new QPushButton("Cancel", this);
  cancel_->setToolTip("Stop after the current step and keep what is done (Ctrl+.); again: at once");
  total_ = new QProgressBar(this);
  total_->setAccessibleName("Progress of all runs");
  state_ = new QLabel(this);
  state_->setWordWrap(true);
  state_->setTextFormat(Qt::PlainText);
  list_ = new RunQueueList(this);
  list_->setModel(queue_);
  list_->setItemDelegate(new RunQueueDelegate(list_));
  list_->setAccessibleName("Runs of the scenario");
  list_->setSelectionMode(QAbstractItemView::NoSelection);
  log_ = new QPlainTextEdit(this);
  log_->setReadOnly(true);
  log_->setMaximumBlockCount(kLogLines);
  log_->setLineWrapMode(QPlainTextEdit::NoWrap);
  log_->setPlaceholderText("The log of the run appears here.");
  log_->setAccessibleName("Log of the run");

  auto* file = new QHBoxLayout;
  file->addWidget(scenario_, 1);
  file->addWidget(open);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(start_, 1);
  buttons->addWidget(pause_, 1);
  buttons->addWidget(cancel_, 1);
  auto* split = new QSplitter(Qt::Vertical, this);
  split->addWidget(list_);
  curve_ = new FigureView(this);
  curve_->setAccessibleName("Training loss of the runs under way");
  curve_->hide();
  split->addWidget(curve_);
  split->addWidget(log_);
  split->setSizes({400, 220, 180});
  split->setStretchFactor(0, 3);
  split->setStretchFactor(1, 2);
  split->setStretchFactor(2, 1);
  split->setChildrenCollapsible(false);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(6, 6, 6, 6);
  layout->addLayout(file);
  layout->addLayout(buttons);
  layout->addWidget(total_);
  layout->addWidget(state_);
  layout->addWidget(split, 1);
  connect(open, &QToolButton::clicked, this, &RunPanel::open_requested);
  connect(start_, &QPushButton::clicked, this, &RunPanel::start_requested);
  connect(pause_, &QPushButton::clicked, this, &RunPanel::toggle_pause);
  connect(cancel_, &QPushButton::clicked, this, &RunPanel::cancel);
  connect(scenario_, &QComboBox::currentIndexChanged, this, &RunPanel::update_state);
}

void RunPanel::connect_process() {
  connect(&process_, &RunProcess::started, this, [this](const QString& command) {
    log("$ " + command);
    update_state();
  });
  connect(&process_, &RunProcess::cancel_sent, this, [this](bool killed) {
    log(killed ? "Ending the run at once." : "Cancelling: the run stops after its current step.");
    update_state();
  });
  connect(&process_, &RunProcess::pause_sent, this, [this](bool on) {
    log(on ? "Paused." : "Going on.");
    update_state();
  });
  connect(&process_, &RunProcess::progressed, this, [this](const RunProgress& progress) {
    curves_.add(progress);
    pending_[progress.run] = progress;
    runs_ = std::max(runs_, progress.runs);
    if (!flush_timer_.isActive()) flush_timer_.start();
  });
  connect(&process_, &RunProcess::run_finished, this, [this](const QJsonObject& row) {
    flush();
    queue_->finish_run(row);
    flush();
  });
  connect(&process_, &RunProcess::summarized, this, [this](const QJsonObject& summary) {
    log(QJsonDocument(summary).toJson(QJsonDocument::Compact));
  });
  connect(&process_, &RunProcess::error_reported, this,
          [this](const QString& message) { log("error: " + message); });
  connect(&process_, &RunProcess::logged, this, &RunPanel::log);
  connect(&process_, &RunProcess::ended, this,
          [this](RunProcess::Outcome outcome, const QString& message) {
            flush();
            queue_->end_all(outcome == RunProcess::Outcome::kCancelled ? QueueState::kCancelled
                            : outcome == RunProcess::Outcome::kFailed  ? QueueState::kFailed
                                                                       : QueueState::kFinished);
            log(message);
            update_state();
            state_->setText(message);
            emit ended(outcome, message);
          });
}

void RunPanel::set_scenario(const QString& path) {
  const QFileInfo chosen(path);
  scenario_->clear();
  const QFileInfoList files = chosen.dir().entryInfoList({"*.json"}, QDir::Files, QDir::Name);
  for (const QFileInfo& file : files) {
    if (file.fileName() == "schema.json") continue;
    scenario_->addItem(file.completeBaseName(), file.absoluteFilePath());
    scenario_->setItemData(scenario_->count() - 1, file.absoluteFilePath(), Qt::ToolTipRole);
  }
  int row = scenario_->findData(chosen.absoluteFilePath());
  if (row < 0) {
    scenario_->addItem(chosen.completeBaseName(), chosen.absoluteFilePath());
    row = scenario_->count() - 1;
  }
  scenario_->setCurrentIndex(row);
}

QString RunPanel::scenario() const {
  return scenario_->currentData().toString();
}

void RunPanel::start() {
  if (process_.running() || scenario().isEmpty()) return;
  queue_->clear();
  pending_.clear();
  curves_.clear();
  curve_->hide();
  runs_ = 0;
  process_.start(scenario(), database_);
}

void RunPanel::toggle_pause() {
  process_.pause(!process_.paused());
}

void RunPanel::cancel() {
  process_.cancel();
}

void RunPanel::flush() {
  const bool at_end = list_->currentIndex().row() == -1;
  for (const auto& [run, progress] : pending_) queue_->update(progress);
  pending_.clear();
  if (!curves_.empty()) {
    curve_->set_figure(curves_.figure());
    curve_->show();
  }
  if (at_end) list_->scrollToBottom();
  update_state();
}

void RunPanel::update_state() {
  const bool running = process_.running();
  start_->setEnabled(!running && !scenario().isEmpty());
  cancel_->setEnabled(running);
  pause_->setEnabled(running && !process_.cancelling());
  pause_->setText(running && process_.paused() ? "Go on" : "Pause");
  cancel_->setText(process_.cancelling() && running ? "End at once" : "Cancel");
  double done = queue_->done();
  for (const QueueEntry& entry : queue_->entries()) {
    if (entry.state == QueueState::kRunning && entry.progress.steps > 0) {
      done += double(entry.progress.step) / double(entry.progress.steps);
    }
  }
  const int runs = std::max(runs_, queue_->rowCount());
  total_->setVisible(running || runs > 0);
  total_->setRange(0, running && runs == 0 ? 0 : 1000);
  total_->setValue(runs > 0 ? int(done / runs * 1000) : 0);
  if (running) {
    state_->setText(process_.cancelling() ? "Cancelling…"
                    : process_.paused()   ? "Paused."
                    : runs == 0           ? "Starting…"
                                : QString("%1 of %2 runs done").arg(queue_->done()).arg(runs));
  } else if (queue_->rowCount() == 0) {
    state_->setText(scenario().isEmpty() ? "Open a scenario file, or drop one on the window."
                                         : "Ready.");
  }
  emit state_changed();
}

void RunPanel::log(const QString& line) {
  log_->appendPlainText(line);
}

}  // namespace gradwire::gui
