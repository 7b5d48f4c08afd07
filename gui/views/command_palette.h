#pragma once
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>

namespace gradwire::gui {

/// Every action of the menus by name: type a few letters, Return does it. Not modal.
class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  CommandPalette(const QMenuBar* menus, QWidget* parent);

  QLineEdit* field() const { return field_; }
  QListWidget* list() const { return list_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void add_menu(const QMenu& menu, const QString& path);
  void filter(const QString& words);
  void choose();

  QLineEdit* field_;
  QListWidget* list_;
  QList<QAction*> actions_;  ///< by row of the list
};

}  // namespace gradwire::gui
