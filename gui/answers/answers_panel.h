#pragma once
#include <QTextBrowser>
#include <QTimer>
#include <QWidget>

#include "gui/jobs/latest_job.h"
#include "gui/models/database.h"
#include "gui/views/run_table.h"
#include "results/report/first_screen.h"

namespace gradwire::gui {

/// Of more runs the panel asks for a filter: reading them would take long.
inline constexpr int kMostAnsweredRuns = 2000;

/// What the panel shows; `problem`: why there is nothing to show.
struct Answers {
  results::FirstScreen screen;
  QString problem;
};

/// As rich text: a heading a workload, then a table of questions and answers for each line.
QString answers_html(const Answers& answers);

/// What a report of the shown runs says first: how many workers, over which link, with which
/// method, how fast, what accuracy, what cost, what is uncertain. It follows the table's filter.
class AnswersPanel : public QWidget {
  Q_OBJECT

 public:
  AnswersPanel(RunTable* table, Database* database, QWidget* parent = nullptr);

  QString text() const { return page_->toPlainText(); }
  QTextBrowser* page() { return page_; }

 signals:
  void answered();

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void ask();
  void take(const Answers& answers);

  RunTable* table_;
  Database* database_;
  QTextBrowser* page_;
  QTimer timer_;
  bool stale_ = true;
  std::vector<results::RunId> asked_;  ///< empty: whatever is shown is asked about anew
  LatestJob job_;
};

}  // namespace gradwire::gui
