#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "gui/samples/sample_runs.h"
#include "gui/views/query_view.h"
#include "results/store/saved_queries.h"

using namespace gradwire;
using namespace gradwire::gui;
using Catch::Contains;

namespace {

/// The dialog over a database of six made-up runs, with its own file of saved queries.
struct Asked {
  Asked() {
    samples::write_sample_database(database, 6);
    results::save_query(queries, "count", "SELECT count(*) AS n FROM v_runs");
    view = std::make_unique<QueryView>(QString::fromStdString(database), queries);
    view->setAttribute(Qt::WA_DeleteOnClose, false);
    view->show();
    answered = std::make_unique<QSignalSpy>(view.get(), &QueryView::answered);
  }
  void ask(const char* sql) {
    view->sql()->setPlainText(sql);
    view->run();
    REQUIRE(answered->wait(8000));
  }
  QTemporaryDir folder;
  std::string database = folder.filePath("runs.db").toStdString(),
              queries = folder.filePath("queries.json").toStdString();
  std::unique_ptr<QueryView> view;
  std::unique_ptr<QSignalSpy> answered;
};

}  // namespace

TEST_CASE("a saved query is chosen, asked, copied and exported by keys", "[gui]") {
  Asked asked;
  QueryView& view = *asked.view;
  REQUIRE(view.saved()->findText("count") == 0);
  view.saved()->setFocus();
  view.saved()->setCurrentIndex(-1);
  QTest::keyClick(view.saved(), Qt::Key_Down);
  REQUIRE(asked.answered->wait(8000));
  CHECK(view.sql()->toPlainText() == "SELECT count(*) AS n FROM v_runs");
  CHECK(view.table()->copied_text() == "n\n6\n");
  // A duration is read with its unit, and exported to full precision.
  asked.ask("SELECT 0.0123456789 AS step_s, 'a, b' AS name, NULL AS missing");
  CHECK(view.table()->shown().rows.at(0) == QStringList({"12.3 ms", "a, b", QStringLiteral("–")}));
  const QString file = asked.folder.filePath("out.csv");
  view.export_csv(file);
  CHECK(read_file(file.toStdString()) == "step_s,name,missing\r\n0.0123456789,\"a, b\",\r\n");
}

TEST_CASE("queries are kept and forgotten where the command line finds them", "[gui]") {
  Asked asked;
  QueryView& view = *asked.view;
  view.sql()->setPlainText("SELECT 1");
  view.saved()->setEditText("one");
  view.save();
  CHECK(results::saved_queries(asked.queries).at("one") == "SELECT 1");
  CHECK(view.saved()->findText("one") >= 0);
  view.forget();
  CHECK(results::saved_queries(asked.queries).count("one") == 0);
  view.saved()->setEditText("");
  view.save();
  CHECK(view.problem().contains("name"));
}

TEST_CASE("wrong SQL is explained, writing refused, a long query stopped", "[gui]") {
  Asked asked;
  asked.ask("SELECT nonsense FROM v_runs");
  CHECK(asked.view->problem().contains("nonsense"));
  asked.ask("DELETE FROM runs");
  CHECK_FALSE(asked.view->problem().isEmpty());
  asked.ask("SELECT count(*) FROM runs");
  CHECK(asked.view->table()->shown().rows.at(0) == QStringList("6"));
  asked.view->sql()->setPlainText(
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT sum(i) FROM n");
  asked.view->run();
  QTest::qWait(100);
  asked.view->stop();
  CHECK(asked.view->problem() == "Stopped.");
  // The thread is free again at once.
  asked.ask("SELECT 2");
  CHECK(asked.view->table()->shown().rows.at(0) == QStringList("2"));
}
