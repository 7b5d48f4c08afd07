#include "gui/models/view_state.h"

#include <QMenu>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"

using namespace gradwire::gui;
using namespace gradwire;

namespace {

ViewState named(const char* filter) {
  ViewState view;
  view.filter = filter;
  return view;
}

std::unique_ptr<MainWindow> window_of(const QString& database) {
  auto window =
      std::make_unique<MainWindow>(WindowOptions{database, {}, false}, [](const std::string& path) {
        return results::Store::open(path, results::Store::Mode::kReadOnly);
      });
  QSignalSpy shown(window.get(), &MainWindow::runs_shown);
  window->resize(1280, 800);
  window->show();
  REQUIRE(shown.wait(5000));
  QTest::qWait(20);
  return window;
}

}  // namespace

TEST_CASE("a view is the same after it was written and read", "[unit]") {
  ViewState view = named("workers>=16");
  view.sort_key = "/network/link/bandwidth";
  view.descending = false;
  view.panels = "Method";
  view.log_x = true;
  view.x_view.include(0.1);
  view.x_view.include(12.5);
  CHECK(view_of_json(to_json(view)) == view);
  CHECK(view_of_json(to_json(view)).y_view.empty());
  CHECK_FALSE(view == named("workers>=16"));
  CHECK(view_of_json({}) == ViewState());
}

TEST_CASE("history goes back and forward; going elsewhere forgets what was ahead", "[unit]") {
  ViewHistory history;
  CHECK_FALSE(history.back());
  for (const char* filter : {"a", "b", "b", "c"}) history.visit(named(filter));
  CHECK(history.back()->filter == "b");
  CHECK(history.back()->filter == "a");
  CHECK_FALSE(history.back());
  CHECK(history.forward()->filter == "b");
  history.visit(named("d"));
  CHECK_FALSE(history.forward());
  CHECK(history.back()->filter == "b");
}

TEST_CASE("saved views survive a restart and new runs; they are no data", "[gui]") {
  QTemporaryDir folder;
  const QString database = folder.filePath("runs.db");
  samples::write_sample_database(database.toStdString(), 48);
  {
    const auto window = window_of(database);
    CHECK_FALSE(window->views_menu()->isEnabled());
    window->table()->filter_field()->setText("bandwidth>=1Gbps");
    window->table()->apply_filter();
    window->table()->table()->sortByColumn(int(Column::kStepTime), Qt::AscendingOrder);
    REQUIRE(window->tradeoff()->choose_x("Workers"));
    REQUIRE(window->tradeoff()->choose_y("Step time"));
    QTest::qWait(20);
    window->tradeoff()->chart()->zoom_in();
    window->save_view("fast links");
    CHECK(window->views_menu()->isEnabled());
  }
  CHECK(QFile::exists(database + ".views.json"));
  samples::write_sample_database(database.toStdString(), 30);
  const auto window = window_of(database);
  CHECK(window->table()->view().rows() == 78);
  REQUIRE_FALSE(window->views_menu()->actions().isEmpty());
  window->views_menu()->actions().first()->trigger();
  QTest::qWait(20);
  CHECK(window->table()->filter_field()->text() == "bandwidth>=1Gbps");
  CHECK(window->table()->view().rows() == 30);  // 24 of the first 48, 6 of the 30 that came
  CHECK(window->table()->view().sort_column() == Column::kStepTime);
  CHECK_FALSE(window->table()->view().descending());
  CHECK(window->tradeoff()->chart()->figure().x.label == "workers");
  CHECK(window->tradeoff()->chart()->zoomed());
  // Back to how it was, and forward again.
  QTest::keyClick(window.get(), Qt::Key_Left, Qt::AltModifier);
  QTest::qWait(20);
  CHECK(window->table()->view().rows() == 78);
  CHECK(window->tradeoff()->chart()->figure().x.label == "simulated time");
  QTest::keyClick(window.get(), Qt::Key_Right, Qt::AltModifier);
  QTest::qWait(20);
  CHECK(window->table()->view().rows() == 30);
  // A damaged file of views is told of, and hides no runs.
  write_file((database + ".views.json").toStdString(), std::string("{ nothing"));
  const auto other = window_of(database);
  CHECK(other->table()->view().rows() == 78);
}
