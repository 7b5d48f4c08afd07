#pragma once
#include <QString>
#include <functional>

class QWidget;

namespace gradwire::gui {

/// Which file to open, or to write.
struct FileQuestion {
  QString title;
  QString path;     ///< a folder, or the proposed file
  QString formats;  ///< "Pages (*.html);;All files (*)"; a name without an ending gets the first
  bool save = false;
};

/// Shows a dialog that goes on while the window does; `chosen` is called with what is chosen. It is
/// Qt's own on every desktop, and opens no file of the folders that it lists: a process that closes
/// any descriptor of a file gives up all its locks on that file (fcntl(2)), those of SQLite's
/// connections too, and other processes may then remove the database's log under a reader. Whoever
/// asks for a file in this program asks here.
void show_file_dialog(QWidget* parent, const FileQuestion& question,
                      const std::function<void(const QString& file)>& chosen);

}  // namespace gradwire::gui
