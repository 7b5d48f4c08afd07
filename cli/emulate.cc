#include "cli/closing.h"
#include "cli/emulated_run.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/table.h"
#include "runner/interrupt.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

using scenarios::Scenario;
using scenarios::ScenarioFile;

std::vector<Column> columns() {
  return {{"name", "scenario"},
          {.name = "method", .importance = Importance::kKey},
          {"workers"},
          {.name = "steps", .importance = Importance::kLow},
          {"base_rtt_s", "base RTT (measured)", Column::Style::kDuration, Importance::kLow},
          {"emulated_exchange_s", "exchange, emulated (median)", Column::Style::kDuration,
           Importance::kKey},
          {"provenance", "how it was obtained"},
          {"simulated_exchange_s", "exchange, flow (median)", Column::Style::kDuration,
           Importance::kKey},
          {"flow_over_emulated", "flow / emulated", Column::Style::kPlain, Importance::kHigh},
          {"emulated_run", "run"},
          {"simulated_run", "twin"}};
}

/// One scenario's emulation and its simulated twin; 0 = interrupted before its end.
struct Pair {
  results::RunId emulated = 0, simulated = 0;
};

void add_row(Table& table, const Scenario& scenario, const Pair& pair,
             const results::Store& store) {
  const double emulated = whole_run_figure(store, pair.emulated, "exchange_s");
  const double simulated = whole_run_figure(store, pair.simulated, "exchange_s");
  const bool whole = emulated_links(store, pair.emulated).delays;
  table.add({scenario.name, scenarios::method_label(scenario),
             static_cast<std::int64_t>(scenario.cluster.workers),
             store.run(pair.emulated)->steps_done, whole_run_figure(store, pair.emulated, kBaseRtt),
             emulated, std::string(whole ? "emulated" : "partly emulated"), simulated,
             simulated / emulated, pair.emulated, pair.simulated});
}

/// Emulates a run, then runs its twin in `flow` on the links that were emulated.
Pair run_pair(const Scenario& scenario, EmulatedRun& runs, const results::Store& store,
              const runner::RunProgress& at) {
  Pair pair;
  pair.emulated = runs.emulate(scenario, at);
  if (pair.emulated > 0)
    pair.simulated = runs.simulate(scenario, "flow", emulated_links(store, pair.emulated), at);
  return pair;
}

/// Emulates the file's runs one by one, each with its twin. A run that fails does not stop the
/// others; a missing capability does.
runner::SweepResult emulate_all(const ScenarioFile& file, EmulatedRun& runs,
                                ProgressPrinter& progress, const results::Store& store,
                                Table& table, const Context& context) {
  runner::SweepResult result;
  runner::RunProgress at;
  at.runs = static_cast<int>(file.runs.size());
  bool described = false;
  for (const Scenario& scenario : file.runs) {
    ++at.run;
    at.name = scenario.name;
    at.seed = scenario.seed;
    try {
      const Pair pair = run_pair(scenario, runs, store, at);
      progress.clear();
      if (!described && !runs.report().shaper.empty()) describe(runs.report(), context);
      described = !runs.report().shaper.empty();
      if (pair.emulated > 0) result.runs.push_back(pair.emulated);
      if (pair.simulated > 0) result.runs.push_back(pair.simulated);
      result.interrupted = runner::interrupted_by() != 0;
      if (pair.simulated > 0) add_row(table, scenario, pair, store);
    } catch (const results::StoreError&) {
      throw;
    } catch (const Error& error) {
      const bool of_all =
          error.kind() == ErrorKind::kCapability || error.kind() == ErrorKind::kUsage;
      if (of_all) throw;
      if (result.failed++ == 0) result.why_failed = error.what();
      progress.on_run_failed(at, error.what());
    }
    if (result.interrupted) break;
  }
  return result;
}

void refuse_resumed(const RunArguments& arguments) {
  if (arguments.chaos.empty() || !arguments.resume) return;
  throw Error(ErrorKind::kUsage, "use", "--chaos with --resume",
              "runs in which nothing went wrong would be taken", "leave one of them out");
}

}  // namespace

void run_emulated(const RunArguments& arguments, Context& context) {
  RunArguments emulated = arguments;
  emulated.executor = "emulator";
  refuse_resumed(arguments);
  const ScenarioFile file = read_scenario(emulated);
  warn(file, context);
  const auto store = context.open_writer();
  const runner::InterruptGuard guard;
  ProgressPrinter progress(context);
  EmulatedRun runs({.threads = emulated.threads,
                    .shaper = emulated.shaper,
                    .incidents = emulated.chaos,
                    .resume = emulated.resume},
                   *store, progress);
  Table table(columns());
  const runner::SweepResult result = emulate_all(file, runs, progress, *store, table, context);
  context.exit_code = exit_code_of(result);
  if (table.size() > 0) table.print(context, "summary");
  if (result.runs.empty() && !result.interrupted)
    throw Error(ErrorKind::kFailure, "finish any run of", arguments.file,
                "all of them failed; the first: " + result.why_failed);
  if (arguments.no_report || result.runs.empty()) return;
  write_run_report(
      *store, result.runs,
      arguments.report.empty() ? default_report_path(context, file.name) : arguments.report,
      context);
}

void add_emulate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "emulate",
      "Run a scenario with real processes and sockets in network namespaces, beside flow");
  auto arguments = std::make_shared<RunArguments>();
  add_scenario_options(*command, *arguments);
  add_result_options(*command, *arguments);
  add_shaper_option(*command, *arguments);
  command
      ->add_option("--chaos", arguments->chaos,
                   "What goes wrong: kill:HOST@TIME, pause:HOST@TIME+TIME, cut:HOST@TIME+TIME, "
                   "such as pause:1@2s+500ms; hosts are workers, then servers")
      ->type_name("INCIDENT");
  command->add_option("--threads", arguments->threads, "Threads that run workers side by side")
      ->capture_default_str();
  command->footer(
      "Example:\n  gradwire emulate scenarios/lan.json --set /cluster/workers=2\n"
      "No root is needed where user namespaces are allowed.");
  command->callback([arguments, &context] { run_emulated(*arguments, context); });
}

}  // namespace gradwire::cli
