#include <QRegularExpression>
#include <QSignalSpy>
#include <QTableView>
#include <QTest>
#include <catch2/catch.hpp>

#include "base/file_descriptor.h"
#include "gui/main_window.h"
#include "tests/cli/output/stored_figures.h"
#include "tests/cli/program.h"

// The window's first screen, read as a planner reads it: answers, table, status line; then what the
// what-if panel starts from. All of it is recomputed from the store's tables.

using namespace gradwire;
using namespace gradwire::gui;
using namespace gradwire::testing;

namespace {

/// The panel's lines as rows of the report's first screen.
std::vector<Cells> rows_of(const QString& text) {
  std::vector<Cells> rows;
  QString heading, workload;
  const QStringList lines = text.split('\n', Qt::SkipEmptyParts);
  Cells cells;
  for (qsizetype i = 0; i < lines.size(); ++i) {
    const auto column = std::ranges::find_if(
        results::kPlannerColumns, [&](const auto& each) { return lines[i] == each.title; });
    if (column == std::end(results::kPlannerColumns)) {
      static const QRegularExpression name("^([\\w-]+).*: (\\d+) runs?$");
      const auto match = name.match(lines[i]);
      if (match.hasMatch()) {
        workload = match.captured(1);
        cells["count"] = match.captured(2).toStdString();
      }
      heading += lines[i] + " | ";
      continue;
    }
    cells[column->title] = lines[++i].toStdString();
    if (column != std::end(results::kPlannerColumns) - 1) continue;
    cells["workload"] = workload.toStdString();
    cells["runs"] = heading.toStdString();
    rows.push_back(std::exchange(cells, {}));
    heading.clear();
  }
  return rows;
}

struct TableFigure {
  Column column;
  const char* sql;
};
constexpr TableFigure kTableFigures[] = {{Column::kWorkers, "r.workers"},
                                         {Column::kSteps, "r.steps_done"},
                                         {Column::kAccuracy, "r.final_accuracy"},
                                         {Column::kLoss, "r.final_loss"},
                                         {Column::kStepTime, "r.step_time_s"},
                                         {Column::kCompressionRatio, "r.compression_ratio"},
                                         {Column::kTrafficRatio, "r.traffic_ratio"},
                                         {Column::kWireBytes, "r.wire_bytes"},
                                         {Column::kSimulated, "r.simulated_s"},
                                         {Column::kTimeToTarget, "r.time_to_target_s"}};

/// "1.23 %", "-", "41.8 MB", "1,200": against a value, or none.
std::string wrong_in_cell(QString text, const results::Statement& row, int column) {
  const std::optional<double> value = row.column_optional(column);
  if (!value) return text == QStringLiteral("–") ? "" : "shows a figure where there is none";
  return wrong_in(text.remove(',').toStdString(), {*value});
}

/// What the run table shows, of all runs.
std::vector<std::string> wrong_in_table(MainWindow& window, const results::Connection& database) {
  std::vector<std::string> wrong;
  const QAbstractItemModel& model = *window.table()->model();
  for (int row = 0; row < model.rowCount(); ++row) {
    std::string columns = "r.id";
    for (const TableFigure& figure : kTableFigures) columns += std::string(", ") + figure.sql;
    results::Statement stored(database, "SELECT " + columns + " FROM runs r WHERE r.id = ?",
                              "recompute the table");
    stored.bind(1, window.table()->model()->run_at(row));
    REQUIRE(stored.step());
    for (int i = 0; i < int(std::size(kTableFigures)); ++i) {
      const QString text =
          model.index(row, int(kTableFigures[i].column)).data(Qt::DisplayRole).toString();
      const std::string why = wrong_in_cell(text, stored, i + 1);
      if (!why.empty())
        wrong.push_back("run " + stored.column_text(0) + " " + kTableFigures[i].sql + ": \"" +
                        text.toStdString() + "\" " + why);
    }
  }
  return wrong;
}

/// The fields that the what-if panel starts from, against the run's scenario as it is stored; and
/// what it says a thousand steps cost, against the step that it shows.
std::vector<std::string> wrong_in_what_if(MainWindow& window, results::RunId run,
                                          const results::Connection& database) {
  QSignalSpy answered(window.what_if(), &WhatIfPanel::answered);
  window.selection()->select({run});
  REQUIRE(answered.wait(20'000));
  results::Statement stored(
      database,
      "SELECT v.workers, v.bandwidth_bps, v.delay_s, v.link_loss FROM v_runs v WHERE v.run = ?",
      "recompute what if");
  stored.bind(1, run);
  REQUIRE(stored.step());
  std::vector<std::string> wrong;
  int column = 0;
  for (const Knob knob : {Knob::kWorkers, Knob::kBandwidth, Knob::kDelay, Knob::kLoss}) {
    const std::string text = window.what_if()->field(knob)->text().toStdString();
    const std::string why = wrong_in(text, {stored.column_number(column)});
    if (!why.empty()) wrong.push_back(text + " " + why);
    ++column;
  }
  const WhatIfAnswer& answer = *window.what_if()->answer();
  if (!answer.with) return wrong;
  const auto cost = figures(window.what_if()->cost().remove(',').toStdString());
  const double hours = 1000 * stored.column_number(0) * answer.with->seconds() / 3600;
  if (cost.size() < 3 || std::abs(cost[1].value / hours - 1) > 0.01)
    wrong.push_back(window.what_if()->cost().toStdString() + " of " + std::to_string(hours) + " h");
  return wrong;
}

}  // namespace

TEST_CASE("every figure on the window's first screen is what the store says",
          "[golden][needs-torch]") {
  require_training();
  const TemporaryFolder folder;
  const std::string path = folder.file("runs.db");
  run_shipped_scenarios(path);
  MainWindow window({QString::fromStdString(path), {}, false}, [](const std::string& file) {
    return results::Store::open(file, results::Store::Mode::kReadOnly);
  });
  QSignalSpy answered(window.answers(), &AnswersPanel::answered);
  window.resize(1360, 860);
  window.show();
  // Seen without a click or a key.
  REQUIRE(QTest::qWaitFor([&] { return window.answers()->text().contains("quickstart"); }, 60'000));
  CHECK(window.answers()->isVisible());
  const results::Connection database(path, results::Connection::Access::kReadOnly, 1000);
  const std::vector<Cells> screen = rows_of(window.answers()->text());
  const Compared compared = compare_with_store(screen, database);
  CHECK(compared.wrong == std::vector<std::string>());
  CHECK(compared.seen.size() == 6);
  CHECK(missed_damage(screen, database) == std::vector<std::string>());
  CHECK(wrong_in_table(window, database) == std::vector<std::string>());
  results::Statement firsts(database,
                            "SELECT min(r.id) FROM runs r JOIN scenarios s ON s.id = "
                            "r.scenario_id GROUP BY s.name",
                            "find the first runs of");
  while (firsts.step())
    CHECK(wrong_in_what_if(window, firsts.column_integer(0), database) ==
          std::vector<std::string>());
  // The same answers as the report's, in the same words.
  REQUIRE(run_program({"report", "--db", path, "-o", folder.file("report.html")}).exit_code == 0);
  std::vector<Cells> report = first_screen(read_file(folder.file("report.html")));
  REQUIRE(report.size() == screen.size());
  for (std::size_t row = 0; row < report.size(); ++row)
    for (const results::PlannerColumn& column : results::kPlannerColumns)
      CHECK(report[row].at(column.title) == screen[row].at(column.title));
}
