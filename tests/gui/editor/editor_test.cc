#include "gui/editor/scenario_editor.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file_descriptor.h"
#include "scenarios/scenario.h"
#include "scenarios/share.h"

using namespace gradwire::gui;
using namespace gradwire;

namespace {

const char* const kScenario = R"({
  "schema_version": 1,
  "name": "small",
  "workload": { "profile": "alexnet", "batch_per_worker": 32, "steps": 3 },
  "cluster": { "workers": 8, "device": "reference-cpu" },
  "network": {
    "topology": "star",
    "link": { "bandwidth": "1Gbps", "delay": "50us" }
  },
  "executor": "flow",
  "sweep": { "/method/name": ["none", "fp16"] }
}
)";

std::string with(std::string from, const std::string& what, const std::string& by) {
  const std::size_t at = from.find(what);
  REQUIRE(at != std::string::npos);
  return from.replace(at, what.size(), by);
}

const FormField* field(const std::vector<FormField>& fields, const std::string& pointer) {
  for (const FormField& each : fields) {
    if (each.pointer == pointer) return &each;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("a problem has its line, path, what is allowed and the nearest name", "[unit]") {
  const auto verdict =
      check_scenario(with(kScenario, "\"bandwidth\"", "\"bandwith\""), "small.json", {});
  REQUIRE(verdict.problems.size() >= 1);
  const ScenarioProblem& problem = verdict.problems[0];
  CHECK(problem.line == 8);
  CHECK(problem.pointer == "/network/link/bandwith");
  CHECK(problem.suggestion == "bandwidth");
  CHECK(problem.text().contains("did you mean \"bandwidth\"?"));
  CHECK(verdict.in_short() == (verdict.problems.size() == 1 ? "1 problem" : "2 problems"));
  const QString text = QString::fromStdString(with(kScenario, "\"bandwidth\"", "\"bandwith\""));
  const auto [at, length] = place_of(text, problem);
  CHECK(text.mid(at, length) == "bandwith");
  const auto range = check_scenario(with(kScenario, "\"workers\": 8", "\"workers\": 0"), "a", {});
  REQUIRE_FALSE(range.valid());
  CHECK_FALSE(range.problems[0].allowed.isEmpty());
  const auto syntax = check_scenario(with(kScenario, "\"star\",", "\"star\""), "a", {});
  REQUIRE_FALSE(syntax.valid());
  CHECK(syntax.problems[0].line >= 7);
  CHECK(syntax.problems[0].column > 0);
}

TEST_CASE("a scenario says how many runs it makes, which are stored, and how long", "[unit]") {
  const auto file = scenarios::read_scenario_text(kScenario, "small.json");
  REQUIRE(file.runs.size() == 2);
  ScenarioVerdict verdict = check_scenario(kScenario, "small.json", {});
  REQUIRE(verdict.valid());
  CHECK(verdict.runs == 2);
  CHECK(verdict.in_short().startsWith("2 runs, 0 stored, "));
  CHECK(verdict.seconds >= 0);
  // One run of it is stored; a run that failed does not count.
  results::RunSummary done;
  done.header.scenario_hash = file.runs[0].hash;
  done.header.seed = file.runs[0].seed;
  done.header.executor = "flow";
  done.header.model = "alexnet";
  done.status = results::RunStatus::kFinished;
  results::RunSummary failed = done;
  failed.header.scenario_hash = file.runs[1].hash;
  failed.status = results::RunStatus::kFailed;
  std::vector<results::RunSummary> runs = {done, failed};
  CHECK(check_scenario(kScenario, "small.json", runs).stored == 1);
  // Three stored runs like these took 60 s a step: one run of 3 steps is missing.
  for (int i = 0; i < 3; ++i) {
    results::RunSummary other = done;
    other.header.scenario_hash = "other";
    other.started_at = "2026-01-10T12:00:00Z";
    other.ended_at = "2026-01-10T12:10:00Z";
    other.steps_done = 10;
    runs.push_back(other);
  }
  verdict = check_scenario(kScenario, "small.json", runs);
  CHECK(verdict.in_short() == "2 runs, 1 stored, about 3 min");
  CHECK(verdict.basis.contains("stored runs"));
}

TEST_CASE("the form is the table of fields: what applies, with help and choices", "[unit]") {
  const auto fields = form_fields(kScenario);
  const FormField* topology = field(fields, "/network/topology");
  REQUIRE(topology);
  CHECK(topology->value == "star");
  CHECK(topology->choices.contains("torus"));
  CHECK_FALSE(topology->help.isEmpty());
  REQUIRE(field(fields, "/network/link/loss"));
  CHECK(field(fields, "/network/link/loss")->value.isEmpty());
  REQUIRE(field(fields, "/method/name"));
  CHECK(field(fields, "/method/name")->swept);
  // The sweep goes through none and fp16: a sparse codec's ratio has no place here.
  CHECK_FALSE(field(fields, "/method/ratio"));
  CHECK(field(form_fields(with(kScenario, "\"fp16\"", "\"topk\"")), "/method/ratio"));
  CHECK(field(fields, "/executor")->section == "scenario");
  // A layer table has no data set.
  CHECK_FALSE(field(fields, "/workload/data/set"));
  CHECK(form_fields("{ no JSON").empty());
  // Of every scenario that ships the form has fields, each once, with its value.
  for (const std::string& name : scenarios::json_names(scenarios::share_folder())) {
    INFO(name);
    const std::string text = read_file(scenarios::share_folder() + "/" + name + ".json");
    const auto rows = form_fields(text);
    CHECK(rows.size() > 10);
    std::set<std::string> seen;
    for (const FormField& row : rows) CHECK(seen.insert(row.pointer).second);
    CHECK_FALSE(field(rows, "/name")->value.isEmpty());
  }
}

TEST_CASE("a field is set where it stands, or in its object, or taken out", "[unit]") {
  const auto set = with_field(kScenario, "/network/link/bandwidth", "10Gbps");
  REQUIRE(set);
  CHECK(*set == with(kScenario, "1Gbps", "10Gbps"));
  const auto number = with_field(kScenario, "/cluster/workers", "16");
  CHECK(*number == with(kScenario, "\"workers\": 8", "\"workers\": 16"));
  const auto fresh = with_field(kScenario, "/network/link/loss", "0.01");
  REQUIRE(fresh);
  CHECK(nlohmann::json::parse(*fresh)["network"]["link"]["loss"] == 0.01);
  const auto out = with_field(*fresh, "/network/link/loss", "");
  CHECK(nlohmann::json::parse(*out) == nlohmann::json::parse(kScenario));
  CHECK_FALSE(with_field("{ no JSON", "/network/link/loss", "0.01"));
  CHECK(refusal("/network/link/bandwidth", "1Gbps").isEmpty());
  CHECK(refusal("/network/link/bandwidth", "7").contains("allowed"));
  CHECK(refusal("/network/topology", "sta").contains("did you mean \"star\""));
  CHECK(differing_fields(kScenario, *set) ==
        QStringList{QStringLiteral("/network/link/bandwidth: 1Gbps → 10Gbps")});
}

TEST_CASE("the editor checks while one types, and the caret jumps to the problem", "[gui]") {
  QTemporaryDir folder;
  const QString path = folder.filePath("small.json");
  write_file(path.toStdString(), std::string(kScenario));
  ScenarioEditor editor;
  editor.resize(900, 600);
  editor.show();
  QSignalSpy checked(&editor, &ScenarioEditor::checked);
  editor.open(path);
  REQUIRE(checked.wait(3000));
  CHECK(editor.state().startsWith("small.json: 2 runs, 0 stored"));
  CHECK_FALSE(editor.modified());
  // A typo, typed into the text.
  QTextCursor cursor = editor.text()->document()->find("bandwidth");
  cursor.insertText("bandwith");
  REQUIRE(checked.wait(3000));
  REQUIRE(editor.problems()->count() >= 1);
  CHECK(editor.state().contains("problem"));
  CHECK(editor.problems()->item(0)->text().contains("did you mean \"bandwidth\"?"));
  editor.text()->moveCursor(QTextCursor::Start);
  editor.jump_to_next();
  CHECK(editor.text()->textCursor().selectedText() == "bandwith");
  QTest::keyClicks(editor.text(), "bandwidth");
  REQUIRE(checked.wait(3000));
  CHECK(editor.problems()->count() == 0);
  CHECK(editor.text()->toPlainText().toStdString() == kScenario);
  // The form changes the text in one step of undo; a value that is refused changes nothing.
  QTreeWidgetItem* item = editor.form()->item_of("/network/link/bandwidth");
  REQUIRE(item);
  CHECK(item->text(1) == "1Gbps");
  item->setText(1, "25Gbps");
  REQUIRE(checked.wait(3000));
  CHECK(editor.text()->toPlainText().toStdString() == with(kScenario, "1Gbps", "25Gbps"));
  item->setText(1, "fast");
  CHECK(item->text(1) == "25Gbps");
  editor.text()->undo();
  CHECK(editor.text()->toPlainText().toStdString() == kScenario);
  REQUIRE(checked.wait(3000));
  CHECK(editor.form()->item_of("/network/link/bandwidth")->text(1) == "1Gbps");
  editor.save(path);
  CHECK_FALSE(editor.modified());
}
