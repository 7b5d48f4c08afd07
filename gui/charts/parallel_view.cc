#include "gui/charts/parallel_view.h"

#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "gui/charts/painter_canvas.h"

namespace gradwire::gui {

namespace {
constexpr double kSide = 70, kTop = 44, kBottom = 30;
constexpr double kAxisReach = 14;  ///< pixels beside an axis that belong to it
constexpr double kSlip = 4;        ///< a shorter drag is a click
constexpr std::size_t kMostSmooth = 400;
constexpr std::size_t kMostLines = 1500;  ///< of more runs every n-th is drawn
constexpr int kLinesAtOnce = 120;         ///< of an event: some 25 ms
constexpr double kKeyStep = 0.05;
}  // namespace

ParallelView::ParallelView(RunTable* table, RunSelection* selection, QWidget* parent)
    : QWidget(parent), table_(table), selection_(selection) {
  setFocusPolicy(Qt::StrongFocus);
  setAccessibleName("Parallel coordinates");
  setAccessibleDescription("A line a run over an axis a column; the run table lists the same runs");
  theme_ = theme_of(palette());
  timer_.setSingleShot(true);
  timer_.setInterval(0);
  connect(&timer_, &QTimer::timeout, this, &ParallelView::rebuild);
  lines_timer_.setSingleShot(true);
  lines_timer_.setInterval(0);
  connect(&lines_timer_, &QTimer::timeout, this, [this] {
    if (cache_.isNull() || stale_) return;  // another picture is to come
    go_on();
    update();
  });
  const auto later = [this] {
    stale_ = true;
    if (isVisible()) timer_.start();
  };
  connect(table_, &RunTable::view_changed, this, later);
  connect(selection_, &RunSelection::changed, this, later);
}

void ParallelView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  if (stale_) rebuild();
}

void ParallelView::rebuild() {
  stale_ = false;
  // While brushes filter, the axes stay as they were: they would shrink under the pointer.
  const bool brushed = !brushes_.empty() && table_->filter_field()->text().endsWith(brushed_);
  if (!brushed) {
    brushes_.clear();
    brushed_.clear();
    axes_ = varying_axes(table_->view());
  }
  current_ = std::min(current_, axes_.empty() ? 0 : axes_.size() - 1);
  cache_ = QPixmap();
  update();
}

void ParallelView::resizeEvent(QResizeEvent*) {
  cache_ = QPixmap();
}

void ParallelView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange) return;
  theme_ = theme_of(palette());
  cache_ = QPixmap();
  update();
}

double ParallelView::axis_x(std::size_t axis) const {
  const double gaps = axes_.size() > 1 ? static_cast<double>(axes_.size() - 1) : 1;
  return kSide + static_cast<double>(axis) * (width() - 2 * kSide) / gaps;
}

double ParallelView::axis_y(double place) const {
  return height() - kBottom - place * (height() - kTop - kBottom);
}

double ParallelView::place_at(double y) const {
  return std::clamp((height() - kBottom - y) / (height() - kTop - kBottom), 0.0, 1.0);
}

std::optional<std::size_t> ParallelView::axis_at(double x) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (std::abs(axis_x(i) - x) <= kAxisReach) return i;
  }
  return std::nullopt;
}

/// Some more lines of those that are chosen, or are not; whether these are all.
bool ParallelView::paint_lines(QPainter& painter) {
  const RunView& view = table_->view();
  const std::size_t lines =
      chosen_ ? selection_->runs().size() : static_cast<std::size_t>(view.rows());
  // Thousands of smooth lines would take a second, and look the same.
  painter.setRenderHint(QPainter::Antialiasing, lines <= kMostSmooth);
  int left = kLinesAtOnce;
  for (; next_row_ < view.rows() && left > 0; ++next_row_) {
    const results::RunSummary& run = view.at(next_row_);
    if (selection_->contains(run.id) != chosen_) continue;
    if (met_++ % (lines / kMostLines + 1) != 0) continue;
    --left;
    QPainterPath path;
    bool drawing = false;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const auto place = axes_[i].place(view.columns(), run);
      if (!place) {
        drawing = false;  // a gap where there is no value
        continue;
      }
      const QPointF at(axis_x(i), axis_y(*place));
      drawing ? path.lineTo(at) : path.moveTo(at);
      drawing = true;
    }
    QColor colour = colours_[classes_->of(run)];
    if (!chosen_) colour.setAlphaF(view.rows() > 200 ? 0.25F : 0.6F);
    painter.setPen(QPen(chosen_ ? theme_.ink : colour, chosen_ ? 2.5 : 1));
    painter.drawPath(path);
  }
  return next_row_ == view.rows();
}

void ParallelView::paint_axes(QPainter& painter) const {
  const QFontMetricsF metrics(painter.font());
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const ParallelAxis& axis = axes_[i];
    const double x = axis_x(i);
    painter.setPen(QPen(theme_.axis, i == current_ && hasFocus() ? 3 : 1.25));
    painter.drawLine(QPointF(x, axis_y(0)), QPointF(x, axis_y(1)));
    painter.setPen(theme_.ink);
    const auto text = [&](double y, const QString& words) {
      const double wide =
          std::max(60.0, (width() - 2 * kSide) / std::max<double>(1, double(axes_.size()) - 1) - 6);
      const QString shown = metrics.elidedText(words, Qt::ElideRight, wide);
      painter.drawText(QPointF(x - metrics.horizontalAdvance(shown) / 2, y), shown);
    };
    text(metrics.ascent() + 4, axis.title);
    if (axis.is_text()) {
      for (std::size_t t = 0; t < axis.texts.size(); ++t) {
        const double place = (double(t) + 0.5) / double(axis.texts.size());
        text(axis_y(place) + metrics.ascent() / 2,
             axis.texts[t].isEmpty() ? QString("none") : axis.texts[t]);
      }
      continue;
    }
    text(axis_y(1) - 6, quantity_text(axis.high, axis.quantity, {}));
    text(axis_y(0) + metrics.height(), quantity_text(axis.low, axis.quantity, {}));
  }
}

DataTable ParallelView::table() const {
  const RunView& view = table_->view();
  DataTable table;
  table.header << "Run";
  for (const ParallelAxis& axis : axes_) table.header << axis.title;
  for (int row = 0; row < view.rows() && table.rows.size() < kMostTableRows; ++row) {
    const results::RunSummary& run = view.at(row);
    QStringList cells(QString::number(run.id));
    for (const ParallelAxis& axis : axes_) {
      cells << view.columns().shown_text(run, axis.column, table_->model()->number_style());
    }
    table.rows.push_back(std::move(cells));
  }
  table.title = "Parallel coordinates" + counted(static_cast<std::size_t>(view.rows()), "runs");
  return table;
}

/// Begins a picture, whose lines come over several events where there are many.
void ParallelView::render() {
  const double ratio = devicePixelRatioF();
  cache_ = QPixmap(size() * ratio);
  cache_.setDevicePixelRatio(ratio);
  cache_.fill(theme_.background);
  if (axes_.size() < 2) {
    QPainter painter(&cache_);
    painter.setFont(font());
    painter.setPen(theme_.faint_ink);
    painter.drawText(rect(), Qt::AlignCenter, "The shown runs do not differ in two columns.");
    return;
  }
  classes_.emplace(table_->view(), Column::kMethod, kMethodColours);
  colours_.clear();
  for (std::size_t i = 0; i < classes_->names().size(); ++i)
    colours_.push_back(series_colour(theme_, classes_->number_of(i)));
  begin_lines(false);
  go_on();
}

void ParallelView::begin_lines(bool chosen) {
  chosen_ = chosen;
  next_row_ = 0;
  met_ = 0;
}

/// Some more lines; above all of them the chosen ones, and then the axes.
void ParallelView::go_on() {
  QPainter painter(&cache_);
  painter.setFont(font());
  bool all = paint_lines(painter);
  if (all && !chosen_) {
    begin_lines(true);
    all = paint_lines(painter);
  }
  if (!all) return lines_timer_.start();
  painter.setRenderHint(QPainter::Antialiasing);
  paint_axes(painter);
}

void ParallelView::paintEvent(QPaintEvent*) {
  if (cache_.isNull()) render();
  QPainter painter(this);
  painter.drawPixmap(0, 0, cache_);
  QColor tint = theme_.accent;
  painter.setPen(QPen(tint, 1.5));
  tint.setAlphaF(0.25F);
  painter.setBrush(tint);
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const auto brush = brushes_.find(axes_[i].column);
    if (brush == brushes_.end()) continue;
    const double top = axis_y(brush->second.to), bottom = axis_y(brush->second.from);
    painter.drawRect(QRectF(axis_x(i) - 7, top, 14, bottom - top));
  }
}

void ParallelView::mousePressEvent(QMouseEvent* event) {
  dragged_ = axis_at(event->position().x());
  if (dragged_) current_ = *dragged_;
  drag_from_ = event->position().y();
}

void ParallelView::mouseMoveEvent(QMouseEvent* event) {
  if (!dragged_) return;
  const double a = place_at(drag_from_), b = place_at(event->position().y());
  brushes_[axes_[*dragged_].column] = {std::min(a, b), std::max(a, b)};
  update();
}

void ParallelView::mouseReleaseEvent(QMouseEvent* event) {
  if (!dragged_) return;
  if (std::abs(event->position().y() - drag_from_) < kSlip) {
    brushes_.erase(axes_[*dragged_].column);
  }
  dragged_.reset();
  apply_brushes();
}

void ParallelView::apply_brushes() {
  // What was typed beside the brushes' own part stays.
  QString typed = table_->filter_field()->text();
  if (!brushed_.isEmpty() && typed.endsWith(brushed_)) {
    typed.chop(brushed_.size());
    if (typed.endsWith(" and ")) typed.chop(5);
  }
  typed = typed.trimmed();
  if (!parse_run_filter(typed, table_->view().columns()).typed) typed = words_as_filter(typed);
  brushed_ = filter_of(axes_, brushes_);
  const QString joint = typed.isEmpty() || brushed_.isEmpty() ? QString() : QString(" and ");
  table_->filter_field()->setText(typed + joint + brushed_);
  table_->apply_filter();
  update();
}

void ParallelView::clear_brushes() {
  brushes_.clear();
  apply_brushes();
}

void ParallelView::keyPressEvent(QKeyEvent* event) {
  if (axes_.empty()) return QWidget::keyPressEvent(event);
  const auto move = [&](double step) {
    Brush& brush = brushes_[axes_[current_].column];
    double& mark = event->modifiers() & Qt::ShiftModifier ? brush.to : brush.from;
    mark = std::clamp(mark + step, 0.0, 1.0);
    if (brush.from > brush.to) std::swap(brush.from, brush.to);
    apply_brushes();
  };
  switch (event->key()) {
    case Qt::Key_Left:
      current_ = current_ > 0 ? current_ - 1 : axes_.size() - 1;
      break;
    case Qt::Key_Right:
      current_ = (current_ + 1) % axes_.size();
      break;
    case Qt::Key_Up:
      return move(kKeyStep);
    case Qt::Key_Down:
      return move(-kKeyStep);
    case Qt::Key_Delete:
    case Qt::Key_Backspace:
      brushes_.erase(axes_[current_].column);
      return apply_brushes();
    default:
      return QWidget::keyPressEvent(event);
  }
  cache_ = QPixmap();
  update();
}

}  // namespace gradwire::gui
