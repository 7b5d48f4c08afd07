#include <QApplication>
#include <QDir>
#include <QFileInfo>
#include <QMenu>

#include "base/error.h"
#include "gui/main_window.h"
#include "gui/views/file_dialog.h"
#include "scenarios/share.h"

namespace gradwire::gui {

void MainWindow::build_shipped_menu(QMenu* menu) {
  try {
    const std::string folder = scenarios::share_folder();
    for (const std::string& name : scenarios::json_names(folder)) {
      const QString file = QString::fromStdString(folder + "/" + name + ".json");
      add_action(menu, QString::fromStdString(name), {}, [this, file] { open_shipped(file); });
    }
  } catch (const Error&) {
    menu->setEnabled(false);  // a program without its shipped files
  }
}

void MainWindow::open_in_editor(const QString& path) {
  // Edits are not thrown away for a file that is only opened to be run.
  if (editor_->modified() && QFileInfo::exists(editor_->path())) return;
  try {
    const auto file = QString::fromStdString(scenarios::find_scenario_file(path.toStdString()));
    editor_->open(file);
    // Found by its name it ships: edits of it are saved as a file of one's own.
    if (!QFileInfo::exists(path)) editor_->move_to(QDir::current().filePath(path + ".json"));
  } catch (const Error& error) {
    error_bar_->show_message(QString::fromUtf8(error.what()));
  }
}

/// As a text of one's own: what ships stays as it is.
void MainWindow::open_shipped(const QString& file) {
  QFile shipped(file);
  if (!shipped.open(QIODevice::ReadOnly)) {
    error_bar_->show_message(QString("cannot read %1: %2").arg(file, shipped.errorString()));
    return;
  }
  const QString own = QDir::current().filePath(QFileInfo(file).fileName());
  editor_->open_text(QString::fromUtf8(shipped.readAll()), own);
  show_tab(editor_, editor_->text());
}

void MainWindow::take_copied_scenario(const QString& text, const QString& near_file) {
  const QFileInfo near(near_file);
  const QString name = near.completeBaseName().isEmpty() ? "scenario" : near.completeBaseName();
  // Beside the scenario that it comes from, so that paths in it mean the same.
  const QString folder = near.exists() ? near.absolutePath() : QDir::currentPath();
  editor_->open_text(text, folder + "/" + name + "-what-if.json");
  show_tab(editor_, editor_->text());
}

void MainWindow::save_scenario(const std::function<void()>& then) {
  if (editor_->path().isEmpty() || !QFileInfo::exists(editor_->path())) {
    return save_scenario_as(then);
  }
  exporting(editor_->path(), [&] {
    editor_->save(editor_->path());
    if (then) then();
  });
}

void MainWindow::save_scenario_as(const std::function<void()>& then) {
  const auto save = [this, then](const QString& file) {
    exporting(file, [&] {
      editor_->save(file);
      run_panel_->set_scenario(file);
      remember_recent(QFileInfo(file).absoluteFilePath());
      if (then) then();
    });
  };
  show_file_dialog(this, {"Save the scenario", editor_->path(), "Scenarios (*.json)", true}, save);
}

void MainWindow::start_scenario() {
  const QFileInfo edited(editor_->path());
  const bool same = edited == QFileInfo(run_panel_->scenario());
  const bool new_text = !edited.exists() && charts_->currentWidget() == editor_;
  if (!editor_->modified() || (!same && !new_text)) return run_panel_->start();
  save_scenario([this] { run_panel_->start(); });
}

/// Edits that are no file yet are told of once; who closes again means it.
bool MainWindow::discards_edits() {
  if (!editor_->modified() || property("discards").toBool()) return true;
  setProperty("discards", true);
  show_tab(editor_, editor_->text());
  note_bar_->show_message(
      "The scenario has changes that are not saved (Ctrl+S). Close again to "
      "leave them.");
  return false;
}

}  // namespace gradwire::gui
