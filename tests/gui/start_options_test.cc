#include "gui/start_options.h"

#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "gui/samples/sample_runs.h"
#include "results/store/store.h"

using namespace gradwire::gui;
using Catch::Contains;

TEST_CASE("arguments are told by what they are, in any order", "[unit]") {
  CHECK(start_options({}, {}).database == "gradwire.db");
  CHECK(start_options({}, "s.json").scenario == "s.json");
  for (const QStringList& arguments :
       {QStringList{"runs.db", "a/mine.gradwire.json", "run:3@1s..2s"},
        QStringList{"run:3@1s..2s", "a/mine.gradwire.json", "runs.db"}}) {
    const WindowOptions options = start_options(arguments, {});
    CHECK(options.database == "runs.db");
    CHECK(options.scenario == "a/mine.gradwire.json");
    CHECK(options.link == "run:3@1s..2s");
  }
  // A double click hands a file over, and nothing else: the usual database stays.
  CHECK(start_options({"/home/me/mine.JSON"}, {}).scenario == "/home/me/mine.JSON");
  CHECK(start_options({"/home/me/mine.JSON"}, {}).database == "gradwire.db");
  CHECK(start_options({"/home/me/gradwire.db"}, {}).database == "/home/me/gradwire.db");
  CHECK(start_options({"/home/me/gradwire.db"}, {}).scenario.isEmpty());
  CHECK_THROWS_WITH(start_options({"a.db", "b.db"}, {}),
                    Contains("more than one results database"));
  CHECK_THROWS_WITH(start_options({"a.json"}, "b.json"), Contains("more than one scenario"));
  CHECK_THROWS_WITH(start_options({"run:1", "run:2"}, {}), Contains("more than one link"));
  CHECK_THROWS_WITH(start_options({"run:x"}, {}), Contains("number from 1"));
}

TEST_CASE("a database and a scenario open from the command line", "[gui]") {
  QTemporaryDir folder;
  const QString database = folder.filePath("runs.db"),
                scenario = folder.filePath("mine.gradwire.json");
  samples::write_sample_database(database.toStdString(), 3);
  gradwire::write_file(scenario.toStdString(),
                       std::string(R"({"schema_version": 1, "name": "mine"})"));
  const auto opener = [](const std::string& path) {
    return gradwire::results::Store::open(path, gradwire::results::Store::Mode::kReadOnly);
  };
  const auto shows_both = [&](MainWindow& window) {
    return QTest::qWaitFor([&] { return window.table()->view().total() == 3; }, 5000) &&
           window.run_panel()->scenario() == scenario && window.editor()->path() == scenario;
  };
  WindowOptions options = start_options({scenario, database}, {});
  options.remember = false;
  MainWindow started(options, opener);
  CHECK(shows_both(started));
}
