#include <QApplication>
#include <QClipboard>
#include <QMenuBar>
#include <QMessageBox>
#include <QStatusBar>

#include "gui/main_window.h"
#include "gui/views/command_palette.h"
#include "gui/views/export_settings.h"
#include "gui/views/key_sheet.h"

namespace gradwire::gui {

QAction* MainWindow::add_action(QMenu* menu, const QString& text, const QList<QKeySequence>& keys,
                                std::function<void()> work) {
  QAction* action = menu->addAction(text);
  action->setShortcuts(keys);
  connect(action, &QAction::triggered, this, [work = std::move(work)] { work(); });
  return action;
}

void MainWindow::build_menus() {
  build_file_menu();
  build_edit_menu();
  build_view_menu();
  build_run_menu();
  build_help_menu();
}

void MainWindow::build_file_menu() {
  QMenu* menu = menuBar()->addMenu("&File");
  add_action(menu, "&Open results database…", {QKeySequence::Open}, [this] { choose_database(); });
  add_action(menu, "Open &scenario…", {QKeySequence("Ctrl+Shift+O")},
             [this] { choose_scenario(); });
  build_shipped_menu(menu->addMenu("&New scenario from"));
  save_scenario_ =
      add_action(menu, "S&ave the scenario", {QKeySequence::Save}, [this] { save_scenario(); });
  add_action(menu, "Save the scenario as…", {QKeySequence("Ctrl+Shift+S")},
             [this] { save_scenario_as(); });
  recent_ = menu->addMenu("Open &recent");
  rebuild_recent();
  menu->addSeparator();
  add_action(menu, "Re&fresh", {QKeySequence("F5"), QKeySequence("Ctrl+R")},
             [this] { database_->refresh(); });
  add_action(menu, "&Export the chart…", {QKeySequence("Ctrl+E")}, [this] { choose_export(); });
  add_action(menu, "Si&ze of exported charts…", {QKeySequence("Ctrl+Alt+E")}, [this] {
    auto* dialog = new ExportSettings(export_options_, this);
    connect(dialog, &ExportSettings::changed, this, &MainWindow::set_export_options);
    dialog->show();
  });
  add_action(menu, "Export the s&hown runs…", {QKeySequence("Ctrl+Shift+E")},
             [this] { choose_runs_export(); });
  add_action(menu, "Re&port of the shown runs…", {QKeySequence("Ctrl+Alt+R")},
             [this] { ask_report(); });
  add_action(menu, "Copy a &link to this place", {QKeySequence("Ctrl+Alt+L")},
             [this] { copy_link(); });
  menu->addSeparator();
  add_action(menu, "&Quit", {QKeySequence("Ctrl+Q")}, [this] { close(); });
}

void MainWindow::build_edit_menu() {
  QMenu* menu = menuBar()->addMenu("&Edit");
  add_action(menu, "&Copy selected runs", {QKeySequence::Copy}, [this] {
    QApplication::clipboard()->setText(table_->copied_text());
    statusBar()->showMessage(
        QString("Copied %1 runs in full precision.").arg(selection_->runs().size()), 3000);
  });
  add_action(menu, "&Filter runs", {QKeySequence::Find, QKeySequence("Ctrl+P")}, [this] {
    table_->filter_field()->setFocus();
    table_->filter_field()->selectAll();
  });
  add_action(menu, "Find a colu&mn…", {QKeySequence("Ctrl+Shift+G")}, [this] {
    show_palette("Columns", "Type a few letters of a column's name", table_->column_entries());
  });
  add_action(menu, "Select &all shown runs", {QKeySequence::SelectAll},
             [this] { table_->table()->selectAll(); });
  add_action(menu, "&Undo scenario edit", {QKeySequence::Undo},
             [this] { editor_->text()->undo(); });
  add_action(menu, "&Redo scenario edit", {QKeySequence::Redo},
             [this] { editor_->text()->redo(); });
  add_action(menu, "Next pro&blem of the scenario", {QKeySequence("F8")}, [this] {
    charts_->setCurrentWidget(editor_);
    editor_->jump_to_next();
  });
  add_action(menu, "C&lear selection", {QKeySequence("Esc")}, [this] { selection_->clear(); });
  menu->addSeparator();
  add_action(menu, "Set or clear &baseline", {QKeySequence("B")},
             [this] { table_->toggle_baseline(); });
  add_action(menu, "&Pin or unpin selected runs", {QKeySequence("P")},
             [this] { table_->toggle_pins(); });
  add_action(menu, "Clear pins and baseline", {QKeySequence("Ctrl+Shift+B")},
             [this] { table_->clear_pins(); });
}

void MainWindow::build_view_menu() {
  QMenu* menu = menuBar()->addMenu("&View");
  add_action(menu, "Bac&k", {QKeySequence("Alt+Left")}, [this] { go(true); });
  add_action(menu, "For&ward", {QKeySequence("Alt+Right")}, [this] { go(false); });
  add_action(menu, "Save this &view…", {QKeySequence("Ctrl+Shift+V")}, [this] { ask_view_name(); });
  views_menu_ = menu->addMenu("&Saved views");
  menu->addSeparator();
  add_action(menu, "&Trade-off", {QKeySequence("Ctrl+1")}, [this] {
    charts_->setCurrentWidget(tradeoff_);
    tradeoff_->chart()->setFocus();
  });
  add_action(menu, "T&imeline", {QKeySequence("Ctrl+2")}, [this] {
    charts_->setCurrentWidget(timeline_page_);
    timeline_->setFocus();
  });
  add_action(menu, "Fin&d in the timeline", {QKeySequence("Ctrl+Shift+F")},
             [this] { show_tab(timeline_page_, timeline_page_->find_field()); });
  QAction* second = menu->addAction("Timeline: a second run below it");
  second->setCheckable(true);
  second->setChecked(comparing_);
  second->setToolTip("The other one of two selected runs, else the baseline");
  second->setShortcut(QKeySequence("Ctrl+Shift+2"));
  connect(second, &QAction::toggled, this, [this](bool on) {
    comparing_ = on;
    show_current_run();
  });
  add_action(menu, "&Seeds: mean and spread", {QKeySequence("Ctrl+3")}, [this] {
    charts_->setCurrentWidget(groups_);
    groups_->table()->setFocus();
  });
  add_action(menu, "Run ta&ble", {QKeySequence("Ctrl+4")}, [this] { table_->table()->setFocus(); });
  QAction* panel = run_dock_->toggleViewAction();
  panel->setText("&Run panel");
  panel->setShortcut(QKeySequence("Ctrl+5"));
  menu->addAction(panel);
  add_action(menu, "Scaling &curves", {QKeySequence("Ctrl+7")},
             [this] { show_tab(scaling_, scaling_->chart()); });
  add_action(menu, "Sce&nario: text and form", {QKeySequence("Ctrl+8")},
             [this] { show_tab(editor_, editor_->text()); });
  add_action(menu, "Fields of the scenario", {QKeySequence("Ctrl+9")},
             [this] { show_tab(editor_, editor_->form()->search()); });
  add_action(menu, "Parall&el coordinates", {QKeySequence("Ctrl+Alt+2")},
             [this] { show_tab(parallel_, parallel_); });
  add_action(menu, "Take the marks of the parallel axes away", {QKeySequence("Ctrl+Alt+Backspace")},
             [this] { parallel_->clear_brushes(); });
  add_action(menu, "Net&work: map and load", {QKeySequence("Ctrl+Alt+1")},
             [this] { show_tab(topology_, topology_->map()); });
  add_action(menu, "Play the network, or pause", {QKeySequence("Ctrl+Shift+T")},
             [this] { topology_->toggle_play(); });
  add_action(menu, "&What if: the model's answer", {QKeySequence("Ctrl+6")},
             [this] { show_what_if(); });
  add_action(menu, "Copy what if to a scenario…", {QKeySequence("Ctrl+Shift+C")},
             [this] { what_if_->copy_to_scenario(); });
  add_action(menu, "What if: as it was", {QKeySequence("Ctrl+Shift+W")},
             [this] { what_if_->reset(); });
  menu->addSeparator();
  add_action(menu, "&Axes, colour and panels of the chart", {QKeySequence("Ctrl+Shift+A")}, [this] {
    charts_->setCurrentWidget(tradeoff_);
    tradeoff_->focus_choices();
  });
  menu->addSeparator();
  add_action(menu, "The chart as a table…", {QKeySequence("Ctrl+T")},
             [this] { show_chart_table(); });
  add_action(menu, "&Zoom in", {QKeySequence::ZoomIn}, [this] { zoom_chart(true); });
  add_action(menu, "Zoom &out", {QKeySequence::ZoomOut}, [this] { zoom_chart(false); });
  add_action(menu, "&Show everything in the chart", {QKeySequence("0"), QKeySequence("Ctrl+0")},
             [this] { reset_chart(); });
  menu->addSeparator();
  only_differing_ = menu->addAction("Only columns that &differ");
  only_differing_->setCheckable(true);
  only_differing_->setShortcut(QKeySequence("Ctrl+D"));
  connect(only_differing_, &QAction::toggled, table_, &RunTable::set_only_differing);
  connect(table_, &RunTable::only_differing_changed, only_differing_, &QAction::setChecked);
  QAction* lacking = menu->addAction("&Fields that only some runs have");
  lacking->setCheckable(true);
  lacking->setShortcut(QKeySequence("Ctrl+Shift+D"));
  connect(lacking, &QAction::toggled, table_, &RunTable::set_with_lacking);
  QAction* bits = menu->addAction("Sizes in b&its");
  bits->setCheckable(true);
  bits->setShortcut(QKeySequence("Ctrl+I"));
  connect(bits, &QAction::toggled, this, [this](bool on) {
    table_->set_number_style({on});
    timeline_->set_number_style(on);
  });
  menu->addSeparator();
  add_action(menu, "&Light, dark or the desktop's colours", {QKeySequence("Ctrl+Shift+K")},
             [this] { next_colours(); });
  maximise_ = menu->addAction("&Maximise the chart");
  maximise_->setCheckable(true);
  maximise_->setShortcuts({QKeySequence("F11"), QKeySequence("Ctrl+M")});
  connect(maximise_, &QAction::toggled, this, &MainWindow::maximise);
  add_action(menu, "Reset &layout", {QKeySequence("Ctrl+Shift+L")}, [this] { reset_layout(); });
}

void MainWindow::build_run_menu() {
  QMenu* menu = menuBar()->addMenu("&Run");
  start_ = add_action(menu, "&Start the scenario",
                      {QKeySequence("Ctrl+Return"), QKeySequence("Ctrl+Enter")},
                      [this] { start_scenario(); });
  pause_ = add_action(menu, "&Pause, or go on", {QKeySequence("Ctrl+Shift+R")},
                      [this] { run_panel_->toggle_pause(); });
  cancel_ = add_action(menu, "&Cancel", {QKeySequence("Ctrl+.")}, [this] { run_panel_->cancel(); });
}

void MainWindow::build_help_menu() {
  QMenu* menu = menuBar()->addMenu("&Help");
  add_action(menu, "&Keys", {QKeySequence("?"), QKeySequence("F1")}, [this] {
    auto* sheet = new KeySheet(menuBar(), this);
    sheet->show();
  });
  add_action(menu, "&Commands…", {QKeySequence("Ctrl+Shift+P")}, [this] {
    show_palette("Commands", "Type a few letters of what to do", menu_entries(*menuBar()));
  });
  add_action(menu, "&About Gradwire", {}, [this] {
    auto* box = new QMessageBox(QMessageBox::NoIcon, "About Gradwire",
                                "Gradwire: training over slow networks, measured and simulated.\n"
                                "Every figure says how it was obtained.",
                                QMessageBox::Close, this);
    box->setModal(false);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->show();
  });
}

}  // namespace gradwire::gui
