#pragma once
#include <QComboBox>
#include <QLabel>
#include <QListView>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QTimer>
#include <QWidget>
#include <map>

#include "gui/charts/figure_view.h"
#include "gui/jobs/live_curves.h"
#include "gui/jobs/run_process.h"
#include "gui/jobs/run_queue_model.h"

namespace gradwire::gui {

/// Chooses a scenario file, runs it as a child process, and shows how far it is. Never modal.
class RunPanel : public QWidget {
  Q_OBJECT

 public:
  explicit RunPanel(QWidget* parent = nullptr);

  void set_scenario(const QString& path);
  QString scenario() const;
  void set_database(const QString& path) { database_ = path; }
  RunProcess* process() { return &process_; }
  RunQueueModel* queue() { return queue_; }
  FigureView* curve() { return curve_; }
  QString state_text() const { return state_->text(); }
  QString log_text() const { return log_->toPlainText(); }

 public slots:
  void start();
  void cancel();
  void toggle_pause();

 signals:
  void open_requested();
  /// The button was pressed: what is edited is saved before it runs.
  void start_requested();
  void state_changed();
  void ended(gradwire::gui::RunProcess::Outcome outcome, const QString& message);

 private:
  void build();
  void connect_process();
  void flush();
  void update_state();
  void log(const QString& line);

  RunProcess process_;
  QString database_;
  RunQueueModel* queue_;
  QComboBox* scenario_;
  QPushButton* start_;
  QPushButton* pause_;
  QPushButton* cancel_;
  QProgressBar* total_;
  QLabel* state_;
  QListView* list_;
  FigureView* curve_;
  LiveCurves curves_;
  QPlainTextEdit* log_;
  QTimer flush_timer_;
  std::map<int, RunProgress> pending_;
  int runs_ = 0;
};

}  // namespace gradwire::gui
