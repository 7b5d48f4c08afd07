#include <QStatusBar>

#include "gui/main_window.h"
#include "gui/views/chart_table.h"
#include "gui/views/command_palette.h"
#include "gui/views/query_view.h"
#include "results/store/saved_queries.h"

/// Charts as tables, and lists to choose from.
namespace gradwire::gui {

namespace {

DataTable links_table(const Topology& topology, const TopologyMap& map) {
  DataTable table;
  table.title = QString("Network at %1 s").arg(map.time(), 0, 'g', 4) +
                counted(topology.links.size(), "links, the busiest first");
  table.header = {"Link", "At this time"};
  for (const int link : by_load(topology)) {
    if (table.rows.size() == kMostTableRows) break;
    const QStringList lines = map.link_lines(link);
    table.rows.push_back({lines.value(0), lines.mid(1).join(" · ")});
  }
  return table;
}

/// Figures one below the other; where there are several, each row says whose it is.
DataTable joined(const std::vector<FigureView*>& charts) {
  DataTable all;
  QStringList titles;
  for (const FigureView* chart : charts) {
    const DataTable table = chart->table();
    titles << table.title;
    if (charts.size() == 1) return table;
    if (table.header.size() + 1 > all.header.size())
      all.header = QStringList("Panel") + table.header;
    const QString panel = QString::fromStdString(chart->figure().title);
    for (const QStringList& row : table.rows) all.rows.push_back(QStringList(panel) + row);
  }
  all.title = titles.join("; ");
  return all;
}

}  // namespace

DataTable MainWindow::chart_as_table() const {
  const QWidget* front = charts_->currentWidget();
  if (front == timeline_page_) return timeline_->table();
  if (front == parallel_) return parallel_->table();
  if (front == topology_ && topology_->topology()) {
    return links_table(*topology_->topology(), *topology_->map());
  }
  if (front == tradeoff_ || front == scaling_) return joined(front_charts());
  return {};
}

void MainWindow::show_chart_table() {
  if (chart_as_table().header.isEmpty()) {
    statusBar()->showMessage(
        "This tab has no chart: trade-off, scaling, timeline, network and parallel have.", 5000);
    return;
  }
  auto* table = new ChartTable([this] { return chart_as_table(); }, this);
  table->show();
  table->activateWindow();
}

void MainWindow::show_queries() {
  try {
    auto* view = new QueryView(database_->path(), results::saved_queries_path(), this);
    view->show();
    view->activateWindow();
  } catch (const Error& error) {
    error_bar_->show_message(QString::fromUtf8(error.what()));
  }
}

void MainWindow::show_palette(const QString& title, const QString& hint,
                              std::vector<PaletteEntry> entries) {
  auto* palette = new CommandPalette(title, hint, std::move(entries), this);
  palette->show();
  palette->activateWindow();
}

}  // namespace gradwire::gui
