#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/closing.h"
#include "cli/emulator_module.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/table.h"
#include "runner/emulated_twin.h"
#include "runner/interrupt.h"
#include "runner/run_loop.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

using scenarios::Scenario;
using scenarios::ScenarioFile;

constexpr const char* kBaseRtt = "base_rtt_s";
constexpr const char* kOverhead = "base_rtt_overhead_s";

/// NaN where it was not stored.
double metric(const results::Store& store, results::RunId run, const std::string& name) {
  for (const results::MetricRow& row : store.metrics(run))
    if (row.name == name && row.step < 0) return row.value;
  return std::nan("");
}

/// What was emulated, as the run tells.
runner::EmulatedLinks links_of(const results::Store& store, results::RunId run) {
  runner::EmulatedLinks links{true, Seconds(metric(store, run, kOverhead))};
  for (const results::MetricRow& row : store.metrics(run))
    if (row.provenance == results::Provenance::kPartlyEmulated) links.delays = false;
  return links;
}

/// One scenario's emulation and its simulated twin; 0 = interrupted before its end.
struct Pair {
  results::RunId emulated = 0, simulated = 0;
};

/// Emulates a run, then runs its twin in `flow` on the links that were emulated.
class EmulatedRun {
 public:
  EmulatedRun(const RunArguments& arguments, results::Store& store, ProgressPrinter& progress)
      : arguments_(arguments), store_(store), progress_(progress) {}

  Pair run(const Scenario& scenario, const runner::RunProgress& at) {
    Pair pair;
    pair.emulated = finished(scenario, at, true);
    if (pair.emulated == 0) pair.emulated = emulate(scenario, at);
    if (pair.emulated == 0) return pair;
    const Scenario twin = runner::flow_twin(scenario, links_of(store_, pair.emulated));
    pair.simulated = finished(twin, at, false);
    if (pair.simulated == 0) pair.simulated = simulate(twin, at);
    return pair;
  }

  /// Of the latest emulation; empty before the first.
  const emulator::EmulatorReport& report() const { return report_; }

 private:
  /// The run that --resume finds instead of running; 0 = none. Of
  /// emulated runs only those that say what their links were.
  results::RunId finished(const Scenario& scenario, const runner::RunProgress& at, bool emulated) {
    if (!arguments_.resume) return 0;
    const auto found = store_.find_ended(scenario.hash, scenario.seed);
    const bool usable = found && (!emulated || std::isfinite(metric(store_, *found, kOverhead)));
    if (!usable) return 0;
    progress_.on_run_ended(at, *store_.run(*found), true);
    return *found;
  }

  runner::RunFacts facts() const {
    runner::RunFacts facts;
    facts.notes = report_.missing;
    facts.figures = {{kBaseRtt, report_.median_base_rtt.value(), "s"},
                     {kOverhead, report_.median_overhead.value(), "s"}};
    return facts;
  }

  results::RunId emulate(const Scenario& scenario, const runner::RunProgress& at) {
    runner::RunOptions options;
    options.train_first = true;
    options.executor_factory = [&](const Scenario& resolved) -> std::unique_ptr<sim::Executor> {
      emulator::EmulatorOptions emulator_options;
      emulator_options.transport = resolved.network.transport;
      auto executor = cli::make_emulator(scenarios::build_cluster(resolved), emulator_options);
      report_ = executor->report();
      return executor;
    };
    options.executor_facts = [this] { return facts(); };
    return store(scenario, std::move(options), at);
  }

  results::RunId simulate(const Scenario& twin, const runner::RunProgress& at) {
    return store(twin, {}, at);
  }

  results::RunId store(const Scenario& scenario, runner::RunOptions options,
                       const runner::RunProgress& at) {
    options.threads = arguments_.threads;
    options.profiles = &profiles_;
    options.resume = arguments_.resume;
    results::RunId id = 0;
    const auto outcome = runner::run_scenario(scenario, options, store_, progress_, at, id);
    progress_.on_run_ended(at, *store_.run(id), false);
    return outcome == runner::RunOutcome::kInterrupted ? 0 : id;
  }

  const RunArguments& arguments_;
  results::Store& store_;
  ProgressPrinter& progress_;
  emulator::EmulatorReport report_;
  runner::ProfileCache profiles_;  // the twin replays the same times
};

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

void add_row(Table& table, const Scenario& scenario, const Pair& pair,
             const results::Store& store) {
  const double emulated = metric(store, pair.emulated, "exchange_s");
  const double simulated = metric(store, pair.simulated, "exchange_s");
  const bool whole = links_of(store, pair.emulated).delays;
  table.add({scenario.name, scenarios::method_label(scenario),
             static_cast<std::int64_t>(scenario.cluster.workers),
             store.run(pair.emulated)->steps_done, metric(store, pair.emulated, kBaseRtt), emulated,
             std::string(whole ? "emulated" : "partly emulated"), simulated, simulated / emulated,
             pair.emulated, pair.simulated});
}

void describe(const emulator::EmulatorReport& report, const Context& context) {
  context.say("emulated with " + report.shaper + ", loss by " + report.loss_by + ", " +
              (report.netem ? "delay by netem" : "no added delay (the kernel has no netem)") +
              ", " + report.congestion_control + ", namespaces of " + report.name_space);
  for (const std::string& warning : report.warnings) context.say("warning: " + warning);
  for (const std::string& missing : report.missing)
    context.say("warning: partly emulated: " + missing +
                "; the twin in flow has the delays that were emulated");
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
      const Pair pair = runs.run(scenario, at);
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
      if (error.kind() == ErrorKind::kCapability) throw;
      if (result.failed++ == 0) result.why_failed = error.what();
      progress.on_run_failed(at, error.what());
    }
    if (result.interrupted) break;
  }
  return result;
}

}  // namespace

void run_emulated(const RunArguments& arguments, Context& context) {
  RunArguments emulated = arguments;
  emulated.executor = "emulator";
  const ScenarioFile file = read_scenario(emulated);
  warn(file, context);
  const auto store = context.open_writer();
  const runner::InterruptGuard guard;
  ProgressPrinter progress(context);
  EmulatedRun runs(emulated, *store, progress);
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
  command->add_option("--threads", arguments->threads, "Threads that run workers side by side")
      ->capture_default_str();
  command->footer(
      "Example:\n  gradwire emulate scenarios/lan.json --set /cluster/workers=2\n"
      "No root is needed where user namespaces are allowed.");
  command->callback([arguments, &context] { run_emulated(*arguments, context); });
}

}  // namespace gradwire::cli
