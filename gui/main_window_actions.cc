#include <QFileInfo>
#include <QMenu>
#include <QSettings>
#include <QStatusBar>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "gui/main_window.h"
#include "gui/views/export_view.h"
#include "gui/views/file_dialog.h"
#include "results/export/export.h"

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

void MainWindow::show_tab(QWidget* tab, QWidget* focus) {
  charts_->setCurrentWidget(tab);
  focus->setFocus();
}

void MainWindow::show_dock(QDockWidget* dock, QWidget* focus) {
  dock->show();
  dock->raise();
  focus->setFocus();
}

void MainWindow::show_what_if() {
  what_if_dock_->show();
  what_if_dock_->raise();
  what_if_->focus_first();
}

void MainWindow::choose_database() {
  show_file_dialog(this,
                   {"Open results database", QFileInfo(database_->path()).absolutePath(),
                    "Results databases (*.db *.sqlite);;All files (*)"},
                   [this](const QString& file) { open_database(file); });
}

void MainWindow::choose_scenario() {
  const QString folder = run_panel_->scenario().isEmpty()
                             ? QString()
                             : QFileInfo(run_panel_->scenario()).absolutePath();
  show_file_dialog(this, {"Open scenario", folder, "Scenarios (*.json);;All files (*)"},
                   [this](const QString& file) { open_scenario(file); });
}

void MainWindow::choose_save(const QString& title, const QString& name, const QString& formats,
                             void (MainWindow::*save)(const QString&)) {
  show_file_dialog(this, {title, name, formats, true},
                   [this, save](const QString& file) { (this->*save)(file); });
}

bool MainWindow::has_picture() const {
  const QWidget* front = charts_->currentWidget();
  return front == tradeoff_ || front == scaling_ || front == timeline_page_ || front == topology_;
}

void MainWindow::choose_export() {
  if (!has_picture()) {
    statusBar()->showMessage(
        "This tab has no picture to export: trade-off, scaling, timeline and network have.", 5000);
    return;
  }
  if (charts_->currentWidget() == topology_) {
    return choose_save("Export the network", "network.pdf", "PDF (*.pdf);;Picture (*.png)",
                       &MainWindow::export_chart);
  }
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
    if (charts_->currentWidget() == topology_) {
      return export_painted(
          [this](QPainter& painter, const QSizeF& size) {
            topology_->map()->paint_for_paper(painter, size);
          },
          file, export_options_);
    }
    const std::vector<FigureView*> charts = front_charts();
    if (charts.empty()) return export_timeline(*timeline_, file);
    for (std::size_t i = 0; i < charts.size(); ++i) {
      export_figure(charts[i]->figure(), charts[i]->x_view(), charts[i]->y_view(), font(),
                    panel_file(file, i, charts.size()), export_options_);
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
  for (QDockWidget* dock : {answers_dock_, run_dock_, what_if_dock_}) dock->setVisible(!on);
}

void MainWindow::reset_layout() {
  maximise_->setChecked(false);
  restoreState(first_layout_);
  for (QDockWidget* dock : {answers_dock_, run_dock_, what_if_dock_}) dock->show();
  splitter_->setSizes({3 * height() / 5, 2 * height() / 5});
}

void MainWindow::restore_settings() {
  const QSettings settings;
  restoreGeometry(settings.value("window/geometry").toByteArray());
  restoreState(settings.value("window/state").toByteArray());
  splitter_->restoreState(settings.value("window/splitter").toByteArray());
  only_differing_->setChecked(settings.value("table/only_differing").toBool());
  const ExportOptions usual;
  export_options_ = {settings.value("export/width_mm", usual.width_mm).toDouble(),
                     settings.value("export/height_mm", usual.height_mm).toDouble(),
                     settings.value("export/font_pt", usual.font_pt).toDouble(),
                     settings.value("export/png_scale", usual.png_scale).toDouble()};
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
  settings.setValue("export/width_mm", export_options_.width_mm);
  settings.setValue("export/height_mm", export_options_.height_mm);
  settings.setValue("export/font_pt", export_options_.font_pt);
  settings.setValue("export/png_scale", export_options_.png_scale);
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
