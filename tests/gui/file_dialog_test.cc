#include <sys/stat.h>

#include <QDirIterator>
#include <QFileDialog>
#include <QFileInfo>
#include <QProcess>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QTreeView>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <string>

#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"

using namespace gradwire::gui;
using namespace gradwire::results;

namespace {

/// Locks of this process on the file, as the kernel lists them: "1: POSIX ADVISORY READ PID
/// MAJOR:MINOR:INODE FIRST LAST".
int locks_on(const QString& file) {
  struct stat status {};
  REQUIRE(::stat(file.toStdString().c_str(), &status) == 0);
  std::ifstream list("/proc/locks");
  const QString process = QString::number(QCoreApplication::applicationPid());
  const QString inode = ":" + QString::number(status.st_ino);
  int count = 0;
  for (std::string line; std::getline(list, line);) {
    const QStringList words = QString::fromStdString(line).simplified().split(' ');
    count += words.size() > 5 && words[4] == process && words[5].endsWith(inode);
  }
  return count;
}

/// Another process adds so many runs, and is the last one that has the database open as far as it
/// can see: it removes the log if nobody holds a lock.
void add_elsewhere(const QString& file, int runs) {
  const QString program = QString(std::getenv("GRADWIRE_BINARY_DIR")) + "/bin/make_sample_database";
  REQUIRE(QProcess::execute(program, {file, QString::number(runs)}) == 0);
}

/// The window over a database of four runs in a folder with other files.
struct Fixture {
  Fixture() {
    samples::write_sample_database(file.toStdString(), 4);
    for (const char* name : {"no-ending", "page.html", "s.json", "t.csv"}) {
      QFile other(folder.filePath(name));
      REQUIRE(other.open(QIODevice::WriteOnly));
      other.write("something");
    }
    WindowOptions options;
    options.database = file;
    options.remember = false;
    window = std::make_unique<MainWindow>(
        options, [](const std::string& path) { return Store::open(path, Store::Mode::kReadOnly); });
    QSignalSpy shown(window.get(), &MainWindow::runs_shown);
    QSignalSpy answered(window->answers(), &AnswersPanel::answered);
    window->show();
    REQUIRE(shown.wait(5000));
    // Its thread reads the database too.
    REQUIRE((!answered.isEmpty() || answered.wait(20000)));
  }
  void press(const QString& action) const {
    for (QAction* each : window->findChildren<QAction*>())
      if (each->text().remove('&').startsWith(action)) return each->trigger();
    FAIL("no action " << action.toStdString());
  }
  /// Waits until all files of the folder stand in the dialog with icon and kind, and closes it.
  void look_around(QFileDialog* dialog) const {
    REQUIRE(dialog);
    dialog->setNameFilter("All files (*)");
    dialog->setDirectory(folder.path());
    auto* list = dialog->findChild<QTreeView*>("treeView");
    REQUIRE(list);
    const auto rows = [&] { return list->model()->rowCount(list->rootIndex()); };
    CHECK(QTest::qWaitFor([&] { return rows() >= 5; }, 5000));
    QTest::qWait(100);
    for (int row = 0; row < rows(); ++row) {
      const QModelIndex name = list->model()->index(row, 0, list->rootIndex());
      CHECK_FALSE(name.data(Qt::DecorationRole).isNull());
      CHECK_FALSE(name.siblingAtColumn(2).data().toString().isEmpty());
    }
    delete dialog;
    window->activateWindow();
    REQUIRE(QTest::qWaitForWindowActive(window.get()));
  }
  bool shows(int runs) const {
    QTest::keyClick(window.get(), Qt::Key_F5);
    return QTest::qWaitFor([&] { return window->table()->view().rows() == runs; }, 5000);
  }

  QTemporaryDir folder;
  QString file = folder.filePath("runs.db");
  std::unique_ptr<MainWindow> window;
};

}  // namespace

TEST_CASE("a file dialog leaves the database's locks alone", "[gui]") {
  Fixture fixture;
  const int before = locks_on(fixture.file);
  REQUIRE(before > 0);
  for (const char* action : {"Open results database", "Open scenario", "Export the shown runs"}) {
    INFO(action);
    fixture.press(action);
    fixture.look_around(fixture.window->findChild<QFileDialog*>());
    CHECK(locks_on(fixture.file) == before);
  }
  // A second process writes 60 runs and a third one 40: 4 + 100.
  add_elsewhere(fixture.file, 60);
  add_elsewhere(fixture.file, 40);
  CHECK(QTest::qWaitFor([&] { return fixture.window->note_text().contains("new results"); }, 4000));
  CHECK(fixture.shows(104));
}

TEST_CASE("the control: Qt's dialog as it is gives the locks up", "[gui]") {
  Fixture fixture;
  REQUIRE(locks_on(fixture.file) > 0);
  auto* dialog = new QFileDialog(fixture.window.get());
  dialog->open();
  fixture.look_around(dialog);
  CHECK(locks_on(fixture.file) == 0);
}

TEST_CASE("refreshing shows what is stored when the locks were lost", "[gui]") {
  Fixture fixture;
  QFile same(fixture.file);
  REQUIRE(same.open(QIODevice::ReadOnly));
  same.close();  // and with it the locks
  REQUIRE(locks_on(fixture.file) == 0);
  add_elsewhere(fixture.file, 60);  // removes the log that the window reads
  add_elsewhere(fixture.file, 40);
  CHECK(fixture.shows(104));
  CHECK(locks_on(fixture.file) > 0);
}

TEST_CASE("no other place of the desktop program makes a file dialog", "[gui]") {
  const QString gui = QString(std::getenv("GRADWIRE_SOURCE_DIR")) + "/gui";
  QDirIterator files(gui, {"*.cc", "*.h"}, QDir::Files, QDirIterator::Subdirectories);
  QStringList found;
  while (files.hasNext()) {
    QFile file(files.next());
    REQUIRE(file.open(QIODevice::ReadOnly));
    if (file.readAll().contains("QFileDialog")) found << files.fileInfo().fileName();
  }
  CHECK(found == QStringList{"file_dialog.cc"});
}
