#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "base/file_descriptor.h"
#include "tests/cli/program.h"
#include "tests/gui/jobs/fake_program.h"

// A cancel takes effect in the key's own event, whatever the window does next; what was done by
// then is kept. How long that event takes is a row of `gradwire bench gui`.

using namespace gradwire;
using namespace gradwire::gui;
using namespace gradwire::testing;
using results::Store;

namespace {

/// Says in a file that it was interrupted; the file's folder is the scenario's.
constexpr const char* kTellsOfInterrupt = R"(
trap 'touch "$(dirname "$2")/interrupted"; exit 130' INT
while :; do
  echo '{"type":"progress","run":0,"runs":1,"name":"demo","method":"none","seed":1,"step":1,"steps":4}'
  sleep 0.01
done
)";

/// Without any event of the window: as if it were busy.
bool appears_meanwhile(const QString& file, std::chrono::milliseconds patience) {
  const auto end = std::chrono::steady_clock::now() + patience;
  while (!QFile::exists(file)) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// A layer table of so many steps that nobody waits for its end.
constexpr const char* kLongScenario = R"({"schema_version": 1, "name": "long",
  "workload": {"profile": "alexnet", "steps": 1000000}, "method": {"name": "fp16"},
  "cluster": {"workers": 4, "device": "reference-cpu"}, "executor": "flow",
  "network": {"topology": "star", "link": {"bandwidth": "1Gbps", "delay": "50us"}}})";

}  // namespace

TEST_CASE("a cancel reaches the run although the window is busy from then on", "[gui]") {
  FakeProgram program(kTellsOfInterrupt);
  MainWindow window(program.options(), open_fake);
  window.show();
  REQUIRE(QTest::qWaitForWindowActive(&window));
  RunPanel* panel = window.run_panel();
  panel->start();
  REQUIRE(QTest::qWaitFor([&] { return panel->queue()->rowCount() == 1; }, 5000));
  const QString mark = program.path("interrupted");
  // Nobody has cancelled: a run that ends by itself would show nothing below.
  CHECK_FALSE(appears_meanwhile(mark, std::chrono::milliseconds(100)));
  QTest::keyClick(&window, Qt::Key_Period, Qt::ControlModifier);
  // The window says so at once, in the panel, its button and its log.
  CHECK(panel->state_text() == QString::fromUtf8("Cancelling…"));
  CHECK(panel->log_text().contains("Cancelling"));
  CHECK(appears_meanwhile(mark, std::chrono::seconds(10)));
  QSignalSpy ended(panel, &RunPanel::ended);
  REQUIRE(ended.wait(5000));
  CHECK(ended[0][0].value<RunProcess::Outcome>() == RunProcess::Outcome::kCancelled);
  CHECK(QApplication::activeModalWidget() == nullptr);
}

TEST_CASE("a cancel in the moment of the start is not lost", "[gui]") {
  for (int i = 0; i < 10; ++i) {
    FakeProgram program(kTellsOfInterrupt);
    RunProcess process;
    QSignalSpy ended(&process, &RunProcess::ended);
    process.start(program.path("scenario.json"), program.path("runs.db"));
    process.cancel();
    REQUIRE((ended.count() > 0 || ended.wait(5000)));
    CHECK(ended[0][0].value<RunProcess::Outcome>() == RunProcess::Outcome::kCancelled);
  }
}

TEST_CASE("a cancelled run of the real program is kept, with its steps, as partial", "[gui]") {
  FakeProgram folder("");
  write_file(folder.path("scenario.json").toStdString(), std::string(kLongScenario));
  qputenv("GRADWIRE_PROGRAM", QByteArray::fromStdString(program_path()));
  MainWindow window(folder.options(), open_to_read);
  window.show();
  REQUIRE(QTest::qWaitForWindowActive(&window));
  RunPanel* panel = window.run_panel();
  QSignalSpy ended(panel, &RunPanel::ended);
  QTest::keyClick(&window, Qt::Key_Return, Qt::ControlModifier);
  const auto step = [&] {
    return panel->queue()->rowCount() ? panel->queue()->entries()[0].progress.step : 0;
  };
  REQUIRE(QTest::qWaitFor([&] { return step() > 0; }, 60000));
  QTest::keyClick(&window, Qt::Key_Period, Qt::ControlModifier);
  REQUIRE((ended.count() > 0 || ended.wait(60000)));
  INFO(panel->log_text().toStdString());
  CHECK(ended[0][0].value<RunProcess::Outcome>() == RunProcess::Outcome::kCancelled);
  CHECK(entry_text(panel->queue()->entries()[0]).contains("partial"));
  const auto store = open_to_read(folder.path("runs.db").toStdString());
  const auto runs = store->runs();
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].status == results::RunStatus::kPartial);
  CHECK(runs[0].steps_done >= step());
  CHECK(runs[0].steps_done < 1000000);
  CHECK(std::int64_t(store->steps(runs[0].id).size()) == runs[0].steps_done);
  // The window shows it without being asked to.
  CHECK(QTest::qWaitFor([&] { return window.table()->view().total() == 1; }, 5000));
}
