#pragma once
#include <QDialog>
#include <QMenuBar>

namespace gradwire::gui {

/// All keys on one sheet: those of the menus, read from the menus themselves, and those that act
/// when a chart has the focus. Not modal.
class KeySheet : public QDialog {
  Q_OBJECT

 public:
  KeySheet(const QMenuBar* menus, QWidget* parent);
};

}  // namespace gradwire::gui
