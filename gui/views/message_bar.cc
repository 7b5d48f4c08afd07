#include "gui/views/message_bar.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QToolButton>

#include "gui/charts/theme.h"

namespace gradwire::gui {

MessageBar::MessageBar(Kind kind, QWidget* parent) : QFrame(parent), kind_(kind) {
  label_ = new QLabel(this);
  label_->setWordWrap(true);
  label_->setTextFormat(Qt::PlainText);
  label_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label_->setAccessibleName(kind == Kind::kError ? "Error" : "Note");
  action_ = new QPushButton(this);
  auto* close = new QToolButton(this);
  close->setText("✕");
  close->setAutoRaise(true);
  close->setAccessibleName("Close the message");
  auto* layout = new QHBoxLayout(this);
  layout->setContentsMargins(10, 4, 6, 4);
  layout->addWidget(label_, 1);
  layout->addWidget(action_);
  layout->addWidget(close);
  setAutoFillBackground(true);
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  connect(action_, &QPushButton::clicked, this, &MessageBar::action_triggered);
  colour();
  hide();
}

void MessageBar::show_message(const QString& text, const QString& action) {
  label_->setText(text);
  action_->setText(action);
  action_->setVisible(!action.isEmpty());
  show();
}

void MessageBar::changeEvent(QEvent* event) {
  QFrame::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) colour();
}

void MessageBar::colour() {
  QPalette palette = parentWidget() ? parentWidget()->palette() : this->palette();
  const Theme theme = theme_of(palette);
  const QColor tint = kind_ == Kind::kError ? category_colour(theme, 5) : theme.accent;
  const auto mixed = [&](int base, int over) { return base + (over - base) * 22 / 100; };
  const QColor base = palette.color(QPalette::Window);
  const QColor fill(mixed(base.red(), tint.red()), mixed(base.green(), tint.green()),
                    mixed(base.blue(), tint.blue()));
  palette.setColor(QPalette::Window, fill);
  palette.setColor(QPalette::WindowText, with_contrast(theme.ink, fill, 4.5));
  setPalette(palette);
}

}  // namespace gradwire::gui
