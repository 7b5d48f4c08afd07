#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

#include "gui/main_window.h"
#include "gui/samples/sample_runs.h"

/// Databases that are slow, written to meanwhile, damaged or newer: the window goes on.
using namespace gradwire::gui;
using namespace gradwire::results;

namespace {

Database::Opener real_opener() {
  return [](const std::string& path) { return Store::open(path, Store::Mode::kReadOnly); };
}

/// A window of a real database that says what stands in it.
struct Opened {
  explicit Opened(const QString& path) : window({path, {}, false}, real_opener()) {
    window.resize(1200, 760);
    window.show();
  }
  bool waits_for(const std::function<bool()>& what) { return QTest::qWaitFor(what, 8000); }
  MainWindow window;
};

}  // namespace

TEST_CASE("the window's thread never reads the database", "[gui]") {
  const std::thread::id own = std::this_thread::get_id();
  std::atomic<int> here{0}, elsewhere{0};
  const auto count = [&] { ++(std::this_thread::get_id() == own ? here : elsewhere); };
  MainWindow window({"memory.db", {}, false}, [&](const std::string&) {
    count();
    return samples::make_fake_store(200, count);
  });
  QSignalSpy shown(&window, &MainWindow::runs_shown);
  window.resize(1200, 760);
  window.show();
  REQUIRE(shown.wait(5000));
  // Every tab, with two runs chosen; a filter, a sort, a refresh.
  for (int tab = 0; tab < window.charts()->count(); ++tab) {
    window.charts()->setCurrentIndex(tab);
    window.selection()->select({2 + tab, 10 + tab});
    QTest::qWait(60);
  }
  window.table()->filter_field()->setText("workers>=16");
  window.table()->apply_filter();
  window.table()->table()->sortByColumn(int(Column::kStepTime), Qt::AscendingOrder);
  QTest::keyClick(&window, Qt::Key_F5);
  REQUIRE(shown.wait(5000));
  QTest::qWait(100);
  CHECK(elsewhere > 20);
  CHECK(here == 0);
}

TEST_CASE("a store that takes its time does not hold up the window", "[gui]") {
  std::atomic<bool> slow{false};
  MainWindow window({"memory.db", {}, false}, [&](const std::string&) {
    return samples::make_fake_store(200, [&] {
      if (slow) std::this_thread::sleep_for(std::chrono::milliseconds(400));
    });
  });
  QSignalSpy shown(&window, &MainWindow::runs_shown);
  window.show();
  REQUIRE(shown.wait(5000));
  slow = true;
  // While the timeline is read, rows are filtered: nobody waits for the other.
  window.selection()->select({3});
  window.table()->filter_field()->setText("workers>=16");
  window.table()->apply_filter();
  // Of 24 runs in a row 12 have 16 or 32 workers; the last 8 of 200 have fewer.
  CHECK(window.table()->view().rows() == 96);
  CHECK(window.timeline()->rows().rows.empty());
  CHECK(QTest::qWaitFor([&] { return !window.timeline()->rows().rows.empty(); }, 8000));
  slow = false;
}

TEST_CASE("a database that is written to meanwhile is read as it was, then as it is", "[gui]") {
  QTemporaryDir folder;
  const std::string path = folder.filePath("runs.db").toStdString();
  samples::write_sample_database(path, 6);
  Opened opened(QString::fromStdString(path));
  REQUIRE(opened.waits_for([&] { return opened.window.table()->view().total() == 6; }));
  // A writer that appends runs all the time, as a sweep does.
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    const auto store = Store::open(path, Store::Mode::kReadWrite);
    for (int i = 6; !stop && i < 200; ++i) {
      const RunSummary run = samples::sample_run(i);
      const RunId id = store->begin_run(run.header, run.steps_total);
      store->append(id, samples::sample_steps(run), samples::sample_metrics(run));
      store->put_timeline(id, "simulated", samples::sample_timeline(run, 3));
      store->finish_run(id, run.status, run.error, "", "", {});
    }
  });
  CHECK(opened.waits_for([&] { return opened.window.note_text().contains("new results"); }));
  // The table did not move; runs, timelines and curves can be looked at.
  CHECK(opened.window.table()->view().total() == 6);
  int before = 6;
  for (int i = 0; i < 4; ++i) {
    opened.window.selection()->select({1 + i});
    QSignalSpy shown(&opened.window, &MainWindow::runs_shown);
    QTest::keyClick(&opened.window, Qt::Key_F5);
    REQUIRE(shown.wait(8000));
    CHECK(opened.window.table()->view().total() >= before);
    before = opened.window.table()->view().total();
    CHECK(opened.waits_for([&] {
      const auto& run = opened.window.timeline()->tracks()[0];
      return run && run->run == 1 + i;
    }));
  }
  stop = true;
  writer.join();
  CHECK(before > 6);
  CHECK(opened.window.error_text().isEmpty());
}

TEST_CASE("a database damaged in its middle is an error in the window, not a crash", "[gui]") {
  QTemporaryDir folder;
  const QString path = folder.filePath("torn.db");
  samples::write_sample_database(path.toStdString(), 40);
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadWrite));
  // All pages but the first: the schema is there, what it speaks of is not.
  const qint64 page = 4096;
  REQUIRE(file.size() > 4 * page);
  REQUIRE(file.seek(page));
  file.write(QByteArray(static_cast<int>(file.size() - page), '\x5a'));
  file.close();
  Opened opened(path);
  CHECK(opened.waits_for([&] { return !opened.window.error_text().isEmpty(); }));
  CHECK(opened.window.error_text().contains("torn.db"));
  CHECK(opened.window.table()->view().total() == 0);
  // What is whole opens in the same window.
  const QString whole = folder.filePath("whole.db");
  samples::write_sample_database(whole.toStdString(), 3);
  opened.window.open_database(whole);
  CHECK(opened.waits_for([&] { return opened.window.table()->view().total() == 3; }));
  CHECK(opened.window.error_text().isEmpty());
}

TEST_CASE("a database of a newer program says so, and what to do", "[gui]") {
  QTemporaryDir folder;
  const QString path = folder.filePath("newer.db");
  samples::write_sample_database(path.toStdString(), 3);
  // The schema's number is SQLite's user_version, four bytes at 60 of the file, big-endian.
  QFile file(path);
  REQUIRE(file.open(QIODevice::ReadWrite));
  REQUIRE(file.seek(60));
  file.write(QByteArray::fromHex("000003e7"));
  file.close();
  Opened opened(path);
  CHECK(opened.waits_for([&] { return !opened.window.error_text().isEmpty(); }));
  CHECK(opened.window.error_text().contains("newer"));
  CHECK(opened.window.error_text().contains("newer.db"));
}

TEST_CASE("a database that is cut short while it is open is an error, then it is read again",
          "[gui]") {
  QTemporaryDir folder;
  const QString path = folder.filePath("runs.db");
  samples::write_sample_database(path.toStdString(), 30);
  Opened opened(path);
  REQUIRE(opened.waits_for([&] { return opened.window.table()->view().total() == 30; }));
  QFile file(path);
  const qint64 size = file.size();
  REQUIRE(file.resize(size / 3));
  QTest::keyClick(&opened.window, Qt::Key_F5);
  opened.window.selection()->select({29});
  QTest::qWait(300);
  // The rows that were read stay; nothing crashed.
  CHECK(opened.window.table()->view().total() == 30);
}
