#include "gui/views/key_sheet.h"

#include <QMenu>
#include <QTextBrowser>
#include <QVBoxLayout>

namespace gradwire::gui {

namespace {

struct ChartKeys {
  const char* keys;
  const char* what;
};

constexpr ChartKeys kTimelineKeys[] = {
    {"W, S or Ctrl+wheel", "zoom in, out"},
    {"A, D or drag", "move in time"},
    {"Shift+drag, [ and ]", "mark a range of time: its statistics"},
    {"click", "choose a segment"},
    {". and ,", "next, previous segment of its row"},
    {"up, down", "the row above, below"},
    {"N, Shift+N", "next, previous one found"},
    {"C", "critical path to what is chosen, or to the run's end"},
    {"P, click on its name", "pin a row on top"},
    {"T", "two runs: the step in the middle begins at once in both"},
    {"F, again F", "centre, then fit the chosen segment (or the step)"},
    {"Home", "the whole run"},
};
constexpr ChartKeys kParallelKeys[] = {
    {"drag along an axis, click it", "filter by a part of it, take that away"},
    {"left, right", "another axis"},
    {"up, down (Shift)", "move the lower (upper) end of its part"},
    {"Delete", "take its part away"},
};
constexpr ChartKeys kPlotKeys[] = {
    {"wheel", "zoom (Ctrl: only x, Shift: only y)"},
    {"drag, arrows", "move (Shift 1 pixel, Alt 100)"},
    {"Shift+drag", "select the runs in a rectangle"},
    {"click, Ctrl+click", "select a run, add it or take it away"},
    {"+ and -, x and X, y and Y", "zoom both axes, one axis"},
    {"Home", "show everything"},
};

QString row(const QString& keys, const QString& what) {
  return QString("<tr><td style='padding-right:18px'><b>%1</b></td><td>%2</td></tr>")
      .arg(keys.toHtmlEscaped(), what.toHtmlEscaped());
}

QString heading(const QString& text) {
  return QString("<tr><td colspan=2><h4 style='margin-top:10px'>%1</h4></td></tr>")
      .arg(text.toHtmlEscaped());
}

QString menu_rows(const QMenu& menu) {
  QString rows;
  for (const QAction* action : menu.actions()) {
    if (action->menu()) rows += menu_rows(*action->menu());
    QStringList keys;
    for (const QKeySequence& key : action->shortcuts()) {
      keys << key.toString(QKeySequence::NativeText);
    }
    if (!keys.isEmpty()) rows += row(keys.join(", "), action->text().remove('&').remove("…"));
  }
  return rows;
}

}  // namespace

KeySheet::KeySheet(const QMenuBar* menus, QWidget* parent) : QDialog(parent) {
  setWindowTitle("Keys");
  setModal(false);
  setAttribute(Qt::WA_DeleteOnClose);
  QString html = "<table>";
  for (const QAction* action : menus->actions()) {
    if (!action->menu()) continue;
    const QString rows = menu_rows(*action->menu());
    if (!rows.isEmpty()) html += heading(action->text().remove('&')) + rows;
  }
  html += heading("Timeline");
  for (const ChartKeys& keys : kTimelineKeys) html += row(keys.keys, keys.what);
  html += heading("Trade-off chart, scaling curves");
  for (const ChartKeys& keys : kPlotKeys) html += row(keys.keys, keys.what);
  html += heading("Parallel coordinates");
  for (const ChartKeys& keys : kParallelKeys) html += row(keys.keys, keys.what);
  auto* browser = new QTextBrowser(this);
  browser->setHtml(html + "</table>");
  browser->setAccessibleName("List of keys");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(browser);
  resize(fontMetrics().averageCharWidth() * 80, fontMetrics().height() * 36);
}

}  // namespace gradwire::gui
