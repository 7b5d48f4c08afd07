#include "gui/views/query_view.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QShortcut>
#include <QVBoxLayout>

#include "base/error.h"
#include "base/exact_text.h"
#include "base/file_descriptor.h"
#include "gui/models/columns.h"
#include "gui/views/file_dialog.h"
#include "results/export/csv.h"
#include "results/store/saved_queries.h"

namespace gradwire::gui {

namespace {

constexpr const char* kFirst = "SELECT run, scenario, method, step_time_s FROM v_runs ORDER BY run";

/// How people read a column, by the unit in its name.
Quantity quantity_of(const std::string& column) {
  if (column.ends_with("_s")) return Quantity::kDuration;
  return column.ends_with("_bytes") ? Quantity::kBytes : Quantity::kPlain;
}

QString shown(const results::OwnValue& value, Quantity quantity) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    return quantity == Quantity::kPlain ? QString::number(*whole)
                                        : quantity_text(double(*whole), quantity, {});
  }
  if (const auto* number = std::get_if<double>(&value)) return quantity_text(*number, quantity, {});
  const auto* text = std::get_if<std::string>(&value);
  return text ? QString::fromStdString(*text) : QStringLiteral("–");
}

DataTable table_of(const results::OwnResult& result) {
  DataTable table;
  table.title = "Result" + counted(result.rows.size(), "rows");
  for (const std::string& column : result.columns) table.header << QString::fromStdString(column);
  for (const auto& row : result.rows) {
    if (table.rows.size() == kMostTableRows) break;
    QStringList cells;
    for (std::size_t i = 0; i < row.size(); ++i) {
      cells << shown(row[i], quantity_of(result.columns[i]));
    }
    table.rows.push_back(cells);
  }
  return table;
}

/// RFC 4180, numbers to full precision; what is NULL is empty.
std::string csv_of(const results::OwnResult& result) {
  const auto text_of = [](const results::OwnValue& value) {
    if (const auto* whole = std::get_if<std::int64_t>(&value)) return std::to_string(*whole);
    if (const auto* number = std::get_if<double>(&value)) return exact_text(*number);
    const auto* text = std::get_if<std::string>(&value);
    return text ? *text : std::string();
  };
  std::string csv = results::csv_line(result.columns);
  for (const auto& row : result.rows) {
    std::vector<std::string> cells;
    for (const results::OwnValue& value : row) cells.push_back(text_of(value));
    csv += results::csv_line(cells);
  }
  return csv;
}

}  // namespace

QueryView::QueryView(QString database, std::string queries, QWidget* parent)
    : QDialog(parent), database_(std::move(database)), queries_(std::move(queries)) {
  setWindowTitle("Ask in SQL: " + QFileInfo(database_).fileName());
  setAttribute(Qt::WA_DeleteOnClose);
  build();
  sql_->setPlainText(kFirst);
  explaining([this] { fill_saved({}); });
  connect(saved_, &QComboBox::activated, this, &QueryView::show_saved);
  connect(run_, &QPushButton::clicked, this, &QueryView::run);
  connect(stop_, &QPushButton::clicked, this, &QueryView::stop);
  connect(save_, &QPushButton::clicked, this, &QueryView::save);
  connect(forget_, &QPushButton::clicked, this, &QueryView::forget);
  connect(export_, &QPushButton::clicked, this, &QueryView::ask_file);
  connect(new QShortcut(QKeySequence("Ctrl+Return"), this), &QShortcut::activated, this,
          &QueryView::run);
  resize(900, 620);
}

void QueryView::build() {
  saved_ = new QComboBox(this);
  saved_->setEditable(true);
  saved_->setInsertPolicy(QComboBox::NoInsert);
  saved_->setAccessibleName("Saved queries, and the name to save under");
  saved_->lineEdit()->setPlaceholderText("Name to save under");
  sql_ = new QPlainTextEdit(this);
  sql_->setAccessibleName("SQL, one SELECT over the views of docs/sql.md");
  sql_->setTabChangesFocus(true);
  sql_->setMaximumHeight(8 * fontMetrics().height());
  problem_ = new QLabel(this);
  problem_->setTextFormat(Qt::PlainText);
  problem_->setWordWrap(true);
  problem_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  problem_->setAccessibleName("What became of the query");
  table_ = new DataTableView("Result of the query", this);
  auto* row = new QHBoxLayout;
  row->addWidget(saved_, 1);
  const auto button = [&](const char* text) {
    auto* made = new QPushButton(text, this);
    made->setAutoDefault(false);
    row->addWidget(made);
    return made;
  };
  run_ = button("&Ask");
  stop_ = button("S&top");
  save_ = button("&Save");
  forget_ = button("&Forget");
  export_ = button("&Export…");
  stop_->setEnabled(false);
  export_->setEnabled(false);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(row);
  layout->addWidget(sql_);
  layout->addWidget(problem_);
  layout->addWidget(table_, 1);
}

/// A slot is called by Qt, which knows no exceptions: the error ends here, as a message.
void QueryView::explaining(const std::function<void()>& work) {
  try {
    problem_->clear();
    work();
  } catch (const Error& error) {
    problem_->setText(QString::fromUtf8(error.what()));
  }
}

void QueryView::fill_saved(const QString& chosen) {
  saved_->clear();
  for (const auto& [name, sql] : results::saved_queries(queries_)) {
    saved_->addItem(QString::fromStdString(name), QString::fromStdString(sql));
  }
  saved_->setCurrentIndex(saved_->findText(chosen));
  if (saved_->currentIndex() < 0) saved_->setEditText(chosen);
}

void QueryView::show_saved() {
  if (saved_->currentIndex() < 0) return;
  sql_->setPlainText(saved_->currentData().toString());
  run();
}

void QueryView::run() {
  stop_->setEnabled(true);
  problem_->setText("Asking…");
  job_.start([this, path = database_.toStdString(),
              sql = sql_->toPlainText().toStdString()](const LatestJob::Current& counts) {
    Answer answer;
    try {
      results::OwnQueryLimits limits;
      limits.stop = [&] { return !counts(); };
      auto end = results::OwnQueryEnd::kDone;
      answer.result = results::own_query(path, sql, limits, end);
    } catch (const std::exception& error) {
      // This runs at the top of a thread: an exception must end here, as a message.
      answer.problem = QString::fromUtf8(error.what());
    }
    return [this, answer = std::move(answer)] { take(answer); };
  });
}

void QueryView::stop() {
  job_.cancel();
  stop_->setEnabled(false);
  problem_->setText("Stopped.");
}

void QueryView::take(const Answer& answer) {
  stop_->setEnabled(false);
  result_ = answer.result;
  const DataTable table = table_of(result_);
  problem_->setText(answer.problem.isEmpty() ? table.title : answer.problem);
  table_->set_table(table);
  export_->setEnabled(!result_.columns.empty());
  emit answered();
}

void QueryView::save() {
  explaining([this] {
    const QString name = saved_->currentText().trimmed();
    results::save_query(queries_, name.toStdString(), sql_->toPlainText().toStdString());
    fill_saved(name);
    problem_->setText("Saved: " + name);
  });
}

void QueryView::forget() {
  explaining([this] {
    const QString name = saved_->currentText().trimmed();
    const bool known = results::forget_query(queries_, name.toStdString());
    fill_saved({});
    problem_->setText((known ? "Forgotten: " : "There is no saved query ") + name);
  });
}

void QueryView::ask_file() {
  show_file_dialog(this, {"Export the result", "query.csv", "CSV (*.csv)", true},
                   [this](const QString& file) { export_csv(file); });
}

void QueryView::export_csv(const QString& file) {
  explaining([&] {
    write_file(file.toStdString(), csv_of(result_));
    problem_->setText("Exported " + file);
  });
}

}  // namespace gradwire::gui
