#include "cli/runs/run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file_descriptor.h"
#include "cli/environment.h"
#include "cli/output/closing.h"
#include "cli/output/progress.h"
#include "cli/runs/engine.h"
#include "cli/scenarios/params.h"
#include "runner/interrupt.h"
#include "runner/sweep.h"
#include "scenarios/networks/named_networks.h"
#include "scenarios/share.h"

namespace gradwire::cli {
namespace {

[[noreturn]] void refuse(const std::string& option, const std::string& reason,
                         const std::string& remedy) {
  throw Error(ErrorKind::kUsage, "use", option, reason, remedy);
}

/// Options that an executor of the file's runs cannot serve.
void refuse_unserved(const RunArguments& arguments, const scenarios::ScenarioFile& file) {
  for (const scenarios::Scenario& scenario : file.runs) {
    if (!arguments.models.empty() && scenario.workload.kind != scenarios::WorkloadKind::kTraining)
      refuse("--models", "a run of " + file.name + " trains no model", "leave it out");
    if (!arguments.shaper.empty() && scenario.executor != "emulator")
      refuse("--shaper", "executor " + scenario.executor + " emulates no links",
             "use --executor emulator");
    if (scenario.executor == "packet") continue;
    const std::string reason = "executor " + scenario.executor + " sends no packets of ns-3";
    if (!arguments.pcap.empty()) refuse("--pcap", reason, "use --executor packet");
    if (!arguments.flow_monitor.empty()) refuse("--flow-monitor", reason, "use --executor packet");
    if (scenario.executor == "emulator" && arguments.engine != "local")
      refuse("--engine " + arguments.engine, "emulated runs take a machine to themselves",
             "leave it out");
    if (scenario.executor == "emulator" && arguments.jobs > 1)
      refuse("--jobs " + std::to_string(arguments.jobs),
             "emulated runs take the machine's processors and clock one at a time", "leave it out");
  }
}

/// The one that --set gives, or the scenario's file; empty where neither does. Problems of the file
/// are told where it is read.
std::string device_of(const RunArguments& arguments) {
  constexpr std::string_view kSet = "/cluster/device=";
  for (auto text = arguments.sets.rbegin(); text != arguments.sets.rend(); ++text)
    if (text->starts_with(kSet)) return text->substr(kSet.size());
  if (arguments.network != scenarios::kNvlinkNode || arguments.file.empty()) return {};
  using nlohmann::ordered_json;
  const auto scenario = ordered_json::parse(
      read_file(scenarios::find_scenario_file(arguments.file)), nullptr, false, true);
  const ordered_json::json_pointer pointer("/cluster/device");
  const ordered_json device = scenario.is_object() ? scenario.value(pointer, ordered_json()) : "";
  return device.is_string() ? device.get<std::string>() : "";
}

}  // namespace

int exit_code_of(const runner::SweepResult& result) {
  if (result.interrupted) return exit_code(runner::interruption());
  if (result.failed > 0)
    return exit_code(result.runs.empty() ? ErrorKind::kFailure : ErrorKind::kPartial);
  return result.diverged > 0 ? exit_code(ErrorKind::kPartial) : 0;
}

void refuse_no_run(const runner::SweepResult& result, const std::string& file,
                   const Context& context) {
  if (result.interrupted) return;
  // Each has said why on its way, but for who reads one document at the end.
  const bool document = context.format() == Format::kJson;
  throw Error(
      ErrorKind::kFailure, "finish any run of", file,
      document ? "all of them failed; the first: " + result.why_failed : "all of them failed");
}

scenarios::Overrides overrides_of(const RunArguments& arguments) {
  scenarios::Overrides overrides = overrides_of_environment();
  if (!arguments.network.empty())
    for (scenarios::Override& one :
         scenarios::overrides_of_network(arguments.network, device_of(arguments)))
      overrides.push_back(std::move(one));
  for (const std::string& text : arguments.sets) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || text.front() != '/')
      throw Error(ErrorKind::kUsage, "use --set", "\"" + text + "\"",
                  "it is not of the form /json/pointer=value",
                  "for example: --set /network/link/bandwidth=10Gbps");
    overrides.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  if (!arguments.executor.empty())
    overrides.push_back({"/executor", arguments.executor, "--executor"});
  if (!arguments.seeds.empty())
    overrides.push_back({"/seeds", nlohmann::json(arguments.seeds).dump(), "--seed"});
  return overrides;
}

scenarios::ScenarioFile read_scenario(const RunArguments& arguments) {
  return scenarios::read_scenario_file(scenarios::find_scenario_file(arguments.file),
                                       overrides_of(arguments));
}

scenarios::ScenarioFile read_scenario_text(const std::string& text, const std::string& path,
                                           const RunArguments& arguments) {
  return scenarios::read_scenario_text(text, path, overrides_of(arguments));
}

void warn(const scenarios::ScenarioFile& file, const Context& context) {
  for (const std::string& warning : file.warnings) context.say("warning: " + warning);
}

void add_network_option(CLI::App& command, std::string& network) {
  command.add_option("--network", network,
                     "Links and transport by name: " + scenarios::names_of_networks());
}

void add_scenario_options(CLI::App& command, RunArguments& arguments, const std::string& plain) {
  command
      .add_option("FILE", arguments.file,
                  "Scenario file" + (plain.empty() ? "" : "; default: " + plain))
      ->required(plain.empty());
  command.add_option("--set", arguments.sets, "Override a field, /json/pointer=value (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  add_network_option(command, arguments.network);
  command.add_option("--seed", arguments.seeds, "Run these seeds instead (repeatable)")
      ->check(CLI::NonNegativeNumber)
      ->take_all()
      ->allow_extra_args(false);
}

void add_result_options(CLI::App& command, RunArguments& arguments) {
  command.add_flag("--resume", arguments.resume,
                   "Skip runs that have ended in the database; training goes on from its last "
                   "checkpoint, other unfinished runs start afresh");
  command
      .add_option("-o,--report", arguments.report,
                  "Where to write the report (default: beside the database)")
      ->type_name("FILE");
  command.add_flag("--no-report", arguments.no_report, "Write no report");
}

void add_shaper_option(CLI::App& command, RunArguments& arguments) {
  command
      .add_option("--shaper", arguments.shaper,
                  "Emulator: who makes the links: the kernel (tbf; netem: and delays), a process "
                  "(link), or auto (default): the kernel where it can")
      ->check(CLI::IsMember({"auto", "tbf", "link", "netem"}));
}

void run(const RunArguments& arguments, Context& context,
         const std::function<std::unique_ptr<sim::Executor>(const scenarios::Scenario&)>& factory) {
  const scenarios::ScenarioFile file = read_scenario(arguments);
  warn(file, context);
  if (arguments.print_config) return print_config(file, context);
  refuse_unserved(arguments, file);
  const std::unique_ptr<results::Store> store = context.open_writer();
  runner::SweepOptions options;
  options.threads = arguments.threads;
  options.jobs = arguments.jobs;
  options.resume = arguments.resume;
  options.executor_factory = factory;
  options.checkpoint_every_s = parse_duration(arguments.checkpoint_every).value();
  if (options.checkpoint_every_s > 0) options.checkpoint_folder = context.checkpoint_folder();
  options.most_hours = arguments.most_hours;
  if (!arguments.memory.empty()) options.memory = parse_bytes(arguments.memory);
  options.states_folder = context.states_folder();
  options.pcap_folder = arguments.pcap;
  options.flow_monitor_folder = arguments.flow_monitor;
  options.models_folder = arguments.models;
  ProgressPrinter progress(context);
  const runner::SweepResult result =
      run_with_engine(arguments, file, options, *store, progress, context);
  progress.clear();
  context.exit_code = exit_code_of(result);
  if (result.interrupted)
    context.say("stopped; finished runs and this run's steps are kept, --resume does the rest");
  if (result.runs.empty()) return refuse_no_run(result, arguments.file, context);
  print_closing(*store, result.runs, context);
  if (arguments.no_report) return;
  const std::string report =
      arguments.report.empty() ? default_report_path(context, file.name) : arguments.report;
  write_run_report(*store, result.runs, report, context);
}

/// Whether the runs go to the emulator, by option or by scenario; it takes all of them or none.
bool is_emulated(const RunArguments& arguments) {
  const scenarios::ScenarioFile file = read_scenario(arguments);
  refuse_unserved(arguments, file);
  const auto count = std::count_if(file.runs.begin(), file.runs.end(), [](const auto& scenario) {
    return scenario.executor == "emulator";
  });
  if (count == 0 || count == static_cast<std::ptrdiff_t>(file.runs.size())) return count > 0;
  throw Error(ErrorKind::kUsage, "run", arguments.file,
              "some of its runs are for the emulator, some are not",
              "run them apart, with --executor or --set");
}

void add_run(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("run", "Run a scenario file: train, encode, simulate, store, report");
  auto arguments = std::make_shared<RunArguments>();
  add_scenario_options(*command, *arguments);
  command
      ->add_option("--executor", arguments->executor,
                   "What carries the bytes (default: as the scenario says)")
      ->check(CLI::IsMember(kExecutors));
  command->add_option("--threads", arguments->threads, "Threads that run workers side by side")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  CLI::Option* jobs =
      command
          ->add_option("-j,--jobs", arguments->jobs,
                       "Runs of the sweep at a time; of --engine mpi the ranks (default: "
                       "mpirun's slots), of slurm the tasks (default: 16 at most)")
          ->check(CLI::Range(1, 4096))
          ->capture_default_str();
  add_engine_options(*command, *arguments, jobs);
  add_result_options(*command, *arguments);
  add_shaper_option(*command, *arguments);
  command
      ->add_option("--pcap", arguments->pcap,
                   "Packet executor: write FOLDER/run-N/HOST.pcap, each host's IP packets")
      ->type_name("FOLDER");
  command
      ->add_option("--flow-monitor", arguments->flow_monitor,
                   "Packet executor: write ns-3's flow monitor of each run to FOLDER/run-N.xml")
      ->type_name("FOLDER");
  command
      ->add_option("--models", arguments->models,
                   "Keep what each run has trained in FOLDER/run-N.grwm, for evaluate")
      ->type_name("FOLDER");
  command
      ->add_option("--checkpoint-every", arguments->checkpoint_every,
                   "Wall time between checkpoints of training, the first after 1 s at most (0s: "
                   "none), for --resume")
      ->type_name("TIME")
      ->capture_default_str();
  command
      ->add_option("--memory", arguments->memory,
                   "Memory for what clients of federated rounds, and pipelines of samples, "
                   "remember, such as 2GiB; more lies in a file beside the database (default: half "
                   "of what is available)")
      ->type_name("SIZE");
  command
      ->add_option("--hours", arguments->most_hours,
                   "Begin no run whose simulation would take longer than so many hours of one core")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->add_flag("--print-config", arguments->print_config,
                    "Only print each value and where it comes from");
  command->footer(
      "Examples:\n  gradwire run scenarios/quickstart.json\n"
      "  gradwire run scenarios/sweep.json --resume\n"
      "  gradwire run scenarios/sweep.json --engine mpi -j 64\n"
      "  gradwire run scenarios/lan.json --executor packet --set /cluster/workers=8");
  command->callback([arguments, &context] {
    if (!arguments->print_config && is_emulated(*arguments))
      return run_emulated(*arguments, context);
    run(*arguments, context, {});
  });
}

}  // namespace gradwire::cli
