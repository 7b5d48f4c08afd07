#include "cli/emulation/emulated_run.h"
#include "cli/emulation/ranks.h"
#include "cli/output/closing.h"
#include "cli/output/progress.h"
#include "cli/output/table.h"
#include "cli/runs/run.h"
#include "runner/interrupt.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

using scenarios::Scenario;
using scenarios::ScenarioFile;

std::vector<Column> columns() {
  return {
      {"name", "scenario"},
      {.name = "method", .importance = Importance::kKey},
      {"workers"},
      {.name = "steps", .importance = Importance::kLow},
      {"base_rtt_s", "base RTT (measured)", Column::Style::kDuration, Importance::kLow},
      {"emulated_exchange_s", "exchange, emulated (median)", Column::Style::kDuration,
       Importance::kKey},
      {"gloo_exchange_s", "exchange, Gloo (median)", Column::Style::kDuration, Importance::kLow},
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

void add_row(Table& table, const Scenario& scenario, const Pair& pair, bool on_machines,
             const results::Store& store) {
  const double emulated = whole_run_figure(store, pair.emulated, "exchange_s");
  const double simulated = whole_run_figure(store, pair.simulated, "exchange_s");
  const bool whole = emulated_links(store, pair.emulated).delays;
  const char* const obtained = on_machines ? "measured" : whole ? "emulated" : "partly emulated";
  table.add({scenario.name, scenarios::method_label(scenario),
             static_cast<std::int64_t>(scenario.cluster.workers),
             store.run(pair.emulated)->steps_done, whole_run_figure(store, pair.emulated, kBaseRtt),
             emulated, whole_run_figure(store, pair.emulated, kGloo), std::string(obtained),
             simulated, simulated / emulated, pair.emulated, pair.simulated});
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
      if (pair.simulated > 0)
        add_row(table, scenario, pair, !runs.report().machines.empty(), store);
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

/// Where they are asked for; a process that is a worker alone becomes one.
std::optional<RankHosts> ranks_of(const RunArguments& arguments) {
  const auto refuse = [](const std::string& option, const std::string& reason) {
    throw Error(ErrorKind::kUsage, "use", option, reason, "leave it out");
  };
  if (arguments.hosts.empty()) {
    if (!arguments.rendezvous.empty()) refuse("--rendezvous", "it is for --hosts");
    return std::nullopt;
  }
  if (!arguments.shaper.empty())
    refuse("--shaper with --hosts", "networks between machines are not shaped");
  if (!arguments.chaos.empty())
    refuse("--chaos with --hosts", "processes on machines of their own are nobody's to stop");
  if (arguments.gloo) refuse("--gloo with --hosts", "machines run no programs that they are told");
  if (arguments.resume) refuse("--resume with --hosts", "emulated runs would be taken");
  std::optional<RankHosts> ranks(std::in_place, arguments.hosts, arguments.rendezvous);
  ranks->become_worker();
  return ranks;
}

void require_as_many(const RankHosts& ranks, const ScenarioFile& file) {
  const auto refuse = [&](const std::string& reason, const std::string& remedy) {
    throw Error(ErrorKind::kUsage, "run", file.name, reason, remedy);
  };
  if (file.runs.size() != 1)
    refuse("it has " + std::to_string(file.runs.size()) + " runs, and machines take one at a time",
           "choose one by --set and --seed");
  const int hosts = scenarios::build_cluster(file.runs[0]).host_count();
  if (hosts != ranks.size())
    refuse("it has " + std::to_string(hosts) + " hosts, workers and servers, and there are " +
               std::to_string(ranks.size()) + " processes",
           "start one for each host, or set /cluster/workers");
}

}  // namespace

void run_emulated(const RunArguments& arguments, Context& context) {
  RunArguments emulated = arguments;
  emulated.executor = "emulator";
  refuse_resumed(arguments);
  std::optional<RankHosts> ranks = ranks_of(arguments);
  const ScenarioFile file = read_scenario(emulated);
  if (ranks) require_as_many(*ranks, file);
  warn(file, context);
  const auto store = context.open_writer();
  const runner::InterruptGuard guard;
  ProgressPrinter progress(context);
  EmulatedRun runs({.threads = emulated.threads,
                    .shaper = emulated.shaper,
                    .rendezvous = ranks ? ranks->rendezvous() : "",
                    .incidents = emulated.chaos,
                    .gloo = emulated.gloo,
                    .resume = emulated.resume},
                   *store, progress);
  Table table(columns());
  if (ranks) ranks->start();
  const runner::SweepResult result = emulate_all(file, runs, progress, *store, table, context);
  context.exit_code = exit_code_of(result);
  if (table.size() > 0) table.print(context, "summary");
  if (result.runs.empty()) return refuse_no_run(result, arguments.file, context);
  if (arguments.no_report) return;
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
      ->add_option("--hosts", arguments->hosts,
                   "Real machines instead of namespaces, without shaping: mpi (the ranks of mpirun "
                   "or srun), or names separated by commas, reached by ssh")
      ->type_name("mpi|NAMES")
      ->check(CLI::Validator(
          [](const std::string& names) {
            return names.empty() ? std::string("it names no host") : std::string();
          },
          ""));
  command
      ->add_option("--rendezvous", arguments->rendezvous,
                   "Where their workers come to: an address of rank 0's machine that all reach")
      ->type_name("HOST:PORT");
  command
      ->add_option("--chaos", arguments->chaos,
                   "What goes wrong: kill:HOST@TIME, pause:HOST@TIME+TIME, cut:HOST@TIME+TIME, "
                   "such as pause:1@2s+500ms; hosts are workers, then servers")
      ->type_name("INCIDENT");
  command->add_flag("--gloo", arguments->gloo,
                    "Beside each run: what PyTorch's Gloo takes for a step's floats in the same "
                    "namespaces (a Python that has PyTorch: GRADWIRE_PYTHON)");
  command->add_option("--threads", arguments->threads, "Threads that run workers side by side")
      ->capture_default_str();
  command->footer(
      "Example:\n  gradwire emulate scenarios/lan.json --set /cluster/workers=2\n"
      "No root is needed where user namespaces are allowed.");
  command->callback([arguments, &context] { run_emulated(*arguments, context); });
}

}  // namespace gradwire::cli
