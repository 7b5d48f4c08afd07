#pragma once
#include <QComboBox>
#include <QDialog>
#include <QLabel>
#include <QPlainTextEdit>
#include <QPushButton>

#include "gui/jobs/latest_job.h"
#include "gui/views/data_table_view.h"
#include "results/store/own_query.h"

namespace gradwire::gui {

/// People's own SQL over the database, and the queries that they keep by name (the same as those of
/// `gradwire query`): ask, read, copy, export. Not modal; a query that takes long can be stopped.
class QueryView : public QDialog {
  Q_OBJECT

 public:
  /// `queries`: file of the saved ones; they are asked of `database`.
  QueryView(QString database, std::string queries, QWidget* parent = nullptr);

  QComboBox* saved() { return saved_; }
  QPlainTextEdit* sql() { return sql_; }
  DataTableView* table() { return table_; }
  QString problem() const { return problem_->text(); }
  void run();
  void stop();
  /// Keeps the SQL under the name that stands in saved().
  void save();
  void forget();
  /// The whole result to full precision. Errors appear in the dialog.
  void export_csv(const QString& file);

 signals:
  void answered();

 private:
  struct Answer {
    results::OwnResult result;
    QString problem;
  };
  void build();
  void fill_saved(const QString& chosen);
  void show_saved();
  void take(const Answer& answer);
  void ask_file();
  void explaining(const std::function<void()>& work);

  QString database_;
  std::string queries_;
  QComboBox* saved_;
  QPlainTextEdit* sql_;
  QPushButton *run_, *stop_, *save_, *forget_, *export_;
  QLabel* problem_;
  DataTableView* table_;
  results::OwnResult result_;
  LatestJob job_{"query"};
};

}  // namespace gradwire::gui
