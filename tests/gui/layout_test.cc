#include <QDockWidget>
#include <QDragEnterEvent>
#include <QDropEvent>
#include <QMimeData>
#include <QSettings>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"
#include "tests/cli/program.h"

using namespace gradwire;
using namespace gradwire::gui;

namespace {

/// Settings of its own, so that windows may remember.
struct Remembering {
  Remembering() {
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, folder.path());
    samples::write_sample_database(database.toStdString(), 6);
  }
  std::unique_ptr<MainWindow> open(const QString& file) {
    auto window =
        std::make_unique<MainWindow>(WindowOptions{file, {}, true}, [](const std::string& path) {
          return results::Store::open(path, results::Store::Mode::kReadOnly);
        });
    window->resize(1200, 760);
    window->show();
    return window;
  }
  QTemporaryDir folder;
  QString database = folder.filePath("runs.db");
};

QAction* action(MainWindow& window, const QString& keys) {
  for (QAction* each : window.findChildren<QAction*>())
    if (each->shortcuts().contains(QKeySequence(keys))) return each;
  FAIL("no action has " << keys.toStdString());
  return nullptr;
}

QDockWidget* dock(MainWindow& window, const char* name) {
  return window.findChild<QDockWidget*>(name);
}

bool shows(MainWindow& window, int runs) {
  return QTest::qWaitFor([&] { return window.table()->view().total() == runs; }, 8000);
}

void drop(MainWindow& window, const QString& file) {
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(file)});
  QDragEnterEvent enter({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window, &enter);
  CHECK(enter.isAccepted());
  QDropEvent event({50, 50}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QCoreApplication::sendEvent(&window, &event);
}

}  // namespace

TEST_CASE("the layout is kept over a restart, and reset by the menu", "[gui]") {
  Remembering place;
  {
    const auto window = place.open(place.database);
    CHECK_FALSE(dock(*window, "what-if")->isHidden());
    dock(*window, "what-if")->close();
    window->close();
  }
  const auto again = place.open(place.database);
  CHECK(dock(*again, "what-if")->isHidden());
  CHECK_FALSE(dock(*again, "answers")->isHidden());
  action(*again, "Ctrl+Shift+L")->trigger();
  CHECK_FALSE(dock(*again, "what-if")->isHidden());
  // One key gives the chart the whole window, and takes it back.
  action(*again, "F11")->trigger();
  for (const char* name : {"answers", "run", "what-if"}) CHECK(dock(*again, name)->isHidden());
  CHECK(again->table()->isHidden());
  action(*again, "F11")->trigger();
  CHECK_FALSE(again->table()->isHidden());
}

TEST_CASE("a dropped file is opened, and is among the recent ones after a restart", "[gui]") {
  Remembering place;
  const QString other = place.folder.filePath("other.db"),
                scenario = place.folder.filePath("mine.json");
  samples::write_sample_database(other.toStdString(), 9);
  write_file(scenario.toStdString(), read_file(testing::source_path("scenarios/alexnet.json")));
  {
    const auto window = place.open(place.database);
    REQUIRE(shows(*window, 6));
    drop(*window, other);
    CHECK(shows(*window, 9));
    drop(*window, scenario);
    CHECK(window->run_panel()->scenario() == scenario);
    CHECK(window->editor()->text()->toPlainText().contains("alexnet"));
    window->close();
  }
  const auto again = place.open(place.database);
  REQUIRE(shows(*again, 6));
  QStringList recent;
  for (const QAction* each : again->findChildren<QAction*>()) recent << each->text();
  CHECK(recent.contains(other));
  CHECK(recent.contains(scenario));
  for (QAction* each : again->findChildren<QAction*>())
    if (each->text() == other) {
      each->trigger();
      break;
    }
  CHECK(shows(*again, 9));
}
