#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/context.h"
#include "runner/sweep.h"
#include "scenarios/document/overrides.h"
#include "scenarios/scenario.h"
#include "sim/session/executor.h"

namespace gradwire::cli {

/// What may carry the bytes.
inline const std::vector<std::string> kExecutors = {"model", "flow", "packet", "emulator"};

/// Arguments that `run`, `emulate` and `plan` share.
struct RunArguments {
  std::string file;
  std::vector<std::string> sets;
  std::string network;  ///< by name: scenarios/networks/named_networks.h
  std::vector<std::uint64_t> seeds;
  std::string executor;
  int threads = 1;
  int jobs = 1;
  bool jobs_given = false;       ///< by --jobs
  std::string engine = "local";  ///< what shares the sweep out
  bool resume = false;
  std::string checkpoint_every = "30s";  ///< of wall time; empty: no checkpoints
  std::string memory;                    ///< empty: a share of what there is
  double most_hours = 168;
  std::string report;
  bool no_report = false;
  bool print_config = false;
  std::string pcap;          ///< folder
  std::string flow_monitor;  ///< folder
  std::string shaper;        ///< of emulated links; empty: auto
  std::string hosts;         ///< of emulated workers on machines of their own; empty: namespaces
  std::string rendezvous;    ///< where those come to; empty: the usual one
  std::vector<std::string> chaos;  ///< what goes wrong in an emulation (emulator/incident.h)
  bool gloo = false;               ///< beside each emulation
  std::string models;              ///< folder
};

/// FILE, --set and --seed. `plain`: what is taken where there is no FILE; empty = it is needed.
void add_scenario_options(CLI::App& command, RunArguments& arguments,
                          const std::string& plain = {});
/// --network NAME.
void add_network_option(CLI::App& command, std::string& network);
/// --resume, --report and --no-report.
void add_result_options(CLI::App& command, RunArguments& arguments);
/// --shaper: who makes emulated links.
void add_shaper_option(CLI::App& command, RunArguments& arguments);
/// Of a sweep: 0, or that some of its runs failed or that it was interrupted.
int exit_code_of(const runner::SweepResult& result);
/// Throws Error of a sweep whose runs have all failed; nothing where it was interrupted.
void refuse_no_run(const runner::SweepResult& result, const std::string& file,
                   const Context& context);
/// The environment's fields, then --set, --executor and --seed. Throws Error for one that is not of
/// its form.
scenarios::Overrides overrides_of(const RunArguments& arguments);
/// The scenario file with --set, --seed and --executor applied.
scenarios::ScenarioFile read_scenario(const RunArguments& arguments);
/// The same of a scenario's text; `path` is for messages and relative paths.
scenarios::ScenarioFile read_scenario_text(const std::string& text, const std::string& path,
                                           const RunArguments& arguments);
/// Says what looks suspicious in it.
void warn(const scenarios::ScenarioFile& file, const Context& context);

/// Runs the file and prints the closing table and the report's path. `factory` replaces the
/// scenario's executor if given.
void run(const RunArguments& arguments, Context& context,
         const std::function<std::unique_ptr<sim::Executor>(const scenarios::Scenario&)>& factory);

/// `run --executor emulator` and `emulate`: real processes and sockets, held against `flow`.
void run_emulated(const RunArguments& arguments, Context& context);

}  // namespace gradwire::cli
