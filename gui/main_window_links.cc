#include <QApplication>
#include <QClipboard>
#include <QDesktopServices>
#include <QFileInfo>
#include <QStatusBar>
#include <QUrl>

#include "base/error.h"
#include "gui/main_window.h"
#include "gui/whatif/what_if_base.h"
#include "results/report/report.h"

/// Places that others can be sent to: links into a run's timeline, and reports.
namespace gradwire::gui {

using results::RunId;

void MainWindow::open_link(const QString& text) {
  try {
    const DeepLink link = parse_deep_link(text);
    if (!table_->view().find(link.run)) {
      throw Error(ErrorKind::kUsage, "open", text.toStdString(),
                  "this database has no run " + std::to_string(link.run),
                  "open the database that the link is of");
    }
    going_to_ = link;
    selection_->select({link.run}, link.run);
    show_tab(timeline_page_, timeline_);
    go_to_range();
  } catch (const Error& error) {
    error_bar_->show_message(QString::fromUtf8(error.what()));
  }
}

/// Once the timeline is there.
void MainWindow::go_to_range() {
  const TimelinePtr& shown = timeline_->tracks()[0];
  if (!going_to_ || !shown || shown->run != going_to_->run) return;
  if (going_to_->range) {
    timeline_->show_exactly(going_to_->range->from_s, going_to_->range->to_s);
  }
  going_to_.reset();
}

QString MainWindow::link_here() const {
  if (selection_->current() == 0) return {};
  DeepLink link{selection_->current(), {}};
  const TimelinePtr& shown = timeline_->tracks()[0];
  if (shown && shown->run == link.run && !shown->rows.rows.empty()) {
    const TimelineWindow& window = timeline_->window();
    link.range = {std::max(window.start_s, 0.0), window.end_s()};
  }
  return text_of(link);
}

void MainWindow::copy_link() {
  const QString link = link_here();
  if (link.isEmpty())
    return statusBar()->showMessage("Select a run first: the link is of it.", 5000);
  QApplication::clipboard()->setText(link);
  statusBar()->showMessage(QString("Copied %1 (gradwire gui %1 opens it)").arg(link), 8000);
}

void MainWindow::ask_report() {
  const QFileInfo database(database_->path());
  choose_save("Report of the shown runs",
              database.absolutePath() + "/" + database.completeBaseName() + "-report.html",
              "Pages (*.html)", &MainWindow::write_report);
}

void MainWindow::write_report(const QString& file) {
  std::vector<RunId> runs;
  for (int row = 0; row < table_->view().rows(); ++row) {
    const auto& run = table_->view().at(row);
    if (results::has_ended(run.status)) runs.push_back(run.id);
  }
  statusBar()->showMessage(QString("Writing the report of %1 runs …").arg(runs.size()));
  report_job_.start([this, runs = std::move(runs), file, opener = database_->opener(),
                     path = database_->path().toStdString()](const LatestJob::Current&) {
    QString problem;
    try {
      const auto store = opener(path);
      results::ReportOptions options;
      options.accuracy = knowledge_of({});
      results::write_report(*store, runs, file.toStdString(), options);
    } catch (const std::exception& error) {
      problem = QString::fromUtf8(error.what());
    }
    return [this, problem, file] {
      statusBar()->clearMessage();
      if (!problem.isEmpty()) return error_bar_->show_message(problem);
      statusBar()->showMessage("Report: " + file, 8000);
      QDesktopServices::openUrl(QUrl::fromLocalFile(file));
      emit report_written(file);
    };
  });
}

}  // namespace gradwire::gui
