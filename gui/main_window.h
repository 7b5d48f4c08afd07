#pragma once
#include <QDockWidget>
#include <QLabel>
#include <QMainWindow>
#include <QSplitter>
#include <QTabWidget>

#include "gui/answers/answers_panel.h"
#include "gui/charts/parallel_view.h"
#include "gui/charts/tradeoff_view.h"
#include "gui/editor/scenario_editor.h"
#include "gui/jobs/latest_job.h"
#include "gui/jobs/run_panel.h"
#include "gui/models/database.h"
#include "gui/models/deep_link.h"
#include "gui/models/run_selection.h"
#include "gui/scaling/scaling_view.h"
#include "gui/timeline/timeline_page.h"
#include "gui/topology/topology_view.h"
#include "gui/views/colour_scheme.h"
#include "gui/views/export_view.h"
#include "gui/views/group_table.h"
#include "gui/views/message_bar.h"
#include "gui/views/run_table.h"
#include "gui/whatif/what_if_panel.h"

namespace gradwire::gui {

struct WindowOptions {
  QString database = "gradwire.db";
  QString scenario;
  /// Window layout and recent files in the user's settings; off in tests.
  bool remember = true;
  /// Shown as soon as the database is read: "run:42@1.20s..1.31s" (models/deep_link.h).
  QString link = {};
};

/// The desktop program's window: run panel, charts, run table, one selection for all of them.
class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  MainWindow(const WindowOptions& options, Database::Opener opener);

  void open_database(const QString& path);
  void open_scenario(const QString& path);
  /// A run of this database, at a range of time. Errors appear in the window.
  void open_link(const QString& text);
  /// "run:42@1.2s..1.31s": the current run at what its timeline shows; empty without a run.
  QString link_here() const;
  /// Writes the report of the shown runs that ended, and opens it in the browser.
  void write_report(const QString& file);
  /// Saves the chart in front; the ending decides the format. Errors appear in the window.
  void export_chart(const QString& file);
  /// What the chart in front shows, as a table; without a header where that tab has no chart.
  DataTable chart_as_table() const;
  /// The runs that the table shows, in its order: .json, else CSV.
  void export_runs(const QString& file);

  RunTable* table() { return table_; }
  RunSelection* selection() { return selection_; }
  TradeoffView* tradeoff() { return tradeoff_; }
  ScalingView* scaling() { return scaling_; }
  ScenarioEditor* editor() { return editor_; }
  TopologyView* topology() { return topology_; }
  ParallelView* parallel() { return parallel_; }
  void set_export_options(const ExportOptions& options) { export_options_ = options; }
  /// Under a name, beside the database.
  void save_view(const QString& name);
  ViewState view_state() const;
  void show_view(const ViewState& view);
  QMenu* views_menu() { return views_menu_; }
  GroupTable* groups() { return groups_; }
  TimelineView* timeline() { return timeline_page_->timeline(); }
  TimelinePage* timeline_page() { return timeline_page_; }
  AnswersPanel* answers() { return answers_; }
  RunPanel* run_panel() { return run_panel_; }
  WhatIfPanel* what_if() { return what_if_; }
  QTabWidget* charts() { return charts_; }
  QString error_text() const { return error_bar_->text(); }
  QString note_text() const { return note_bar_->text(); }

 signals:
  /// The runs of the database are in the table.
  void runs_shown();
  void report_written(const QString& file);

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;

 private:
  void build();
  void build_docks();
  QDockWidget* add_dock(const char* title, const char* name, QWidget* content);
  void connect_all();
  void build_menus();
  void build_file_menu();
  void build_edit_menu();
  void build_view_menu();
  void add_places(QMenu* menu);
  void add_panels(QMenu* menu);
  void add_chart_actions(QMenu* menu);
  void add_table_switches(QMenu* menu);
  void add_look(QMenu* menu);
  QAction* add_switch(QMenu* menu, const QString& text, const QKeySequence& keys, bool on,
                      std::function<void(bool on)> work);
  void build_run_menu();
  void build_help_menu();
  QAction* add_action(QMenu* menu, const QString& text, const QList<QKeySequence>& keys,
                      std::function<void()> work);

  void choose_database();
  void choose_scenario();
  void choose_export();
  void choose_runs_export();
  void choose_save(const QString& title, const QString& name, const QString& formats,
                   void (MainWindow::*save)(const QString&));
  void exporting(const QString& file, const std::function<void()>& save);
  void open_in_editor(const QString& path);
  void open_any(const QString& path);
  void show_runs(const Snapshot& runs);
  void show_current_run();
  /// The run to draw below the current one's timeline: the other one of two selected, else the
  /// baseline; 0: none.
  results::RunId compared_run() const;
  void show_dock(QDockWidget* dock, QWidget* focus);
  void show_what_if();
  void show_topology();
  void connect_history();
  void visit_view();
  void go(bool back);
  void open_views();
  void rebuild_views();
  void ask_view_name();
  void exporting_quietly(const std::function<void()>& work);
  void next_colours();
  void show_chart_table();
  void show_queries();
  void ask_report();
  void copy_link();
  void go_to_range();
  void show_palette(const QString& title, const QString& hint, std::vector<PaletteEntry> entries);
  void show_tab(QWidget* tab, QWidget* focus);
  /// Charts of the tab in front; empty for the timeline.
  std::vector<FigureView*> front_charts() const;
  /// Whether the tab in front is a picture.
  bool has_picture() const;
  void build_shipped_menu(QMenu* menu);
  void open_shipped(const QString& file);
  /// Where the text is no file yet, asks for one; `then` is called when it is saved.
  void save_scenario(const std::function<void()>& then = {});
  void save_scenario_as(const std::function<void()>& then = {});
  void start_scenario();
  bool discards_edits();
  void take_copied_scenario(const QString& text, const QString& near_file);
  void on_run_ended(RunProcess::Outcome outcome, const QString& message);
  void update_status();
  void reset_chart();
  void zoom_chart(bool in);
  void maximise(bool on);
  void reset_layout();
  void restore_settings();
  void save_settings() const;
  void remember_recent(const QString& path);
  void rebuild_recent();

  WindowOptions options_;
  Database* database_;
  RunSelection* selection_;
  MessageBar* error_bar_;
  MessageBar* note_bar_;
  QTabWidget* charts_;
  TradeoffView* tradeoff_;
  TimelinePage* timeline_page_;
  TimelineView* timeline_;
  GroupTable* groups_;
  ScalingView* scaling_;
  ScenarioEditor* editor_;
  TopologyView* topology_;
  ParallelView* parallel_;
  RunTable* table_;
  QSplitter* splitter_;
  QDockWidget* run_dock_;
  RunPanel* run_panel_;
  QDockWidget* answers_dock_;
  AnswersPanel* answers_;
  QDockWidget* what_if_dock_;
  WhatIfPanel* what_if_;
  QLabel* status_runs_;
  QLabel* status_selection_;
  QLabel* status_process_;
  QMenu* recent_ = nullptr;
  QMenu* views_menu_ = nullptr;
  ViewHistory history_;
  SavedViews saved_views_;
  QTimer history_timer_;
  bool restoring_ = false;
  ExportOptions export_options_;
  QAction* only_differing_ = nullptr;
  QAction* maximise_ = nullptr;
  QAction* save_scenario_ = nullptr;
  QAction* start_ = nullptr;
  QAction* pause_ = nullptr;
  QAction* cancel_ = nullptr;
  QByteArray first_layout_;
  results::RunId timeline_run_ = 0, second_run_ = 0, topology_run_ = 0;
  bool comparing_ = true;
  std::optional<DeepLink> going_to_;  ///< whose timeline is not there yet
  LatestJob report_job_{"report"};
  ColourScheme colours_ = ColourScheme::kDesktop;
  bool failed_ = false;
};

}  // namespace gradwire::gui
