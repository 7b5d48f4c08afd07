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
  add_action(menu, "As&k in SQL, and saved queries…", {QKeySequence("Ctrl+Alt+Q")},
             [this] { show_queries(); });
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
