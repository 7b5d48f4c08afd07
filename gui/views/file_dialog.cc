#include "gui/views/file_dialog.h"

#include <QFileDialog>
#include <QFileIconProvider>
#include <QFileInfo>
#include <QMimeDatabase>
#include <QRegularExpression>

namespace gradwire::gui {
namespace {

/// Tells files apart by their names; Qt's provider reads their first bytes.
class IconsByName final : public QFileIconProvider {
 public:
  using QFileIconProvider::icon;

  QIcon icon(const QFileInfo& file) const override {
    const QIcon usual = icon(file.isDir() ? IconType::Folder : IconType::File);
    return QIcon::fromTheme(kind(file).iconName(), usual);
  }
  QString type(const QFileInfo& file) const override { return kind(file).comment(); }

 private:
  static QMimeType kind(const QFileInfo& file) {
    return QMimeDatabase().mimeTypeForFile(file, QMimeDatabase::MatchExtension);
  }
};

/// Outlives every dialog: they do not take it.
QFileIconProvider* icons() {
  static IconsByName provider;
  return &provider;
}

}  // namespace

void show_file_dialog(QWidget* parent, const FileQuestion& question,
                      const std::function<void(const QString& file)>& chosen) {
  auto* dialog = new QFileDialog(parent, question.title, question.path, question.formats);
  // A desktop's dialog runs in this process too, and looks into files as it likes.
  dialog->setOption(QFileDialog::DontUseNativeDialog);
  dialog->setIconProvider(icons());
  if (question.save) {
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(
        question.formats.section("*.", 1).section(QRegularExpression("\\W"), 0, 0));
  }
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  QObject::connect(dialog, &QFileDialog::fileSelected, parent, chosen);
  dialog->open();
}

}  // namespace gradwire::gui
