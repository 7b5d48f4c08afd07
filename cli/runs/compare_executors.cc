#include "cli/runs/compare_executors.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/folder.h"
#include "cli/emulation/emulated_run.h"
#include "cli/output/closing.h"
#include "cli/output/progress.h"
#include "cli/output/table.h"
#include "results/pages/html_page.h"
#include "results/runs/executor_comparison.h"
#include "results/statistics/percent.h"
#include "runner/interrupt.h"

namespace gradwire::cli {
namespace {

using results::ExecutorErrors;
using results::ExecutorTimes;
using scenarios::Scenario;

constexpr const char* kEmulator = "emulator";

/// Whether it names `flow` in one of its details.
bool is_detail(const std::string& name) {
  return sim::detail_named(name).has_value();
}

void check_executors(const std::vector<std::string>& executors) {
  for (const std::string& name : executors) {
    if (std::ranges::count(executors, name) > 1)
      throw Error(ErrorKind::kUsage, "compare executors", name, "it is named twice");
    if (std::ranges::find(kExecutors, name) == kExecutors.end() && !is_detail(name))
      throw Error(ErrorKind::kUsage, "compare executors", "\"" + name + "\"",
                  "no executor has that name",
                  "there are model, flow, packet and emulator, and flow's details per-packet and "
                  "fluid");
  }
  if (std::ranges::count(executors, kEmulator) > 0 && std::ranges::any_of(executors, is_detail))
    throw Error(ErrorKind::kUsage, "compare executors", kEmulator,
                "an emulation's links are its own, and flow's details are compared on the "
                "scenario's",
                "leave the emulator or the details out");
  if (executors.size() < 2)
    throw Error(ErrorKind::kUsage, "compare executors", "--executors", "at least two are needed",
                "for example --executors flow,packet");
}

std::string reference_of(const ExecutorArguments& arguments) {
  const std::vector<std::string>& executors = arguments.executors;
  const auto is_there = [&](const std::string& name) {
    return std::ranges::find(executors, name) != executors.end();
  };
  if (!arguments.against.empty()) {
    if (is_there(arguments.against)) return arguments.against;
    throw Error(ErrorKind::kUsage, "compare executors", "--against " + arguments.against,
                "it is not among --executors");
  }
  for (const char* name : {kEmulator, "packet", "per-packet"})
    if (is_there(name)) return name;
  return executors.front();
}

scenarios::ScenarioFile file_on(const ExecutorArguments& arguments, const std::string& executor) {
  RunArguments on = arguments.scenario;
  on.executor = is_detail(executor) ? "flow" : executor;
  if (is_detail(executor)) on.sets.push_back("/network/detail=" + executor);
  return read_scenario(on);
}

/// The file's first run; what there is to say of the file is said.
Scenario first_run(const scenarios::ScenarioFile& file, const Context& context) {
  warn(file, context);
  if (file.runs.size() > 1)
    context.say("executors are compared on the first of the file's " +
                std::to_string(file.runs.size()) + " runs; choose another with --set and --seed");
  return file.runs.front();
}

/// A run an executor, in their order. Emulation goes first: it says what its links were.
std::map<std::string, results::RunId> run_all(const ExecutorArguments& arguments,
                                              results::Store& store, Context& context) {
  const std::vector<std::string>& executors = arguments.executors;
  ProgressPrinter progress(context);
  EmulatedRun runs(
      {.threads = arguments.scenario.threads, .shaper = arguments.scenario.shaper, .resume = true},
      store, progress);
  std::map<std::string, results::RunId> all;
  runner::RunProgress at;
  at.runs = static_cast<int>(executors.size());
  const auto take = [&](const std::string& executor, results::RunId run) {
    progress.clear();
    if (run == 0)
      throw Error(runner::interruption(), "compare executors", arguments.scenario.file,
                  "the run on " + executor + " was interrupted",
                  "what is finished is stored; the same command goes on from there");
    all[executor] = run;
  };
  const bool emulates = std::ranges::find(executors, kEmulator) != executors.end();
  const Scenario scenario =
      first_run(file_on(arguments, emulates ? kEmulator : executors.front()), context);
  at.name = scenario.name;
  at.seed = scenario.seed;
  if (emulates) {
    ++at.run;
    take(kEmulator, runs.emulate(scenario, at));
    if (!runs.report().shaper.empty()) describe(runs.report(), context);
  }
  for (const std::string& executor : executors) {
    if (executor == kEmulator) continue;
    ++at.run;
    take(executor,
         emulates ? runs.simulate(scenario, executor, emulated_links(store, all.at(kEmulator)), at)
                  : runs.run(file_on(arguments, executor).runs.front(), at));
  }
  return all;
}

std::vector<Column> columns_of(const ExecutorTimes& reference,
                               const std::vector<ExecutorErrors>& others) {
  std::vector<Column> columns = {
      {"step", "", Column::Style::kPlain, Importance::kKey},
      {reference.executor + "_s", reference.executor, Column::Style::kDuration, Importance::kKey}};
  for (const ExecutorErrors& other : others) {
    columns.push_back(
        {other.executor + "_s", other.executor, Column::Style::kDuration, Importance::kHigh});
    columns.push_back(
        {other.executor + "_error", "error", Column::Style::kPercent, Importance::kHigh});
  }
  return columns;
}

void print_steps(const ExecutorTimes& reference, const std::vector<ExecutorTimes>& others,
                 const std::vector<ExecutorErrors>& errors, const Context& context) {
  Table table(columns_of(reference, errors));
  for (std::size_t i = 0; i < reference.step_s.size(); ++i) {
    std::vector<Cell> row = {static_cast<std::int64_t>(i), reference.step_s[i]};
    for (std::size_t j = 0; j < others.size(); ++j) {
      const bool there = i < errors[j].errors.size();
      row.push_back(there ? Cell(others[j].step_s[i]) : Cell());
      row.push_back(there ? Cell(errors[j].errors[i]) : Cell());
    }
    table.add(std::move(row));
  }
  table.print(context);
}

/// What each took of this machine.
void say_costs(const std::vector<std::string>& executors,
               const std::map<std::string, results::RunId>& runs, const results::Store& store,
               const Context& context) {
  std::string text;
  for (const std::string& executor : executors)
    for (const results::MetricRow& metric : store.metrics(runs.at(executor)))
      if (metric.name == "wall_s" && metric.step < 0)
        text +=
            (text.empty() ? "" : ", ") + executor + " " + format_duration(Seconds(metric.value));
  context.say_wrapped("took on this machine: " + text);
}

std::string figure_stem(const ExecutorArguments& arguments, const std::string& name,
                        const Context& context) {
  if (!arguments.figure.empty()) return arguments.figure;
  const std::filesystem::path report = default_report_path(context, name);
  return (report.parent_path() / (name + "-executors")).string();
}

}  // namespace

void compare_executors(const ExecutorArguments& arguments, Context& context) {
  check_executors(arguments.executors);
  const std::string against = reference_of(arguments);
  const auto store = context.open_writer();
  const runner::InterruptGuard guard;
  const auto runs = run_all(arguments, *store, context);
  std::vector<ExecutorTimes> others;
  ExecutorTimes reference{against, results::step_times(store->steps(runs.at(against)))};
  for (const std::string& executor : arguments.executors)
    if (executor != against)
      others.push_back({executor, results::step_times(store->steps(runs.at(executor)))});
  const auto errors = results::errors_against(reference, others);
  print_steps(reference, others, errors, context);
  for (const ExecutorErrors& error : errors) {
    context.say_wrapped(error.executor + " against " + against + ", " +
                        std::to_string(error.errors.size()) + " steps: median error " +
                        results::percent_by("%.3g", error.median) + ", worst " +
                        results::percent_by("%.3g", error.worst) + ", all steps together " +
                        results::percent_by("%+.3g", error.total));
    if (arguments.most_error > 0 && 100 * error.median > arguments.most_error)
      context.exit_code = exit_code(ErrorKind::kGate);
  }
  say_costs(arguments.executors, runs, *store, context);
  std::vector<ExecutorTimes> all = {reference};
  all.insert(all.end(), others.begin(), others.end());
  const auto& header = store->run(runs.at(against))->header;
  const std::string stem = figure_stem(arguments, header.scenario_name, context);
  make_folder_of(stem, "name another figure with -o");
  results::write_figure(
      {results::executor_figure(all, header.scenario_name, {header.scenario_hash})}, stem);
  context.say("figure: " + stem + ".svg");
}

}  // namespace gradwire::cli
