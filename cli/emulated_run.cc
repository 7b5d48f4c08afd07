#include "cli/emulated_run.h"

#include <cmath>

#include "runner/run_loop.h"

namespace gradwire::cli {

using scenarios::Scenario;

double whole_run_figure(const results::Store& store, results::RunId run, const std::string& name) {
  for (const results::MetricRow& row : store.metrics(run))
    if (row.name == name && row.step < 0) return row.value;
  return std::nan("");
}

runner::EmulatedLinks emulated_links(const results::Store& store, results::RunId run) {
  runner::EmulatedLinks links{true, Seconds(whole_run_figure(store, run, kOverhead))};
  for (const results::MetricRow& row : store.metrics(run))
    if (row.provenance == results::Provenance::kPartlyEmulated) links.delays = false;
  return links;
}

void describe(const emulator::EmulatorReport& report, const Context& context) {
  const std::string delay = report.delay_by == "none" ? "no added delay (the kernel has no netem)"
                                                      : "delay by " + report.delay_by;
  context.say("emulated with " + report.shaper + ", loss by " + report.loss_by + ", " + delay +
              ", " + report.congestion_control + ", namespaces of " + report.name_space);
  for (const std::string& warning : report.warnings) context.say("warning: " + warning);
  for (const std::string& missing : report.missing)
    context.say("warning: partly emulated: " + missing +
                "; the twin in flow has the delays that were emulated");
}

/// The run that is taken instead of running; 0 = none. Of emulated runs only those that say what
/// their links were.
results::RunId EmulatedRun::finished(const Scenario& scenario, const runner::RunProgress& at,
                                     bool emulated) {
  if (!options_.resume) return 0;
  const auto found = store_.find_ended(scenario.hash, scenario.seed);
  const bool usable =
      found && (!emulated || std::isfinite(whole_run_figure(store_, *found, kOverhead)));
  if (!usable) return 0;
  observer_.on_run_ended(at, *store_.run(*found), true);
  return *found;
}

results::RunId EmulatedRun::emulate(const Scenario& scenario, const runner::RunProgress& at) {
  if (const results::RunId run = finished(scenario, at, true)) return run;
  runner::RunOptions options;
  options.train_first = true;
  options.executor_factory = [&](const Scenario& resolved) -> std::unique_ptr<sim::Executor> {
    emulator::EmulatorOptions emulator_options;
    emulator_options.transport = resolved.network.transport;
    auto executor = cli::make_emulator(scenarios::build_cluster(resolved), emulator_options);
    report_ = executor->report();
    return executor;
  };
  options.executor_facts = [this] {
    runner::RunFacts facts;
    facts.notes = report_.missing;
    facts.figures = {{kBaseRtt, report_.median_base_rtt.value(), "s"},
                     {kOverhead, report_.median_overhead.value(), "s"}};
    return facts;
  };
  return store(scenario, std::move(options), at);
}

results::RunId EmulatedRun::simulate(const Scenario& scenario, const std::string& executor,
                                     const runner::EmulatedLinks& links,
                                     const runner::RunProgress& at) {
  return run(runner::simulated_twin(scenario, executor, links), at);
}

results::RunId EmulatedRun::run(const Scenario& scenario, const runner::RunProgress& at) {
  if (const results::RunId run = finished(scenario, at, false)) return run;
  return store(scenario, {}, at);
}

results::RunId EmulatedRun::store(const Scenario& scenario, runner::RunOptions options,
                                  const runner::RunProgress& at) {
  options.threads = options_.threads;
  options.profiles = &profiles_;
  options.resume = options_.resume;
  results::RunId id = 0;
  const auto outcome = runner::run_scenario(scenario, options, store_, observer_, at, id);
  observer_.on_run_ended(at, *store_.run(id), false);
  return outcome == runner::RunOutcome::kInterrupted ? 0 : id;
}

}  // namespace gradwire::cli
