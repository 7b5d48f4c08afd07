#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenuBar>
#include <QMessageBox>
#include <QSettings>
#include <QStatusBar>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "gui/main_window.h"
#include "gui/views/command_palette.h"
#include "gui/views/export_view.h"
#include "gui/views/key_sheet.h"
#include "results/export.h"

namespace gradwire::gui {

namespace {
constexpr int kRecentFiles = 10;

/// "front.svg" of the second panel of several is "front-2.svg".
QString panel_file(const QString& file, std::size_t panel, std::size_t panels) {
  const QFileInfo info(file);
  if (panels < 2 || info.suffix().isEmpty()) return file;
  return info.path() + "/" + info.completeBaseName() + QString("-%1.").arg(panel + 1) +
         info.suffix();
}
}  // namespace

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
  add_action(menu, "Export the s&hown runs…", {QKeySequence("Ctrl+Shift+E")},
             [this] { choose_runs_export(); });
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
  add_action(menu, "&Trade-off", {QKeySequence("Ctrl+1")}, [this] {
    charts_->setCurrentWidget(tradeoff_);
    tradeoff_->chart()->setFocus();
  });
  add_action(menu, "T&imeline", {QKeySequence("Ctrl+2")}, [this] {
    charts_->setCurrentWidget(timeline_page_);
    timeline_->setFocus();
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
  add_action(menu, "Scalin&g curves", {QKeySequence("Ctrl+7")},
             [this] { show_tab(scaling_, scaling_->chart()); });
  add_action(menu, "Sce&nario: text and form", {QKeySequence("Ctrl+8")},
             [this] { show_tab(editor_, editor_->text()); });
  add_action(menu, "Fields of the scenario", {QKeySequence("Ctrl+9")},
             [this] { show_tab(editor_, editor_->form()->search()); });
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

void MainWindow::show_tab(QWidget* tab, QWidget* focus) {
  charts_->setCurrentWidget(tab);
  focus->setFocus();
}

void MainWindow::show_what_if() {
  what_if_dock_->show();
  what_if_dock_->raise();
  what_if_->focus_first();
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
    auto* palette = new CommandPalette(menuBar(), this);
    palette->show();
    palette->activateWindow();
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

void MainWindow::choose_database() {
  auto* dialog =
      new QFileDialog(this, "Open results database", QFileInfo(database_->path()).absolutePath(),
                      "Results databases (*.db *.sqlite);;All files (*)");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::open_database);
  dialog->open();
}

void MainWindow::choose_scenario() {
  const QString folder = run_panel_->scenario().isEmpty()
                             ? QString()
                             : QFileInfo(run_panel_->scenario()).absolutePath();
  auto* dialog =
      new QFileDialog(this, "Open scenario", folder, "Scenarios (*.json);;All files (*)");
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::open_scenario);
  dialog->open();
}

void MainWindow::choose_save(const QString& title, const QString& name, const QString& formats,
                             void (MainWindow::*save)(const QString&)) {
  auto* dialog = new QFileDialog(this, title, name, formats);
  dialog->setAcceptMode(QFileDialog::AcceptSave);
  dialog->setDefaultSuffix(QFileInfo(name).suffix());
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &QFileDialog::fileSelected, this, save);
  dialog->open();
}

void MainWindow::choose_export() {
  if (front_charts().empty()) {
    choose_save("Export the timeline", "timeline.pdf",
                "PDF (*.pdf);;Picture (*.png);;Segments (*.csv)", &MainWindow::export_chart);
  } else {
    const bool scaling = charts_->currentWidget() == scaling_;
    choose_save("Export the chart", scaling ? "scaling.svg" : "trade-off.svg",
                "SVG (*.svg);;PDF (*.pdf);;Picture (*.png);;Points (*.csv)",
                &MainWindow::export_chart);
  }
}

void MainWindow::choose_runs_export() {
  choose_save("Export the shown runs", "runs.csv", "CSV (*.csv);;JSON (*.json)",
              &MainWindow::export_runs);
}

void MainWindow::exporting(const QString& file, const std::function<void()>& save) {
  // A slot is called by Qt, which knows no exceptions: the error ends here, as a message.
  try {
    save();
    statusBar()->showMessage("Exported " + file, 5000);
  } catch (const Error& error) {
    error_bar_->show_message(QString::fromUtf8(error.what()));
  }
}

void MainWindow::export_chart(const QString& file) {
  exporting(file, [&] {
    const std::vector<FigureView*> charts = front_charts();
    if (charts.empty()) return export_timeline(*timeline_, file);
    for (std::size_t i = 0; i < charts.size(); ++i) {
      export_figure(charts[i]->figure(), charts[i]->x_view(), charts[i]->y_view(), font(),
                    panel_file(file, i, charts.size()));
    }
  });
}

std::vector<FigureView*> MainWindow::front_charts() const {
  if (charts_->currentWidget() == timeline_page_) return {};
  std::vector<FigureView*> charts;
  if (charts_->currentWidget() == scaling_) {
    charts.push_back(scaling_->chart());
    if (!scaling_->residuals()->isHidden()) charts.push_back(scaling_->residuals());
    return charts;
  }
  for (std::size_t i = 0; i < tradeoff_->panels(); ++i) charts.push_back(tradeoff_->panel(i));
  return charts;
}

void MainWindow::export_runs(const QString& file) {
  exporting(file, [&] {
    std::vector<results::RunSummary> runs;
    for (int row = 0; row < table_->view().rows(); ++row) runs.push_back(table_->view().at(row));
    const auto format = file.endsWith(".json", Qt::CaseInsensitive) ? results::ExportFormat::kJson
                                                                    : results::ExportFormat::kCsv;
    write_file(file.toStdString(), results::export_runs(runs, format));
  });
}

void MainWindow::reset_chart() {
  if (charts_->currentWidget() == timeline_page_) {
    timeline_->reset_zoom();
  } else {
    for (FigureView* chart : front_charts()) chart->reset_zoom();
  }
}

void MainWindow::zoom_chart(bool in) {
  if (charts_->currentWidget() == timeline_page_) {
    in ? timeline_->zoom_in() : timeline_->zoom_out();
  } else {
    for (FigureView* chart : front_charts()) in ? chart->zoom_in() : chart->zoom_out();
  }
}

void MainWindow::next_colours() {
  colours_ = colours_ == ColourScheme::kDesktop ? ColourScheme::kLight
             : colours_ == ColourScheme::kLight ? ColourScheme::kDark
                                                : ColourScheme::kDesktop;
  apply(colours_);
  statusBar()->showMessage(colours_ == ColourScheme::kLight  ? "Light colours"
                           : colours_ == ColourScheme::kDark ? "Dark colours"
                                                             : "The desktop's colours",
                           3000);
}

void MainWindow::maximise(bool on) {
  table_->setVisible(!on);
  run_dock_->setVisible(!on);
  what_if_dock_->setVisible(!on);
}

void MainWindow::reset_layout() {
  maximise_->setChecked(false);
  restoreState(first_layout_);
  run_dock_->show();
  what_if_dock_->show();
  splitter_->setSizes({3 * height() / 5, 2 * height() / 5});
}

void MainWindow::restore_settings() {
  const QSettings settings;
  restoreGeometry(settings.value("window/geometry").toByteArray());
  restoreState(settings.value("window/state").toByteArray());
  splitter_->restoreState(settings.value("window/splitter").toByteArray());
  only_differing_->setChecked(settings.value("table/only_differing").toBool());
  colours_ = static_cast<ColourScheme>(settings.value("window/colours").toInt());
  if (colours_ != ColourScheme::kDesktop) apply(colours_);
  const QString scenario = settings.value("run/scenario").toString();
  if (options_.scenario.isEmpty() && QFileInfo::exists(scenario)) {
    run_panel_->set_scenario(scenario);
  }
}

void MainWindow::save_settings() const {
  if (maximise_->isChecked()) maximise_->setChecked(false);
  QSettings settings;
  settings.setValue("window/geometry", saveGeometry());
  settings.setValue("window/state", saveState());
  settings.setValue("window/splitter", splitter_->saveState());
  settings.setValue("window/colours", static_cast<int>(colours_));
  settings.setValue("table/only_differing", table_->only_differing());
  settings.setValue("run/scenario", run_panel_->scenario());
}

void MainWindow::remember_recent(const QString& path) {
  if (!options_.remember) return;
  QSettings settings;
  QStringList files = settings.value("recent").toStringList();
  files.removeAll(path);
  files.prepend(path);
  settings.setValue("recent", QStringList(files.mid(0, kRecentFiles)));
  rebuild_recent();
}

void MainWindow::rebuild_recent() {
  recent_->clear();
  const QStringList files =
      options_.remember ? QSettings().value("recent").toStringList() : QStringList();
  for (const QString& file : files) {
    add_action(recent_, file, {}, [this, file] { open_any(file); });
  }
  recent_->setEnabled(!files.isEmpty());
}

}  // namespace gradwire::gui
