#include "gui/jobs/run_process.h"

#include <QJsonObject>
#include <QSignalSpy>
#include <QTest>
#include <catch2/catch.hpp>

#include "tests/gui/jobs/fake_program.h"

using namespace gradwire::gui;
using namespace gradwire::testing;

namespace {

constexpr const char* kSlowRun = R"(
trap 'echo interrupted >&2; exit 130' INT
i=0
while [ $i -lt 400 ]; do
  i=$((i + 1))
  echo '{"type":"progress","run":0,"runs":2,"name":"demo","method":"terngrad","seed":1,"step":'$i',"steps":400,"simulated_s":1.5,"wall_s":0.2,"remaining_s":9,"loss":0.7}'
  sleep 0.02
done
)";

/// Ignores the first signal: only SIGKILL ends it.
constexpr const char* kStubbornRun = R"(
trap '' INT TERM
echo '{"type":"progress","run":0,"runs":1,"name":"demo","method":"none","seed":1,"step":1,"steps":4,"simulated_s":1,"wall_s":1}'
while :; do sleep 0.05; done
)";

}  // namespace

TEST_CASE("a running scenario shows its progress, leaves the window usable, and cancels", "[gui]") {
  FakeProgram program(kSlowRun);
  MainWindow window(program.options(), open_fake);
  window.show();
  REQUIRE(QTest::qWaitForWindowActive(&window));
  RunPanel* panel = window.run_panel();
  QTest::keyClick(&window, Qt::Key_Return, Qt::ControlModifier);
  REQUIRE(QTest::qWaitFor([&] { return panel->queue()->rowCount() == 1; }, 5000));
  REQUIRE(QTest::qWaitFor([&] { return panel->queue()->entries()[0].progress.step > 5; }, 5000));
  CHECK(panel->state_text() == "0 of 2 runs done");
  CHECK(entry_text(panel->queue()->entries()[0]).contains("1.50 s simulated in 200 ms"));
  CHECK(QApplication::activeModalWidget() == nullptr);
  // The window works meanwhile.
  QLineEdit* filter = window.table()->filter_field();
  filter->setText("terngrad");
  QTest::keyClick(filter, Qt::Key_Return);
  CHECK(window.table()->view().rows() < 20);
  // A cancel is acknowledged at once, before the child has reacted.
  QSignalSpy ended(panel, &RunPanel::ended);
  QTest::keyClick(&window, Qt::Key_Period, Qt::ControlModifier);
  CHECK(panel->process()->cancelling());
  CHECK(panel->log_text().contains("Cancelling"));
  REQUIRE((ended.count() > 0 || ended.wait(5000)));
  CHECK(ended[0][0].value<RunProcess::Outcome>() == RunProcess::Outcome::kCancelled);
  CHECK(panel->log_text().contains("interrupted"));
  CHECK(panel->queue()->entries()[0].state == QueueState::kCancelled);
  CHECK(panel->queue()->entries()[0].progress.step < 400);
  CHECK_FALSE(panel->process()->running());
}

TEST_CASE("a partial run in the queue says how far it came", "[gui]") {
  // The last message that was shown said 90 of 100; 15 steps are what the database has.
  const QJsonObject row{{"run", 1},           {"status", "partial"}, {"scenario_name", "s"},
                        {"steps_done", 15},   {"steps_total", 100},  {"seed", 1},
                        {"step_time_s", 0.05}};
  RunQueueModel queue;
  RunProgress progress;
  progress.run = 1;
  progress.name = "s";
  progress.step = 90;
  progress.steps = 100;
  queue.update(progress);
  queue.finish_run(row);
  CHECK(queue.entries()[0].state == QueueState::kCancelled);
  CHECK(entry_text(queue.entries()[0]).contains("partial"));
  CHECK(entry_text(queue.entries()[0]).contains("15 of 100 steps"));
  QJsonObject finished = row;
  finished["status"] = "finished";
  finished["steps_done"] = 100;
  queue.finish_run(finished);
  CHECK(queue.entries()[0].state == QueueState::kFinished);
  CHECK(entry_text(queue.entries()[0]).contains("100 of 100 steps"));
}

TEST_CASE("a second cancel ends a run that does not listen", "[gui]") {
  FakeProgram program(kStubbornRun);
  RunProcess process;
  QSignalSpy progressed(&process, &RunProcess::progressed);
  QSignalSpy ended(&process, &RunProcess::ended);
  process.start(program.path("scenario.json"), program.path("runs.db"));
  REQUIRE(progressed.wait(5000));
  process.cancel();
  CHECK_FALSE(ended.wait(300));
  CHECK(process.running());
  process.cancel();
  REQUIRE((ended.count() > 0 || ended.wait(3000)));
  CHECK_FALSE(process.running());
}

TEST_CASE("lines of every type are understood, unknown ones logged", "[gui]") {
  FakeProgram program(R"(
echo "$@" >&2
echo '{"type":"progress","run":0,"runs":1,"name":"a","method":"none","seed":3,"step":4,"steps":4,"simulated_s":2,"wall_s":1,"remaining_s":0,"loss":0.5}'
echo '{"type":"run","run":0,"name":"a","method":"none","seed":3,"final_accuracy":0.912}'
echo '{"type":"run","id":7,"scenario_name":"b","method":"topk","seed":"5","status":"finished","steps_done":9,"steps_total":9,"simulated_s":2,"step_time_s":0.25}'
echo '{"type":"weather","sunny":true}'
echo 'not json at all'
printf '{"type":"summary","runs":1}'
)");
  RunPanel panel;
  panel.set_scenario(program.path("scenario.json"));
  panel.set_database(program.path("runs.db"));
  QSignalSpy ended(&panel, &RunPanel::ended);
  panel.start();
  REQUIRE(ended.wait(5000));
  CHECK(ended[0][0].value<RunProcess::Outcome>() == RunProcess::Outcome::kFinished);
  const QString log = panel.log_text();
  CHECK(log.contains("run " + program.path("scenario.json") + " --db " + program.path("runs.db") +
                     " --format jsonl"));
  CHECK(log.contains("weather"));
  CHECK(log.contains("not json at all"));
  CHECK(log.contains("\"type\":\"summary\""));
  // The second row is a run that reported no progress: a line of its own.
  REQUIRE(panel.queue()->rowCount() == 2);
  CHECK(entry_title(panel.queue()->entries()[1]) == "b · topk · seed 5");
  CHECK(panel.queue()->entries()[1].result == "250 ms a step");
  CHECK(panel.queue()->entries()[0].state == QueueState::kFinished);
  CHECK(panel.queue()->entries()[0].result == "accuracy 91.2 %");
}

TEST_CASE("failures say why, in the window", "[gui]") {
  FakeProgram program(R"(
echo '{"type":"error","message":"scenario.json:3: /method/name: no such method"}'
exit 3
)");
  MainWindow window(program.options(), open_fake);
  QSignalSpy ended(window.run_panel(), &RunPanel::ended);
  window.run_panel()->start();
  REQUIRE(ended.wait(5000));
  CHECK(window.error_text().contains("no such method"));
  CHECK(window.error_text().contains("exit code 3"));

  qputenv("GRADWIRE_PROGRAM", "/nowhere/gradwire");
  window.run_panel()->start();
  REQUIRE((ended.count() > 1 || ended.wait(5000)));
  CHECK(window.error_text().contains("/nowhere/gradwire"));
}

TEST_CASE("a run is paused and goes on, and its loss is drawn while it runs", "[gui]") {
  FakeProgram program(R"(
i=0
while [ $i -lt 2000 ]; do
  i=$((i + 1))
  echo '{"type":"progress","run":0,"runs":1,"name":"demo","method":"terngrad","seed":1,"step":'$i',"steps":2000,"loss":'$((3000 - i))'}'
  sleep 0.01
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
  REQUIRE(QTest::qWaitFor([&] { return step() > 5; }, 5000));
  // The live curve falls, as the losses do.
  REQUIRE(QTest::qWaitFor([&] { return !panel->curve()->isHidden(); }, 2000));
  const auto& series = panel->curve()->figure().series;
  REQUIRE(series.size() == 1);
  CHECK(series[0].name == "terngrad, seed 1");
  CHECK(series[0].y.front() > series[0].y.back());
  panel->toggle_pause();
  CHECK(panel->state_text() == "Paused.");
  QTest::qWait(200);  // what was on its way has come
  const auto stopped = step();
  QTest::qWait(300);
  CHECK(step() == stopped);
  panel->toggle_pause();
  CHECK(QTest::qWaitFor([&] { return step() > stopped + 3; }, 5000));
  // A paused run can be cancelled: it goes on to its end.
  panel->toggle_pause();
  QSignalSpy ended(panel, &RunPanel::ended);
  panel->cancel();
  CHECK(ended.wait(5000));
}
