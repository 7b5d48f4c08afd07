#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "results/export/export.h"
#include "tests/cli/program.h"
#include "tests/gui/jobs/fake_program.h"

// Undo is of the scenario's text alone: whatever has the focus, and however often it is pressed, no
// run that is stored or under way is lost.

using namespace gradwire;
using namespace gradwire::gui;
using namespace gradwire::testing;
using results::Store;

namespace {

constexpr const char* kScenario = R"({"schema_version": 1, "name": "undone",
  "workload": {"profile": "alexnet", "steps": 3}, "method": {"name": "fp16"},
  "cluster": {"workers": 4, "device": "reference-cpu"}, "executor": "flow",
  "network": {"topology": "star", "link": {"bandwidth": "1Gbps", "delay": "50us"}}})";

/// All that is stored of runs and their steps.
std::string stored(const std::string& path) {
  const auto store = open_to_read(path);
  const auto runs = store->runs();
  std::string text = export_runs(runs, results::ExportFormat::kCsv);
  for (const auto& run : runs) {
    text += export_steps(*store, run.id, results::ExportFormat::kCsv);
    text += export_metrics(*store, run.id, results::ExportFormat::kCsv);
  }
  return text;
}

/// Ctrl+Z, as often as nobody presses it, on everything that can have the focus.
void undo_everywhere(MainWindow& window) {
  for (QWidget* widget :
       std::initializer_list<QWidget*>{window.table()->table(), window.tradeoff()->chart(),
                                       window.editor()->text(), window.run_panel()}) {
    widget->setFocus();
    for (int i = 0; i < 30; ++i) QTest::keyClick(widget, Qt::Key_Z, Qt::ControlModifier);
  }
}

void type_steps(ScenarioEditor& editor, const char* from, const char* to) {
  QTextCursor cursor = editor.text()->document()->find(from);
  REQUIRE_FALSE(cursor.isNull());
  editor.text()->setTextCursor(cursor);
  QTest::keyClicks(editor.text(), to);
}

}  // namespace

TEST_CASE("undo takes back edits of the scenario and no run", "[gui]") {
  FakeProgram folder("");
  const std::string database = folder.path("runs.db").toStdString();
  write_file(folder.path("scenario.json").toStdString(), std::string(kScenario));
  samples::write_sample_database(database, 6);
  qputenv("GRADWIRE_PROGRAM", QByteArray::fromStdString(program_path()));
  MainWindow window(folder.options(), open_to_read);
  window.show();
  REQUIRE(QTest::qWaitForWindowActive(&window));
  REQUIRE(QTest::qWaitFor([&] { return window.table()->view().total() == 6; }, 5000));
  window.charts()->setCurrentWidget(window.editor());
  ScenarioEditor& editor = *window.editor();
  type_steps(editor, "\"steps\": 3", "\"steps\": 2");
  const QString edited = editor.text()->toPlainText();
  // Starting saves what was edited, and runs it.
  QSignalSpy ended(window.run_panel(), &RunPanel::ended);
  QTest::keyClick(&window, Qt::Key_Return, Qt::ControlModifier);
  REQUIRE((ended.count() > 0 || ended.wait(60000)));
  INFO(window.run_panel()->log_text().toStdString());
  REQUIRE(QTest::qWaitFor([&] { return window.table()->view().total() == 7; }, 5000));
  const std::string before = stored(database);
  window.table()->filter_field()->setText("workers>=1");
  window.table()->apply_filter();

  undo_everywhere(window);
  CHECK(editor.text()->toPlainText().toStdString() == kScenario);
  CHECK(stored(database) == before);
  QTest::keyClick(&window, Qt::Key_F5);
  QTest::qWait(100);
  CHECK(window.table()->view().total() == 7);
  CHECK(window.run_panel()->queue()->rowCount() == 1);
  // Filters have a way back of their own, and redo brings the edit again.
  CHECK(window.table()->filter_field()->text() == "workers>=1");
  for (int i = 0; i < 30; ++i) QTest::keySequence(&window, QKeySequence(QKeySequence::Redo));
  CHECK(editor.text()->toPlainText().toStdString() == edited.toStdString());
  // The file is what was run: it changes when it is saved.
  CHECK(read_file(folder.path("scenario.json").toStdString()) == edited.toStdString());

  // A run that is lost is seen above.
  Store::open(database, Store::Mode::kReadWrite)->remove_run(7);
  CHECK(stored(database) != before);
}

TEST_CASE("undo leaves the run that is under way alone", "[gui]") {
  FakeProgram program(R"(
trap 'exit 130' INT TERM HUP
i=0
while [ $i -lt 400 ]; do
  i=$((i + 1))
  echo '{"type":"progress","run":0,"runs":1,"name":"demo","method":"none","seed":1,"step":'$i',"steps":400}'
  sleep 0.02
done
)");
  MainWindow window(program.options(), open_fake);
  window.show();
  REQUIRE(QTest::qWaitForWindowActive(&window));
  RunPanel* panel = window.run_panel();
  panel->start();
  const auto step = [&] {
    return panel->queue()->rowCount() ? panel->queue()->entries()[0].progress.step : 0;
  };
  REQUIRE(QTest::qWaitFor([&] { return step() > 2; }, 5000));
  window.charts()->setCurrentWidget(window.editor());
  undo_everywhere(window);
  const auto seen = step();
  CHECK(QTest::qWaitFor([&] { return step() > seen + 5; }, 5000));
  CHECK(panel->process()->running());
  CHECK_FALSE(panel->process()->cancelling());
}
