#include "gui/editor/scenario_check.h"

#include <QDateTime>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/units.h"
#include "results/runs/scenario_view.h"
#include "runner/cost/run_cost.h"
#include "runner/training/trainer_module.h"
#include "scenarios/scenario.h"

namespace gradwire::gui {
namespace {

using results::RunSummary;
using scenarios::Scenario;

/// Of so few runs, times that are stored to the second say little.
constexpr int kFewRuns = 3;

QString text_of(const std::string& text) {
  return QString::fromStdString(text);
}

std::int64_t steps_of(const Scenario& scenario) {
  const bool steps = scenario.workload.kind == scenarios::WorkloadKind::kTraining ||
                     scenario.workload.kind == scenarios::WorkloadKind::kProfile;
  return steps ? scenario.workload.steps : scenario.workload.repetitions;
}

/// Whether the stored run is of the scenario's kind, so that its wall time tells something.
bool alike(const RunSummary& run, const Scenario& scenario) {
  const auto& workload = scenario.workload;
  const std::string& model =
      workload.kind == scenarios::WorkloadKind::kProfile ? workload.profile : workload.model;
  return run.header.executor == scenario.executor && run.header.model == model &&
         results::has_ended(run.status) && run.steps_done > 0;
}

/// Mean wall time of a stored step like those of the scenario; < 0: none is stored.
double stored_step_seconds(const Scenario& scenario, std::span<const RunSummary> runs) {
  double seconds = 0, steps = 0;
  int count = 0;
  for (const RunSummary& run : runs) {
    if (!alike(run, scenario)) continue;
    const auto started = QDateTime::fromString(text_of(run.started_at), Qt::ISODate);
    const auto ended = QDateTime::fromString(text_of(run.ended_at), Qt::ISODate);
    if (!started.isValid() || !ended.isValid() || started > ended) continue;
    seconds += static_cast<double>(started.msecsTo(ended)) / 1000;
    steps += static_cast<double>(run.steps_done);
    ++count;
  }
  return count >= kFewRuns && seconds >= 1 ? seconds / steps : -1;
}

/// What simulating one such run alone takes; < 0 where it trains, which nothing foretells.
double simulated_seconds(const Scenario& scenario) {
  if (scenario.workload.kind == scenarios::WorkloadKind::kTraining ||
      scenario.workload.kind == scenarios::WorkloadKind::kFederated) {
    return -1;
  }
  try {
    const auto trainer = runner::make_trainer(scenario, {});
    trainer->prepare();
    scenarios::StepPlan plan;
    if (!trainer->next(plan)) return -1;
    return runner::run_cost(scenario, plan, steps_of(scenario)).wall_s;
  } catch (const Error&) {
    return -1;
  }
}

void estimate(const std::vector<const Scenario*>& missing, std::span<const RunSummary> runs,
              ScenarioVerdict& verdict) {
  if (missing.empty()) return;
  const double step = stored_step_seconds(*missing.front(), runs);
  if (step >= 0) {
    verdict.seconds = 0;
    for (const Scenario* scenario : missing) {
      verdict.seconds += step * static_cast<double>(steps_of(*scenario));
    }
    verdict.basis = "from the wall time of stored runs like these";
    return;
  }
  // A sweep's ends stand for what lies between them.
  double sum = 0;
  const std::set<const Scenario*> ends = {missing.front(), missing[missing.size() / 2],
                                          missing.back()};
  for (const Scenario* scenario : ends) {
    const double seconds = simulated_seconds(*scenario);
    if (seconds < 0) return;
    sum += seconds;
  }
  verdict.seconds = sum / static_cast<double>(ends.size()) * static_cast<double>(missing.size());
  verdict.basis = "simulating alone, right within a factor of a few";
}

void count_runs(const scenarios::ScenarioFile& file, std::span<const RunSummary> runs,
                ScenarioVerdict& verdict) {
  std::set<std::pair<std::string, std::uint64_t>> ended;
  for (const RunSummary& run : runs) {
    if (results::has_ended(run.status)) ended.emplace(run.header.scenario_hash, run.header.seed);
  }
  std::vector<const Scenario*> missing;
  for (const Scenario& scenario : file.runs) {
    if (ended.count({scenario.hash, scenario.seed}) > 0) {
      ++verdict.stored;
    } else {
      missing.push_back(&scenario);
    }
  }
  verdict.runs = file.runs.size();
  estimate(missing, runs, verdict);
}

QString duration_in_short(double seconds) {
  if (seconds < 1) return "less than 1 s";
  if (seconds < 60) return QString("about %1 s").arg(std::lround(seconds));
  if (seconds < 3600) return QString("about %1 min").arg(std::lround(seconds / 60));
  return "about " + text_of(runner::long_duration(seconds));
}

}  // namespace

QString ScenarioProblem::text() const {
  QString line_text = line > 0 ? QString("line %1: ").arg(line) : QString();
  if (!pointer.isEmpty()) line_text += pointer + ": ";
  line_text += message;
  if (!allowed.isEmpty()) line_text += "; allowed: " + allowed;
  if (!suggestion.isEmpty()) line_text += QString("; did you mean \"%1\"?").arg(suggestion);
  return line_text;
}

QString ScenarioVerdict::in_short() const {
  if (!valid()) {
    return problems.size() == 1 ? QString("1 problem")
                                : QString("%1 problems").arg(problems.size());
  }
  QString text = runs == 1 ? QString("1 run") : QString("%1 runs").arg(runs);
  text += QString(", %1 stored").arg(stored);
  if (stored == runs) return text;
  return text + ", " + (seconds < 0 ? QString("time not known yet") : duration_in_short(seconds));
}

ScenarioVerdict check_scenario(const std::string& text, const std::string& path,
                               std::span<const RunSummary> runs) {
  ScenarioVerdict verdict;
  try {
    const scenarios::ScenarioFile file = scenarios::read_scenario_text(text, path);
    for (const std::string& warning : file.warnings) verdict.warnings << text_of(warning);
    count_runs(file, runs, verdict);
  } catch (const scenarios::ScenarioError& error) {
    for (const auto& problem : error.problems()) {
      verdict.problems.push_back({problem.line, problem.column, text_of(problem.pointer),
                                  text_of(problem.message), text_of(problem.allowed),
                                  text_of(problem.suggestion)});
    }
  } catch (const std::exception& error) {
    // This runs at the top of a thread: an exception must end here, as a message.
    verdict.problems.push_back({0, 0, {}, QString::fromUtf8(error.what()), {}, {}});
  }
  return verdict;
}

std::pair<int, int> place_of(const QString& text, const ScenarioProblem& problem) {
  qsizetype start = 0;
  for (int line = 1; line < problem.line && start >= 0; ++line) {
    start = text.indexOf('\n', start);
    if (start >= 0) ++start;
  }
  if (start < 0 || problem.line <= 0) return {0, 0};
  qsizetype end = text.indexOf('\n', start);
  if (end < 0) end = text.size();
  if (problem.column > 0) {
    const qsizetype at = std::min(start + problem.column - 1, end);
    return {static_cast<int>(at), at < end ? 1 : 0};
  }
  QString key = problem.pointer.section('/', -1);
  key.replace("~1", "/").replace("~0", "~");
  const qsizetype at = text.indexOf("\"" + key + "\"", start);
  if (key.isEmpty() || at < 0 || at > end) return {static_cast<int>(start), 0};
  return {static_cast<int>(at + 1), static_cast<int>(key.size())};
}

QStringList differing_fields(const std::string& before, const std::string& after) {
  const auto was = results::scenario_leaves(before), is = results::scenario_leaves(after);
  if (was.empty() || is.empty()) return {};
  QStringList fields;
  for (const auto& [pointer, value] : is) {
    const auto found = was.find(pointer);
    if (found == was.end()) {
      fields << QString("%1: + %2").arg(text_of(pointer), text_of(value));
    } else if (found->second != value) {
      fields << QStringLiteral("%1: %2 → %3")
                    .arg(text_of(pointer), text_of(found->second), text_of(value));
    }
  }
  for (const auto& [pointer, value] : was) {
    if (!is.count(pointer))
      fields << QStringLiteral("%1: − %2").arg(text_of(pointer), text_of(value));
  }
  return fields;
}

}  // namespace gradwire::gui
