#include <nlohmann/json.hpp>

#include "cli/emulator_module.h"
#include "cli/progress.h"
#include "cli/run.h"
#include "cli/table.h"
#include "runner/interrupt.h"
#include "runner/run_loop.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

using scenarios::Scenario;
using scenarios::ScenarioFile;

double metric(const results::Store& store, results::RunId run, const std::string& name) {
  for (const results::MetricRow& row : store.metrics(run))
    if (row.name == name && row.step < 0) return row.value;
  throw Error(ErrorKind::kFailure, "read figure " + name + " of", "run " + std::to_string(run),
              "it was not stored");
}

/// What one scenario's emulation and its simulated twin gave.
struct Pair {
  results::RunId emulated = 0, simulated = 0;
  emulator::EmulatorReport report;
  bool interrupted = false;
};

/// Emulates a run, then runs its twin in `flow` on the base RTT that was measured in the
/// namespaces: a star's round trip crosses four link delays.
class EmulatedRun {
 public:
  EmulatedRun(const RunArguments& arguments, results::Store& store, ProgressPrinter& progress)
      : arguments_(arguments), store_(store), progress_(progress) {}

  Pair run(const Scenario& scenario, std::size_t place, const runner::RunProgress& at) {
    Pair pair;
    pair.interrupted = emulate(scenario, at, pair) == runner::RunOutcome::kInterrupted;
    if (!pair.interrupted) simulate(place, at, pair);
    return pair;
  }

 private:
  runner::RunOutcome emulate(const Scenario& scenario, const runner::RunProgress& at, Pair& pair) {
    runner::RunOptions options;
    options.threads = arguments_.threads;
    options.train_first = true;
    options.profiles = &profiles_;
    options.executor_factory = [&](const Scenario& resolved) -> std::unique_ptr<sim::Executor> {
      emulator::EmulatorOptions emulator_options;
      emulator_options.transport = resolved.network.transport;
      auto executor = cli::make_emulator(scenarios::build_cluster(resolved), emulator_options);
      pair.report = executor->report();
      return executor;
    };
    const auto outcome =
        runner::run_scenario(scenario, options, store_, progress_, at, pair.emulated);
    progress_.on_run_ended(at, *store_.run(pair.emulated), false);
    return outcome;
  }

  void simulate(std::size_t place, const runner::RunProgress& at, Pair& pair) {
    RunArguments twin = arguments_;
    twin.executor = "flow";
    char delay[40];
    std::snprintf(delay, sizeof delay, "/network/link/delay=%.9gus",
                  pair.report.median_base_rtt.value() / 4 * 1e6);
    twin.sets.push_back(delay);
    const ScenarioFile file = read_scenario(twin);
    runner::RunOptions options;
    options.threads = arguments_.threads;
    options.profiles = &profiles_;
    runner::run_scenario(file.runs.at(place), options, store_, progress_, at, pair.simulated);
    progress_.on_run_ended(at, *store_.run(pair.simulated), false);
  }

  const RunArguments& arguments_;
  results::Store& store_;
  ProgressPrinter& progress_;
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
  table.add({scenario.name, scenarios::method_label(scenario),
             static_cast<std::int64_t>(scenario.cluster.workers),
             store.run(pair.emulated)->steps_done, pair.report.median_base_rtt.value(), emulated,
             simulated, simulated / emulated, pair.emulated, pair.simulated});
}

void describe(const emulator::EmulatorReport& report, const Context& context) {
  context.say("emulated with " + report.shaper + ", loss by " + report.loss_by + ", " +
              (report.netem ? "delay by netem" : "no added delay (the kernel has no netem)") +
              ", " + report.congestion_control + ", namespaces of " + report.name_space);
  for (const std::string& warning : report.warnings) context.say("warning: " + warning);
}

}  // namespace

void run_emulated(const RunArguments& arguments, Context& context) {
  RunArguments emulated = arguments;
  emulated.executor = "emulator";
  const ScenarioFile file = read_scenario(emulated);
  const auto store = context.open_writer();
  const runner::InterruptGuard guard;
  ProgressPrinter progress(context);
  EmulatedRun runs(emulated, *store, progress);
  Table table(columns());
  runner::RunProgress at;
  at.runs = static_cast<int>(file.runs.size());
  for (std::size_t place = 0; place < file.runs.size(); ++place) {
    at.run = static_cast<int>(place) + 1;
    const Pair pair = runs.run(file.runs[place], place, at);
    progress.clear();
    if (pair.interrupted) {
      context.exit_code = exit_code(runner::interruption());
      break;
    }
    if (place == 0) describe(pair.report, context);
    add_row(table, file.runs[place], pair, *store);
  }
  if (table.size() > 0) table.print(context, "summary");
}

void add_emulate(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "emulate",
      "Run a scenario with real processes and sockets in network namespaces, beside flow");
  auto arguments = std::make_shared<RunArguments>();
  add_scenario_options(*command, *arguments);
  command->add_option("--threads", arguments->threads, "Threads that run workers side by side")
      ->capture_default_str();
  command->footer(
      "Example:\n  gradwire emulate scenarios/lan.json --set /cluster/workers=2\n"
      "No root is needed where user namespaces are allowed.");
  command->callback([arguments, &context] { run_emulated(*arguments, context); });
}

}  // namespace gradwire::cli
