#include <QKeyEvent>
#include <QMouseEvent>
#include <QWheelEvent>
#include <cmath>

#include "gui/charts/figure_view.h"

namespace gradwire::gui {

namespace {
constexpr int kClickPixels = 4;
/// A smaller rectangle is a slip of the hand.
constexpr int kLeastBand = 8;
}  // namespace

void FigureView::resizeEvent(QResizeEvent*) {
  invalidate();
}

void FigureView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() != QEvent::PaletteChange && event->type() != QEvent::FontChange) return;
  theme_ = theme_of(palette());
  invalidate();
}

void FigureView::wheelEvent(QWheelEvent* event) {
  const double steps = event->angleDelta().y() / 120.0;
  const bool only_y = event->modifiers() & Qt::ShiftModifier;
  const bool only_x = event->modifiers() & Qt::ControlModifier;
  zoom_at(event->position(), std::pow(0.85, steps), !only_y, !only_x);
  event->accept();
}

void FigureView::mousePressEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  pressed_ = true;
  moved_ = false;
  press_ = event->pos();
  if (event->modifiers() & Qt::ShiftModifier) band_ = QRect(press_, QSize(0, 0));
}

void FigureView::mouseMoveEvent(QMouseEvent* event) {
  pointer_ = event->pos();
  moved_ = moved_ || (pointer_ - press_).manhattanLength() > kClickPixels;
  if (band_) {
    band_ = QRect(press_, pointer_).normalized();
  } else if (pressed_ && moved_) {
    setCursor(Qt::ClosedHandCursor);
    move_by(press_.x() - pointer_.x(), press_.y() - pointer_.y());
    press_ = pointer_;
    hovered_.reset();
  } else if (!pressed_) {
    const auto hit = hit_at(event->position());
    if (!hit && !hovered_) return;
    hovered_ = hit;
  }
  update();
}

void FigureView::mouseReleaseEvent(QMouseEvent* event) {
  unsetCursor();
  if (band_) {
    const QRect band = *std::exchange(band_, std::nullopt);
    if (band.width() >= kLeastBand && band.height() >= kLeastBand) emit marked(hits_in(band));
  } else if (pressed_ && !moved_) {
    if (const auto hit = hit_at(event->position())) {
      emit clicked(*hit, event->modifiers());
    } else {
      emit background_clicked();
    }
  }
  pressed_ = false;
  update();
}

void FigureView::leaveEvent(QEvent*) {
  hovered_.reset();
  update();
}

void FigureView::keyPressEvent(QKeyEvent* event) {
  const bool shifted = event->modifiers() & Qt::ShiftModifier;
  const bool far = event->modifiers() & Qt::AltModifier;
  const double pixels = shifted ? 1 : far ? 100 : 10;
  switch (event->key()) {
    case Qt::Key_Home:
      reset_zoom();
      break;
    case Qt::Key_Plus:
      zoom_in();
      break;
    case Qt::Key_Minus:
      zoom_out();
      break;
    case Qt::Key_X:
      zoom_centre(shifted ? 1.25 : 0.8, true, false);
      break;
    case Qt::Key_Y:
      zoom_centre(shifted ? 1.25 : 0.8, false, true);
      break;
    case Qt::Key_Left:
      move_by(-pixels, 0);
      break;
    case Qt::Key_Right:
      move_by(pixels, 0);
      break;
    case Qt::Key_Up:
      move_by(0, -pixels);
      break;
    case Qt::Key_Down:
      move_by(0, pixels);
      break;
    default:
      QWidget::keyPressEvent(event);
  }
}

}  // namespace gradwire::gui
