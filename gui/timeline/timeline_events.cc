#include <QHelpEvent>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QScrollBar>
#include <QWheelEvent>
#include <cmath>

#include "gui/timeline/timeline_view.h"

namespace gradwire::gui {

namespace {
constexpr double kWheelZoom = 1.25;
constexpr double kPanShare = 0.15;
constexpr int kTimelineClickPixels = 3;
}  // namespace

void TimelineView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  update_scroll_range();
  viewport()->update();
}

void TimelineView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  theme_ = theme_of(palette());
  update_scroll_range();
  viewport()->update();
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  if (event->modifiers() & Qt::ControlModifier) {
    const double steps = event->angleDelta().y() / 120.0;
    zoom(std::pow(kWheelZoom, steps), event->position().x() - gutter_width());
    event->accept();
  } else if (event->modifiers() & Qt::ShiftModifier) {
    window_.pan(-event->angleDelta().y(), rows_.start_s, rows_.end_s);
    window_changed();
    event->accept();
  } else {
    QAbstractScrollArea::wheelEvent(event);
  }
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (!timeline_ || event->button() != Qt::LeftButton) return;
  drag_from_ = event->pos();
  moved_ = false;
  if (event->modifiers() & Qt::ShiftModifier) {
    const double time =
        snapped(window_.time_at(event->pos().x() - gutter_width()), event->pos().y());
    measure_ = Measure{time, time, true};
    viewport()->update();
  } else {
    dragging_ = true;
  }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->pos();
  if (!timeline_) return;
  const double time = window_.time_at(event->pos().x() - gutter_width());
  moved_ = moved_ || (event->pos() - drag_from_).manhattanLength() > kTimelineClickPixels;
  if (measure_ && measure_->dragging) {
    measure_->to_s = snapped(time, event->pos().y());
  } else if (dragging_ && moved_) {
    viewport()->setCursor(Qt::ClosedHandCursor);
    window_.pan(drag_from_.x() - event->pos().x(), rows_.start_s, rows_.end_s);
    const int dy = drag_from_.y() - event->pos().y();
    verticalScrollBar()->setValue(verticalScrollBar()->value() + dy);
    drag_from_ = event->pos();
    hovered_.reset();
    window_changed();
  }
  if (!dragging_) {
    const int row = row_at(event->pos().y());
    const double slack = 2 * window_.length_s / window_.width;
    hovered_ = row < 0 || event->pos().x() < gutter_width()
                   ? std::nullopt
                   : segment_at(rows_.rows[static_cast<std::size_t>(row)], timeline_->segments,
                                time, slack);
  }
  viewport()->update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  viewport()->unsetCursor();
  if (measure_ && measure_->dragging) {
    measure_->dragging = false;
    if (measure_->from_s == measure_->to_s) measure_.reset();
  } else if (dragging_ && !moved_) {
    mouseMoveEvent(event);
    dragging_ = false;
    mouseMoveEvent(event);
    chosen_ = hovered_;
    measure_.reset();
  }
  dragging_ = false;
  viewport()->update();
}

bool TimelineView::viewportEvent(QEvent* event) {
  if (event->type() == QEvent::Leave) {
    hovered_.reset();
    viewport()->update();
  }
  return QAbstractScrollArea::viewportEvent(event);
}

void TimelineView::keyPressEvent(QKeyEvent* event) {
  const double page = window_.width * kPanShare;
  switch (event->key()) {
    case Qt::Key_W:
      zoom_in();
      break;
    case Qt::Key_S:
      zoom_out();
      break;
    case Qt::Key_Plus:
      zoom_in();
      break;
    case Qt::Key_Minus:
      zoom_out();
      break;
    case Qt::Key_A:
    case Qt::Key_Left:
      window_.pan(-page, rows_.start_s, rows_.end_s);
      window_changed();
      break;
    case Qt::Key_D:
    case Qt::Key_Right:
      window_.pan(page, rows_.start_s, rows_.end_s);
      window_changed();
      break;
    case Qt::Key_F:
      fit_chosen();
      break;
    case Qt::Key_Period:
      choose_neighbour(1);
      break;
    case Qt::Key_Comma:
      choose_neighbour(-1);
      break;
    case Qt::Key_Home:
      reset_zoom();
      break;
    case Qt::Key_Escape:
      if (!measure_ && !chosen_) return QAbstractScrollArea::keyPressEvent(event);
      measure_.reset();
      chosen_.reset();
      viewport()->update();
      break;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

}  // namespace gradwire::gui
