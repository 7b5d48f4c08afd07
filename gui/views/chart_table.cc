#include "gui/views/chart_table.h"

#include <QShortcut>
#include <QVBoxLayout>

namespace gradwire::gui {

ChartTable::ChartTable(Read read, QWidget* parent) : QDialog(parent), read_(std::move(read)) {
  setModal(false);
  setAttribute(Qt::WA_DeleteOnClose);
  setWindowTitle("The chart as a table");
  title_ = new QLabel(this);
  title_->setWordWrap(true);
  title_->setTextFormat(Qt::PlainText);
  title_->setAccessibleName("What the table shows");
  table_ = new DataTableView("The chart as a table", this);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(title_);
  layout->addWidget(table_, 1);
  auto* again = new QShortcut(QKeySequence("F5"), this);
  connect(again, &QShortcut::activated, this, &ChartTable::read_again);
  resize(fontMetrics().averageCharWidth() * 110, fontMetrics().height() * 32);
  read_again();
  table_->setFocus();
}

void ChartTable::read_again() {
  DataTable table = read_();
  title_->setText(QString("%1 · %2 rows · Ctrl+C copies, F5 reads the chart again")
                      .arg(table.title)
                      .arg(table.rows.size()));
  table_->set_table(std::move(table));
}

}  // namespace gradwire::gui
