#include "gui/answers/answers_panel.h"

#include <QLocale>
#include <QVBoxLayout>
#include <algorithm>

#include "gui/whatif/what_if_base.h"

namespace gradwire::gui {

namespace {

/// Filters are typed: a report a key would be wasted.
constexpr int kDelayMs = 250;

QString escaped(const std::string& text) {
  return QString::fromStdString(text).toHtmlEscaped();
}

QString line_html(const results::PlannerLine& line) {
  QString html;
  if (!line.conditions.empty()) html += "<p><b>" + escaped(line.conditions) + "</b></p>";
  html += "<table>";
  for (const results::PlannerColumn& column : results::kPlannerColumns) {
    html += QString("<tr><td style='padding-right:8px'>%1</td><td>%2</td></tr>")
                .arg(escaped(column.title), escaped(line.*column.text));
  }
  return html + "</table>";
}

Answers answers_of(const Database::Opener& opener, const std::string& path,
                   std::span<const results::RunId> runs) {
  Answers answers;
  try {
    results::ReportOptions options;
    options.accuracy = knowledge_of({});
    answers.screen = results::first_screen(*opener(path), runs, options);
  } catch (const std::exception& error) {
    // This runs at the top of a thread: an exception must end here, as a message.
    answers.problem = QString::fromUtf8(error.what());
  }
  return answers;
}

}  // namespace

QString answers_html(const Answers& answers) {
  if (!answers.problem.isEmpty()) return "<p>" + answers.problem.toHtmlEscaped() + "</p>";
  QString html;
  for (const results::PlannerPart& part : answers.screen.parts) {
    html += QString("<h3>%1: %2</h3>").arg(escaped(part.name), escaped(part.note));
    for (const results::PlannerLine& line : part.lines) html += line_html(line);
  }
  for (const std::string& words : answers.screen.unfinished)
    html += "<p>" + escaped(words) + "</p>";
  return html;
}

AnswersPanel::AnswersPanel(RunTable* table, Database* database, QWidget* parent)
    : QWidget(parent),
      table_(table),
      database_(database),
      page_(new QTextBrowser(this)),
      job_("answers", this) {
  page_->setAccessibleName("Answers of the shown runs");
  page_->setFrameShape(QFrame::NoFrame);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(page_);
  timer_.setSingleShot(true);
  timer_.setInterval(kDelayMs);
  connect(&timer_, &QTimer::timeout, this, &AnswersPanel::ask);
  connect(table_, &RunTable::runs_replaced, this, [this] { asked_.clear(); });
  connect(table_, &RunTable::view_changed, this, [this] {
    stale_ = true;
    if (isVisible()) timer_.start();
  });
}

void AnswersPanel::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (stale_) timer_.start();
}

void AnswersPanel::ask() {
  stale_ = false;
  const RunView& view = table_->view();
  std::vector<results::RunId> runs;
  for (int row = 0; row < view.rows(); ++row) runs.push_back(view.at(row).id);
  // As in the report: the workloads in the order in which they were run.
  std::ranges::sort(runs);
  // Another sort, a pin or a baseline changes no answer.
  if (!runs.empty() && runs == asked_) return;
  asked_ = runs;
  job_.cancel();
  if (runs.empty()) return take({{}, "No runs are shown."});
  if (view.rows() > kMostAnsweredRuns) {
    const QLocale locale = QLocale::c();
    return take({{},
                 QString("The filter passes %1 runs. Answers are given for %2 at most: filter, for "
                         "instance by scenario.")
                     .arg(locale.toString(view.rows()), locale.toString(kMostAnsweredRuns))});
  }
  job_.start([this, runs = std::move(runs), opener = database_->opener(),
              path = database_->path().toStdString()](const LatestJob::Current&) {
    return [this, answers = answers_of(opener, path, runs)] { take(answers); };
  });
}

void AnswersPanel::take(const Answers& answers) {
  page_->setHtml(answers_html(answers));
  emit answered();
}

}  // namespace gradwire::gui
