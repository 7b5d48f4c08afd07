#pragma once
#include <QFrame>
#include <QLabel>
#include <QPushButton>

namespace gradwire::gui {

/// A line under the menu for what the user should know: never a modal dialog. Errors and notes are
/// kept apart, so that "new runs available" never hides an error.
class MessageBar : public QFrame {
  Q_OBJECT

 public:
  enum class Kind { kNote, kError };

  MessageBar(Kind kind, QWidget* parent = nullptr);

  /// `action`: text of a button beside the message, empty = none.
  void show_message(const QString& text, const QString& action = {});
  QString text() const { return isHidden() ? QString() : label_->text(); }

 signals:
  void action_triggered();

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void colour();

  Kind kind_;
  QLabel* label_;
  QPushButton* action_;
};

}  // namespace gradwire::gui
