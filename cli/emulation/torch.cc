#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/child_process.h"
#include "base/folder.h"
#include "bridge/alike.h"
#include "bridge/chakra/traces.h"
#include "bridge/hub.h"
#include "cli/emulation/torch_closing.h"
#include "cli/emulation/torch_compute.h"
#include "cli/emulation/torch_scenario.h"
#include "cli/environment.h"
#include "cli/output/closing.h"
#include "cli/output/progress.h"
#include "cli/runs/run.h"
#include "runner/interrupt.h"
#include "runner/run_loop.h"
#include "scenarios/networks/named_networks.h"
#include "scenarios/share.h"

namespace gradwire::cli {
namespace {

namespace fs = std::filesystem;

struct TorchArguments {
  std::string network;
  std::string compute = "cpu";
  std::string backend = "nccl";
  std::string recording;  ///< to write; empty: under a name of its own beside the database
  std::string replay;     ///< to read instead of running a script
  std::string chakra;     ///< folder of Chakra execution traces to write; empty: none
  int alike = 0;          ///< ranks that one process stands for; 0: every rank is a process
  std::string patience = "8s";
  std::vector<std::string> command;
  RunArguments run;  ///< --set, --executor, --seed, the report
};

/// What the script is called: its file's name, else the command's.
std::string script_name(const std::vector<std::string>& command) {
  const auto script = std::ranges::find_if(
      command, [](const std::string& argument) { return argument.ends_with(".py"); });
  const fs::path path = script != command.end() ? *script : command.front();
  std::string name;
  for (const char c : path.stem().string())
    name += std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' ? c : '-';
  return name.empty() ? "script" : name;
}

/// A file that is not there yet: DATABASE.recordings/NAME-1.jsonl, NAME-2.jsonl, ...
std::string recording_path(const TorchArguments& arguments, const Context& context) {
  if (!arguments.recording.empty()) return arguments.recording;
  const std::string folder = context.database + ".recordings";
  make_folder(folder, "name a recording with --recording");
  for (int number = 1;; ++number) {
    const std::string path =
        folder + "/" + script_name(arguments.command) + "-" + std::to_string(number) + ".jsonl";
    if (!fs::exists(path)) return path;
  }
}

std::string package_folder() {
  const std::string folder = scenarios::share_folder() + "/../python";
  if (fs::is_directory(folder + "/gradwire_torch")) return fs::canonical(folder).string();
  throw Error(ErrorKind::kFailure, "find", "the Python package gradwire_torch",
              "there is no folder " + folder, "install Gradwire whole");
}

/// Beside this program, as built or as installed; empty where it is not there.
std::string codecs_library() {
  for (const char* folder : {"/../lib/", "/../lib/x86_64-linux-gnu/", "/../lib64/"}) {
    const fs::path path = executable_folder() + folder + "libgradwire_codecs.so";
    std::error_code error;
    if (fs::is_regular_file(path, error)) return fs::canonical(path).string();
  }
  return {};
}

/// What PyTorch in the script's processes needs to find the hub.
void set_environment(const std::string& socket, int alike) {
  const char* path = std::getenv("PYTHONPATH");
  const std::string before = path && *path ? std::string(":") + path : std::string();
  ::setenv("PYTHONPATH", (package_folder() + before).c_str(), 1);
  ::setenv(bridge::kHubVariable, socket.c_str(), 1);
  if (alike > 0)
    ::setenv(bridge::kAlikeVariable, std::to_string(alike).c_str(), 1);
  else
    ::unsetenv(bridge::kAlikeVariable);
  ::setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "1", 1);
  // Of this program, for gradwire_torch.hook(); a user's own choice stays.
  if (const std::string library = codecs_library(); !library.empty())
    ::setenv("GRADWIRE_CODECS", library.c_str(), 0);
}

/// While it lives, what is written to stdout goes to stderr: a script's output must not get into a
/// table for machines.
class OutputAside {
 public:
  explicit OutputAside(bool aside) : kept_(aside ? ::dup(1) : -1) {
    std::fflush(stdout);
    if (kept_ >= 0) ::dup2(2, 1);
  }
  ~OutputAside() {
    if (kept_ < 0) return;
    ::dup2(kept_, 1);
    ::close(kept_);
  }
  OutputAside(const OutputAside&) = delete;
  OutputAside& operator=(const OutputAside&) = delete;

 private:
  int kept_;
};

struct Recorded {
  std::string path;
  std::string problem;  ///< empty: the script ran to its end
};

bridge::HubReport run_script(const TorchArguments& arguments, const std::string& path,
                             const TorchNetwork& network, const Context& context) {
  bridge::HubOptions options;
  options.recording = path;
  const Seconds patience = parse_duration(arguments.patience);
  options.patience = std::chrono::milliseconds(static_cast<std::int64_t>(1e3 * patience.value()));
  options.interrupted = [] { return runner::interrupted_by() != 0; };
  options.on_world = [&](int ranks) { network.check(ranks, overrides_of(arguments.run)); };
  bridge::Hub hub(std::move(options));
  set_environment(hub.socket_path(), arguments.alike);
  const OutputAside aside(context.format() != Format::kText);
  return hub.run(arguments.command);
}

/// Why no time can be told of what the ranks did, where that is so.
std::string why_nothing(const bridge::HubReport& report) {
  if (report.ranks == 0)
    return "none of its processes made a process group of gloo or gradwire: it must call "
           "torch.distributed.init_process_group with PyTorch 2.5 or later (2.11 was tried)";
  if (report.calls == 0) return "its ranks called no collective";
  return {};
}

std::string problem_of(const bridge::HubReport& report) {
  if (!report.problem.empty()) return report.problem;
  if (report.exit_code != 0)
    return "the command ended with exit code " + std::to_string(report.exit_code);
  return {};
}

/// The file; its folder, too, if that is ours and nothing else is in it.
void remove_recording(const fs::path& path, const TorchArguments& arguments) {
  fs::remove(path);
  std::error_code folder_is_not_empty;
  if (arguments.recording.empty()) fs::remove(path.parent_path(), folder_is_not_empty);
}

Recorded record(const TorchArguments& arguments, const TorchNetwork& network,
                const Context& context) {
  Recorded recorded{recording_path(arguments, context), {}};
  const bridge::HubReport report = run_script(arguments, recorded.path, network, context);
  const bool something = report.calls > 0;
  if (!something) remove_recording(recorded.path, arguments);
  const std::string kept = something ? "; what was recorded is in " + recorded.path : std::string();
  if (report.interrupted) throw Error(runner::interruption(), "interrupted" + kept);
  recorded.problem = problem_of(report);
  if (something && (recorded.problem.empty() || report.steps > 0)) return recorded;
  throw Error(ErrorKind::kFailure, "run", arguments.command.front(),
              recorded.problem.empty() ? why_nothing(report) : recorded.problem + kept);
}

void replay(const TorchArguments& arguments, const TorchCompute& compute,
            const TorchNetwork& network, const Recorded& recorded, Context& context) {
  const bridge::Header header = bridge::read_header(recorded.path);
  const ComputeScale scale = compute.scale(header, recorded.path);
  const std::string name = arguments.command.empty() ? fs::path(recorded.path).stem().string()
                                                     : script_name(arguments.command);
  const bool other_ranks = !arguments.replay.empty() && arguments.alike > 0;
  nlohmann::ordered_json workload = {
      {"recording", fs::absolute(recorded.path).lexically_normal().string()},
      {"compute_scale", scale.factor},
      {"backend", arguments.backend}};
  if (other_ranks) workload["alike"] = true;
  const scenarios::Scenario scenario = network.scenario(
      workload, other_ranks ? arguments.alike : header.world, name, overrides_of(arguments.run));
  const auto store = context.open_writer();
  ProgressPrinter progress(context);
  runner::RunProgress at;
  at.run = at.runs = 1;
  results::RunId run = 0;
  const auto outcome = runner::run_scenario(scenario, {}, *store, progress, at, run);
  progress.on_run_ended(at, *store->run(run), false);
  progress.clear();
  if (outcome == runner::RunOutcome::kInterrupted)
    throw Error(runner::interruption(), "interrupted; the recording is in " + recorded.path);
  const UsualSteps usual = usual_steps(*store, run);
  const results::RunId runs[] = {run};
  print_closing(*store, runs, context);
  context.say_wrapped(sentence_of(usual, scenario.executor));
  if (!scale.note.empty()) context.say_wrapped(scale.note);
  if (context.format() == Format::kText) print_remedies(scenario, usual.step_s, context);
  if (!arguments.run.no_report)
    write_run_report(*store, runs,
                     arguments.run.report.empty() ? default_report_path(context, scenario.name)
                                                  : arguments.run.report,
                     context);
  context.say("run " + std::to_string(run) + "; the recording is in " + recorded.path);
}

void write_chakra(const TorchArguments& arguments, const Recorded& recorded,
                  const Context& context) {
  bridge::Recording recording = bridge::read_recording(recorded.path);
  if (!arguments.replay.empty() && arguments.alike > 0)
    recording = bridge::with_ranks(std::move(recording), arguments.alike, recorded.path);
  bridge::chakra::write_traces(recording, arguments.chakra,
                               fs::path(recorded.path).stem().string());
  context.say(std::to_string(recording.header.world) + " traces: " + arguments.chakra);
}

void torch(TorchArguments arguments, Context& context) {
  const TorchCompute compute(arguments.compute);
  parse_duration(arguments.patience);
  const bool replays = !arguments.replay.empty();
  if (replays == !arguments.command.empty())
    throw Error(ErrorKind::kUsage, "use torch", replays ? "--replay" : "no command",
                replays ? "there is a command, too" : "it needs a script to run",
                "gradwire torch --network net.json -- torchrun --nproc-per-node 4 train.py");
  const TorchNetwork network(arguments.network);
  if (network.is_named()) arguments.run.network = arguments.network;
  const runner::InterruptGuard guard;
  if (!network.unused().empty())
    context.say("of " + arguments.network +
                " the script's own takes the place of: " + network.unused());
  network.check(0, overrides_of(arguments.run));
  const Recorded recorded =
      replays ? Recorded{arguments.replay, {}} : record(arguments, network, context);
  if (!recorded.problem.empty()) context.say("warning: " + recorded.problem);
  if (!arguments.chakra.empty()) write_chakra(arguments, recorded, context);
  replay(arguments, compute, network, recorded, context);
  if (!recorded.problem.empty())
    throw Error(ErrorKind::kFailure, "run to its end", arguments.command.front(),
                recorded.problem + "; its whole steps are stored, and what was recorded is in " +
                    recorded.path);
}

}  // namespace

void add_torch(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "torch", "Run a PyTorch script on this machine, and tell its time on a network");
  auto arguments = std::make_shared<TorchArguments>();
  command
      ->add_option("--network", arguments->network,
                   "A scenario's network, or a scenario whose network, cluster and executor are "
                   "taken; or links and transport by name: " +
                       scenarios::names_of_networks())
      ->required()
      ->type_name("FILE|NAME");
  command
      ->add_option(
          "--compute", arguments->compute,
          "What ranks compute takes: cpu, the processor time it takes here; scale=FACTOR, a "
          "multiple of it; profile=DEVICE or profile=DEVICE:PRECISION (fp32), that of a "
          "device by its rate of matrix products; flops=RATE, that of one of so many a second")
      ->type_name("cpu|scale=FACTOR|profile=DEVICE|flops=RATE")
      ->capture_default_str();
  command
      ->add_option("--backend", arguments->backend,
                   "Whose way collectives go on the network: gloo makes a reduce-scatter of an "
                   "all-reduce")
      ->check(CLI::IsMember({"nccl", "gloo"}))
      ->capture_default_str();
  command
      ->add_option("--executor", arguments->run.executor,
                   "model, flow or packet (default: the file's, else flow)")
      ->check(CLI::IsMember({"model", "flow", "packet"}));
  command
      ->add_option("--set", arguments->run.sets,
                   "Override a field of the network, /json/pointer=value (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command
      ->add_option("--recording", arguments->recording,
                   "Where to write what the ranks call (default: DATABASE.recordings/)")
      ->type_name("FILE");
  command
      ->add_option("--replay", arguments->replay,
                   "A recording, or a folder of a profiler's traces, to take in place of a script")
      ->type_name("FILE");
  command
      ->add_option("--chakra", arguments->chakra,
                   "Write what the ranks called as Chakra execution traces, too")
      ->type_name("FOLDER");
  command
      ->add_option("--alike", arguments->alike,
                   "One process, or what was recorded, stands for N ranks of data parallelism")
      ->type_name("N")
      ->check(CLI::Range(2, bridge::kMostRanks));
  command
      ->add_option("--patience", arguments->patience,
                   "Ranks that wait so long for one that does nothing give up")
      ->type_name("TIME")
      ->capture_default_str();
  command
      ->add_option("-o,--report", arguments->run.report,
                   "Where to write the report (default: beside the database)")
      ->type_name("FILE");
  command->add_flag("--no-report", arguments->run.no_report, "Write no report");
  command->add_option("COMMAND", arguments->command, "The script's command, after --")
      ->type_name("");
  command->footer(
      "The script is not changed: gloo moves its data, and what it calls and computes is replayed "
      "on\nthe network.\n"
      "Examples:\n"
      "  gradwire torch --network lan -- torchrun --nproc-per-node 4 train.py\n"
      "  gradwire torch --network lan --alike 64 -- python train.py\n"
      "  gradwire torch --network wan --replay gradwire.db.recordings/train-1.jsonl\n"
      "  gradwire torch --network wan --replay traces");
  command->callback([arguments, &context] { torch(*arguments, context); });
}

}  // namespace gradwire::cli
