#pragma once
#include <QLocale>
#include <QString>
#include <QStringList>
#include <vector>

namespace gradwire::gui {

/// What a picture shows, as a table: for those who cannot see it, and for the clipboard.
struct DataTable {
  QString title;
  QStringList header;
  std::vector<QStringList> rows;  ///< each as long as the header
};

/// Of a picture of more, the first so many are listed, and the title says so.
inline constexpr std::size_t kMostTableRows = 5000;
/// ": 7 points", ": 9,000 points, of which the first 5,000".
inline QString counted(std::size_t all, const char* what) {
  const QLocale locale = QLocale::c();
  QString text = QString(": %1 %2").arg(locale.toString(qulonglong(all)), what);
  if (all > kMostTableRows) {
    text += QString(", of which the first %1").arg(locale.toString(qulonglong(kMostTableRows)));
  }
  return text;
}

}  // namespace gradwire::gui
