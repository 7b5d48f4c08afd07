#include "cli/reports/scalability.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "cli/output/run_table.h"
#include "cli/reports/assume_steps.h"
#include "cli/runs/missing_runs.h"
#include "cli/runs/run.h"
#include "results/advice/scenario_prices.h"
#include "results/runs/scenario_view.h"
#include "results/scalability/page.h"
#include "results/scalability/words.h"
#include "runner/interrupt.h"
#include "runner/prediction/published_errors.h"
#include "runner/prediction/scalability.h"
#include "scenarios/share.h"

namespace gradwire::cli {
namespace {

using results::RunId;

/// The runs of a report, and where they are from.
struct Source {
  std::unique_ptr<results::Store> store;
  std::vector<RunId> runs;
  std::string words;  ///< "the stored runs of lan.json"
  std::vector<std::string> remarks;
  results::CostOptions costs;  ///< as the scenario, or the runs', says
  std::vector<std::string> warnings;
};

/// Before anything is run: whether its runs can make a report.
void check_runs(const scenarios::ScenarioFile& file, const std::string& scenario) {
  std::set<std::string> series;
  for (const scenarios::Scenario& run : file.runs) {
    results::check_steps(run.json.dump(), run.name);
    series.insert(results::series_key(run.json.dump()));
  }
  if (series.size() > results::kMostSeries)
    throw Error(ErrorKind::kScenario, "report on the scalability of", scenario,
                "its sweep makes " + std::to_string(series.size()) + " series, " +
                    std::to_string(results::kMostSeries) + " fit on a page",
                "sweep less with --set /sweep=..., or take stored runs with --filter");
}

scenarios::ScenarioFile scenario_of(const ScalabilityArguments& arguments, const Context& context) {
  RunArguments plain;
  plain.file = arguments.scenario;
  plain.sets = arguments.sets;
  plain.executor = arguments.executor;
  const scenarios::ScenarioFile own = read_scenario(plain);
  warn(own, context);
  check_runs(own, arguments.scenario);
  if (arguments.workers.empty() && runner::worker_counts(own).size() > 1) return own;
  const std::string path = scenarios::find_scenario_file(arguments.scenario);
  if (!arguments.workers.empty())
    return runner::scenario_on(path, overrides_of(plain), arguments.workers);
  std::set<int> counts(std::begin(runner::kUsualWorkers), std::end(runner::kUsualWorkers));
  counts.insert(own.runs[0].cluster.workers);
  std::vector<int> possible;
  for (const int n : counts) {
    try {
      runner::scenario_on(path, overrides_of(plain), std::vector{n});
      possible.push_back(n);
    } catch (const Error&) {
      context.say("not run on " + std::to_string(n) + " workers, which the scenario cannot have");
    }
  }
  return runner::scenario_on(path, overrides_of(plain), possible);
}

void complete_runs(const scenarios::ScenarioFile& missing, const ScalabilityArguments& arguments,
                   results::Store& store, Context& context) {
  if (std::ranges::any_of(missing.runs, [](const auto& s) { return s.executor == "emulator"; }))
    throw Error(
        ErrorKind::kFailure, "report on", arguments.scenario, "its emulated runs are not stored",
        "gradwire emulate " + arguments.scenario + " makes them; --no-run takes what there is");
  const runner::SweepResult result =
      run_missing(missing, runner::SweepOptions().threads, arguments.jobs, store, context);
  if (result.interrupted)
    throw Error(runner::interruption(), "report on", arguments.scenario,
                "its runs were interrupted",
                "what is finished is stored; the same command goes on from there");
  if (result.failed == 0) return;
  context.exit_code = exit_code(ErrorKind::kPartial);
  context.say(std::to_string(result.failed) + " runs failed; the report does without them");
}

/// Whether the store has what the report needs, so that nothing is run.
bool enough(const std::vector<RunId>& runs, const results::Store& store,
            const ScalabilityArguments& arguments) {
  if (!arguments.workers.empty()) return false;
  std::map<std::string, std::set<int>> counts;
  for (const RunId id : runs) {
    const auto run = store.run(id);
    counts[results::series_key(run->header.scenario_json)].insert(run->header.workers);
  }
  return !counts.empty() &&
         std::ranges::all_of(counts, [](const auto& its) { return its.second.size() > 1; });
}

Source from_scenario(const ScalabilityArguments& arguments, Context& context) {
  const scenarios::ScenarioFile file = scenario_of(arguments, context);
  Source source;
  source.costs = results::costs_of_scenario(file.runs.at(0).json.dump());
  source.store = arguments.no_run ? context.open_reader() : context.open_writer();
  source.runs = runner::stored_runs_of(file, *source.store);
  source.words = "the runs of " + file.path + " in " + context.database;
  const bool own_sweep = std::ranges::find(file.swept, "/cluster/workers") != file.swept.end();
  const scenarios::ScenarioFile missing = runner::missing_runs(file, *source.store);
  if (arguments.no_run || missing.runs.empty() ||
      (!own_sweep && enough(source.runs, *source.store, arguments))) {
    context.say(std::to_string(source.runs.size()) + " stored runs of " + file.name +
                (missing.runs.empty() ? "" : "; nothing is run"));
    return source;
  }
  context.say(std::to_string(source.runs.size()) + " runs of " + file.name + " are stored, " +
              std::to_string(missing.runs.size()) + " more are run now");
  complete_runs(missing, arguments, *source.store, context);
  source.remarks.push_back(std::to_string(missing.runs.size()) +
                           " of the runs were made for this report");
  source.runs = runner::stored_runs_of(file, *source.store);
  return source;
}

Source from_store(const ScalabilityArguments& arguments, const Context& context) {
  Source source;
  source.store = context.open_reader();
  for (const std::string& name : arguments.runs)
    source.runs.push_back(find_run(*source.store, name).id);
  if (arguments.runs.empty())
    for (const results::RunSummary& run : filtered_runs(*source.store, arguments.filter))
      source.runs.push_back(run.id);
  std::vector<results::RunSummary> summaries;
  for (const RunId id : source.runs) summaries.push_back(*source.store->run(id));
  source.costs = results::costs_of_runs(summaries, source.warnings);
  source.words = arguments.runs.empty()
                     ? "the runs in " + context.database +
                           (arguments.filter.empty() ? "" : " that pass " + arguments.filter)
                     : "the runs that were named, in " + context.database;
  return source;
}

/// The accuracy that is asked for, or that the runs' scenario names where they trained.
results::AccuracyOptions accuracy_of(const ScalabilityArguments& arguments, const Source& source) {
  std::vector<results::RunSummary> own;
  for (const RunId id : source.runs) own.push_back(*source.store->run(id));
  const bool trained =
      std::ranges::any_of(own, [](const auto& run) { return run.final_accuracy.has_value(); });
  results::AccuracyOptions options;
  options.target = arguments.accuracy;
  options.assumption = assumption_of(arguments.assume_steps);
  options.source = arguments.training_runs.empty()
                       ? "the report's own runs"
                       : "the runs that pass " + arguments.training_runs;
  if (options.target <= 0 && trained)
    results::number_from(
        results::scenario_value(own.front().header.scenario_json, "/workload/target_accuracy"),
        options.target);
  if (options.target <= 0) return options;
  if (!arguments.training_runs.empty()) own = filtered_runs(*source.store, arguments.training_runs);
  options.trained = results::steps_to_target(*source.store, own, options.target);
  if (options.trained.empty())
    throw Error(ErrorKind::kFailure, "say the time to the accuracy", "",
                "none of " + options.source + " trained to the end",
                "name training runs: --training-runs EXPR");
  return options;
}

void check_arguments(const ScalabilityArguments& arguments) {
  if (!arguments.scenario.empty() && (!arguments.filter.empty() || !arguments.runs.empty()))
    throw Error(ErrorKind::kUsage, "report", "",
                "a scenario and --filter or runs exclude each other");
  if (arguments.scenario.empty() && (!arguments.sets.empty() || !arguments.executor.empty() ||
                                     !arguments.workers.empty() || arguments.no_run))
    throw Error(ErrorKind::kUsage, "report", "",
                "--set, --executor, --workers and --no-run need a scenario");
}

/// What the first run's compute times rest on; a run that this version cannot read again has none.
results::PredictionQuestion question_of(const Source& source, std::vector<std::string>& warnings) {
  const auto run = source.store->run(source.runs.front());
  try {
    return runner::prediction_question(
        scenarios::read_scenario_text(run->header.scenario_json, run->header.scenario_file)
            .runs.front());
  } catch (const Error& error) {
    warnings.push_back("errors on steps that others measured are not quoted: " +
                       std::string(error.what()));
    return {};
  }
}

results::Scalability scalability_of(const Source& source, const ScalabilityArguments& arguments,
                                    const Context& context) {
  results::ScalabilityOptions options;
  options.at = arguments.at;
  options.target = arguments.target;
  options.model.up_to = arguments.up_to;
  options.costs = costs_of(arguments.prices, source.costs);
  options.accuracy = accuracy_of(arguments, source);
  options.knowledge = accuracy_knowledge(arguments.accuracy_options);
  std::vector<std::string> remarks;
  options.question = question_of(source, remarks);
  options.strangers = runner::published_errors(options.question);
  options.command = command_of(arguments, context);
  options.source = source.words;
  options.remarks = source.remarks;
  options.model.step_at = runner::step_at_size(remarks);
  results::Scalability all = results::scalability_of(*source.store, source.runs, options);
  all.warnings.insert(all.warnings.end(), remarks.begin(), remarks.end());
  all.warnings.insert(all.warnings.end(), source.warnings.begin(), source.warnings.end());
  return all;
}

/// The answer on stdout; the report's place there for people, else on stderr.
void print(const results::Scalability& all, const std::string& report, const Context& context) {
  if (context.format() == Format::kText) {
    for (const std::string& sentence : results::short_answer(all))
      std::printf("%s\n", sentence.c_str());
    std::printf("report: %s\n", report.c_str());
    return;
  }
  if (context.format() == Format::kJson)
    std::fputs(results::scalability_json(all).c_str(), stdout);
  else if (context.format() == Format::kCsv)
    std::fputs(results::scalability_csv(all).c_str(), stdout);
  context.say("report: " + report);
}

}  // namespace

void report_scalability(const ScalabilityArguments& arguments, Context& context) {
  check_arguments(arguments);
  const Source source = arguments.scenario.empty() ? from_store(arguments, context)
                                                   : from_scenario(arguments, context);
  if (source.runs.empty())
    throw Error(ErrorKind::kFailure, "report on", context.database, "no run passes",
                "see gradwire list");
  const results::Scalability all = scalability_of(source, arguments, context);
  for (const std::string& warning : all.warnings) context.say("warning: " + warning);
  results::write_scalability(all, arguments.out);
  print(all, arguments.out + "/report.html", context);
}

}  // namespace gradwire::cli
