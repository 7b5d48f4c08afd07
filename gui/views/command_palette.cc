#include "gui/views/command_palette.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMenu>
#include <QPointer>
#include <QTimer>
#include <QVBoxLayout>

namespace gradwire::gui {

CommandPalette::CommandPalette(const QString& title, const QString& hint,
                               std::vector<PaletteEntry> entries, QWidget* parent)
    : QDialog(parent), entries_(std::move(entries)) {
  setWindowTitle(title);
  setModal(false);
  setAttribute(Qt::WA_DeleteOnClose);
  field_ = new QLineEdit(this);
  field_->setPlaceholderText(hint);
  field_->setAccessibleName(hint);
  list_ = new QListWidget(this);
  list_->setAccessibleName(title);
  list_->setFocusPolicy(Qt::NoFocus);
  for (const PaletteEntry& entry : entries_) list_->addItem(entry.text);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(field_);
  layout->addWidget(list_);
  field_->installEventFilter(this);
  connect(field_, &QLineEdit::textChanged, this, &CommandPalette::filter);
  connect(field_, &QLineEdit::returnPressed, this, &CommandPalette::choose);
  connect(list_, &QListWidget::itemClicked, this, &CommandPalette::choose);
  filter({});
  resize(fontMetrics().averageCharWidth() * 70, fontMetrics().height() * 20);
}

namespace {

void add_entries(const QMenu& menu, const QString& path, std::vector<PaletteEntry>& entries) {
  for (QAction* action : menu.actions()) {
    const QString name = path + QStringLiteral(" › ") + action->text().remove('&');
    if (action->menu()) {
      add_entries(*action->menu(), name, entries);
    } else if (!action->isSeparator() && action->isEnabled()) {
      const QString key = action->shortcut().toString(QKeySequence::NativeText);
      entries.push_back({key.isEmpty() ? name : name + "    " + key, [action = QPointer(action)] {
                           if (action) action->trigger();
                         }});
    }
  }
}

}  // namespace

std::vector<PaletteEntry> menu_entries(const QMenuBar& menus) {
  std::vector<PaletteEntry> entries;
  for (const QAction* action : menus.actions()) {
    if (action->menu()) add_entries(*action->menu(), action->text().remove('&'), entries);
  }
  return entries;
}

void CommandPalette::filter(const QString& text) {
  const QStringList words = text.split(' ', Qt::SkipEmptyParts);
  int first = -1;
  for (int row = 0; row < list_->count(); ++row) {
    QListWidgetItem* item = list_->item(row);
    const bool fits = std::all_of(words.begin(), words.end(), [&](const QString& word) {
      return item->text().contains(word, Qt::CaseInsensitive);
    });
    item->setHidden(!fits);
    if (fits && first < 0) first = row;
  }
  list_->setCurrentRow(first);
}

void CommandPalette::choose() {
  const int row = list_->currentRow();
  if (row < 0 || list_->item(row)->isHidden()) return;
  // After this window is gone, so that the action finds the focus where it was.
  QTimer::singleShot(0, qApp, entries_[static_cast<std::size_t>(row)].work);
  close();
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() != QEvent::KeyPress) return QDialog::eventFilter(watched, event);
  const int key = static_cast<QKeyEvent*>(event)->key();
  if (key != Qt::Key_Down && key != Qt::Key_Up) return QDialog::eventFilter(watched, event);
  const int step = key == Qt::Key_Down ? 1 : -1;
  for (int row = list_->currentRow() + step; row >= 0 && row < list_->count(); row += step) {
    if (list_->item(row)->isHidden()) continue;
    list_->setCurrentRow(row);
    break;
  }
  return true;
}

}  // namespace gradwire::gui
