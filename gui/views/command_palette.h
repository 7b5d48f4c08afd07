#pragma once
#include <QDialog>
#include <QLineEdit>
#include <QListWidget>
#include <QMenuBar>
#include <functional>
#include <vector>

namespace gradwire::gui {

/// One of many things to do or to go to.
struct PaletteEntry {
  QString text;
  std::function<void()> work;
};

/// Finds one of many by a few letters of its text; Return does it. Not modal.
class CommandPalette : public QDialog {
  Q_OBJECT

 public:
  /// `title`: "Commands"; `hint`: what to type.
  CommandPalette(const QString& title, const QString& hint, std::vector<PaletteEntry> entries,
                 QWidget* parent);

  QLineEdit* field() const { return field_; }
  QListWidget* list() const { return list_; }

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void filter(const QString& words);
  void choose();

  QLineEdit* field_;
  QListWidget* list_;
  std::vector<PaletteEntry> entries_;  ///< by row of the list
};

/// Every action of the menus, with its keys.
std::vector<PaletteEntry> menu_entries(const QMenuBar& menus);

}  // namespace gradwire::gui
