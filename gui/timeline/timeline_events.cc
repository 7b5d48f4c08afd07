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

/// P pins a row here, and a run elsewhere.
bool TimelineView::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool plain = !(key->modifiers() & ~Qt::ShiftModifier);
    const bool left =
        key->key() == Qt::Key_Escape && (area_ || chosen_ || link_ || !chain_.segments.empty());
    if ((plain && key->key() == Qt::Key_P) || left) {
      event->accept();
      return true;
    }
  }
  return QAbstractScrollArea::event(event);
}

void TimelineView::resizeEvent(QResizeEvent* event) {
  QAbstractScrollArea::resizeEvent(event);
  rows_changed();
}

void TimelineView::changeEvent(QEvent* event) {
  QAbstractScrollArea::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  theme_ = theme_of(palette());
  rows_changed();
}

void TimelineView::wheelEvent(QWheelEvent* event) {
  if (event->modifiers() & Qt::ControlModifier) {
    const double steps = event->angleDelta().y() / 120.0;
    zoom(std::pow(kWheelZoom, steps), event->position().x() - gutter_width());
    event->accept();
  } else if (event->modifiers() & Qt::ShiftModifier) {
    pan_by(-event->angleDelta().y());
    event->accept();
  } else {
    QAbstractScrollArea::wheelEvent(event);
  }
}

void TimelineView::mousePressEvent(QMouseEvent* event) {
  if (!tracks_[0] || event->button() != Qt::LeftButton) return;
  drag_from_ = pointer_ = event->pos();
  moved_ = false;
  if (event->modifiers() & Qt::ShiftModifier) {
    const double time =
        snapped(window_.time_at(event->pos().x() - gutter_width()), event->pos().y());
    area_ = Marked{{time, time}, true};
    viewport()->update();
  } else {
    dragging_ = true;
  }
}

void TimelineView::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->pos();
  if (!tracks_[0]) return;
  const double time = window_.time_at(event->pos().x() - gutter_width());
  moved_ = moved_ || (event->pos() - drag_from_).manhattanLength() > kTimelineClickPixels;
  if (area_ && area_->dragging) {
    area_->range.to_s = snapped(time, event->pos().y());
  } else if (dragging_ && moved_) {
    viewport()->setCursor(Qt::ClosedHandCursor);
    const int dy = drag_from_.y() - event->pos().y();
    verticalScrollBar()->setValue(verticalScrollBar()->value() + dy);
    hovered_.reset();
    pan_by(drag_from_.x() - event->pos().x());
    drag_from_ = event->pos();
  }
  if (!dragging_) hovered_ = hit(event->pos(), 2 * window_.length_s / window_.width);
  viewport()->update();
}

void TimelineView::mouseReleaseEvent(QMouseEvent* event) {
  viewport()->unsetCursor();
  if (area_ && area_->dragging) {
    area_->dragging = false;
    if (!area()) area_.reset();
    emit area_changed();
  } else if (dragging_ && !moved_ && event->pos().x() < gutter_width()) {
    chosen_.reset();
    toggle_pin();
  } else if (dragging_ && !moved_) {
    const auto at = hit(event->pos(), 2 * window_.length_s / window_.width);
    mark_area(0, 0);
    if (at) {
      choose(*at);
    } else {
      leave();
    }
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
  const bool plain = !(event->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier));
  if (plain && (move_with_key(event) || choose_with_key(event))) return;
  QAbstractScrollArea::keyPressEvent(event);
}

bool TimelineView::move_with_key(QKeyEvent* event) {
  const double page = window_.width * kPanShare;
  switch (event->key()) {
    case Qt::Key_W:
    case Qt::Key_Plus:
      zoom_in();
      return true;
    case Qt::Key_S:
    case Qt::Key_Minus:
      zoom_out();
      return true;
    case Qt::Key_A:
    case Qt::Key_Left:
      pan_by(-page);
      return true;
    case Qt::Key_D:
    case Qt::Key_Right:
      pan_by(page);
      return true;
    case Qt::Key_F:
      fit_chosen();
      return true;
    case Qt::Key_Home:
      reset_zoom();
      return true;
    case Qt::Key_T:
      toggle_align();
      return true;
    default:
      return false;
  }
}

bool TimelineView::choose_with_key(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Period:
      choose_neighbour(1);
      return true;
    case Qt::Key_Comma:
      choose_neighbour(-1);
      return true;
    case Qt::Key_Down:
      choose_row(1);
      return true;
    case Qt::Key_Up:
      choose_row(-1);
      return true;
    case Qt::Key_N:
      choose_found(event->modifiers() & Qt::ShiftModifier ? -1 : 1);
      return true;
    case Qt::Key_C:
      toggle_path();
      return true;
    case Qt::Key_P:
      toggle_pin();
      return true;
    case Qt::Key_BracketLeft:
      mark_edge(true);
      return true;
    case Qt::Key_BracketRight:
      mark_edge(false);
      return true;
    case Qt::Key_Escape:
      return leave();
    default:
      return false;
  }
}

}  // namespace gradwire::gui
