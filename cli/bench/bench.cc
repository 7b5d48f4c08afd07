#include "cli/bench/bench.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/folder.h"
#include "base/joined_texts.h"
#include "cli/bench/bench_module.h"
#include "cli/output/table.h"
#include "scenarios/share.h"

namespace gradwire::cli {
namespace {

bench::Say say_to(const Context& context) {
  return [&context](const std::string& message) { context.say(message); };
}

void add_bench_training(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "training", "A training loop under simulation against the bare LibTorch loop");
  auto seed = std::make_shared<std::uint64_t>(1);
  command->add_option("--seed", *seed, "Seed")->capture_default_str();
  command->callback([seed, &context] {
    print_bench_rows(benchmarks().training(*seed, say_to(context)), false, context);
  });
}

void add_bench_methods(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "methods", "Each method's own work beside a model's passes, and beside LibTorch operations");
  auto options = std::make_shared<bench::MethodsOptions>();
  command->add_option("--seed", options->seed, "Seed of the gradients")->capture_default_str();
  command->add_option("--methods", options->methods, "Only these (default: all)")->delimiter(',');
  command->callback([options, &context] {
    print_bench_rows(benchmarks().methods(*options, say_to(context)), false, context);
  });
}

void add_bench_flow(CLI::App& parent, Context& context) {
  parent.add_subcommand("flow", "Transfers a second of the flow executor on ring all-reduces")
      ->callback(
          [&context] { print_bench_rows(benchmarks().flow(say_to(context)), false, context); });
}

void add_bench_packet(CLI::App& parent, Context& context) {
  parent
      .add_subcommand("packet",
                      "The packet executor against plain ns-3, against flow, and its forecasts")
      ->callback(
          [&context] { print_bench_rows(benchmarks().packet(say_to(context)), false, context); });
}

void add_bench_report(CLI::App& parent, Context& context) {
  parent.add_subcommand("report", "Reports of 100 stored runs: time and size")
      ->callback(
          [&context] { print_bench_rows(benchmarks().report(say_to(context)), false, context); });
}

void add_bench_gui(CLI::App& parent, Context& context) {
  parent
      .add_subcommand("gui", "The desktop program with 10,000 and 100,000 runs, 640,000 segments")
      ->callback(
          [&context] { print_bench_rows(benchmarks().gui(say_to(context)), false, context); });
}

/// Asks the module only where the option is given: --help needs no benchmark.
std::string check_regime(const std::string& name) {
  const std::vector<std::string> all = benchmarks().fidelity_regimes();
  if (std::find(all.begin(), all.end(), name) != all.end()) return {};
  return "there is no regime \"" + name + "\"; there are " + joined_texts(all, ", ");
}

void add_bench_fidelity(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "fidelity", "The flow executor's error against a reference, on cases drawn from the seed");
  auto options = std::make_shared<bench::FidelityOptions>();
  command->add_option("--seed", options->seed, "Seed of the cases")->capture_default_str();
  command->add_option("--cases", options->cases, "Cases of each regime")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--case", options->numbers, "Of each regime only the cases of these numbers")
      ->check(CLI::Range(1, 10'000));
  command->add_option("--regime", options->regimes, "Only these")
      ->check(CLI::Validator(check_regime, "REGIME"));
  command->add_flag("--bbr", options->bbr, "The same cases with BBR");
  command
      ->add_option_function<std::string>(
          "--detail",
          [options](const std::string& name) { options->detail = sim::detail_named(name); },
          "Of flow, in place of its own choice: per-packet or fluid")
      ->check(CLI::IsMember({"per-packet", "fluid"}));
  command->add_option("--against", options->reference, "ns-3, or this kernel's TCP in namespaces")
      ->check(CLI::IsMember({"packet", "linux"}))
      ->capture_default_str();
  command
      ->add_option("--traces", options->traces,
                   "Folder of Mahimahi traces for the mobile cases; the shipped ones if not given")
      ->check(CLI::ExistingDirectory);
  command->add_option("--case-limit", options->case_limit_s, "Seconds for a case, against linux")
      ->capture_default_str();
  command
      ->add_option("--calibration", options->calibration,
                   "Of flow, against linux: packet, linux, or a file of `gradwire calibrate`")
      ->capture_default_str();
  command->add_option(
      "--time-limit", options->total_limit_s,
      "Seconds after which no run of the reference begins: 1620 for packet, 240 for "
      "linux (1800 for the whole comparison)");
  command->callback([options, &context] {
    if (options->traces.empty()) options->traces = scenarios::share_folder() + "/traces";
    print_bench_rows(benchmarks().fidelity(*options, say_to(context)), false, context);
  });
}

/// Scenarios are data: on stdout below the rows for people, else on stderr or in files.
void put_scenarios(const std::vector<std::string>& scenarios, const std::string& folder,
                   const Context& context) {
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const std::string file = folder + "/cliff-" + std::to_string(i + 1) + ".json";
    if (!folder.empty())
      write_file(file, scenarios[i]);
    else if (context.format() == Format::kText)
      std::fputs(scenarios[i].c_str(), stdout);
    else
      context.say(scenarios[i]);
    if (!folder.empty()) context.say("wrote " + file);
  }
}

void add_bench_cliffs(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "cliffs", "Looks for scenarios on which the flow executor is far from packet");
  auto options = std::make_shared<bench::CliffsOptions>();
  auto folder = std::make_shared<std::string>();
  command->add_option("--seed", options->seed, "Seed of the scenarios")->capture_default_str();
  command->add_option("--minutes", options->minutes, "Wall time for all of it")
      ->check(CLI::Range(0.01, 1e4))
      ->capture_default_str();
  command->add_flag("--list", options->list, "Say every scenario");
  command->add_option("--save", *folder, "Folder for the worst scenarios, as small as they get");
  auto* numbers =
      command->add_option("--number", options->numbers, "Only the drawn scenarios of these numbers")
          ->check(CLI::Range(0, 1'000'000'000));
  auto* cases =
      command
          ->add_option("--cases", options->cases_file,
                       "Compare the scenarios of this file with the times that it holds: JSON, a "
                       "line each (docs/benchmarks.md)")
          ->check(CLI::ExistingFile)
          ->excludes(numbers);
  command->add_option("--only", options->only, "Of that file, names that match this expression")
      ->needs(cases);
  command
      ->add_option("--record", options->record_file,
                   "Run packet anew on these, and write all with the new times to this file")
      ->needs(cases);
  command->callback([options, folder, &context] {
    options->folder = scenarios::share_folder();
    if (!folder->empty()) make_folder(*folder);
    const bench::CliffsResult result = benchmarks().cliffs(*options, say_to(context));
    print_bench_rows(result.rows, false, context);
    put_scenarios(result.scenarios, *folder, context);
    if (result.interrupted) context.exit_code = exit_code(ErrorKind::kInterrupted);
  });
}

void add_bench_prediction(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "prediction", "The fitted performance model on more workers than it was fitted to");
  auto options = std::make_shared<bench::PredictionOptions>();
  command->add_option("--seed", options->seed, "Seed of the cases")->capture_default_str();
  command->add_option("--clean", options->clean_cases, "Cases on clean links")
      ->capture_default_str();
  command->add_option("--lossy", options->lossy_cases, "Cases on links that lose packets")
      ->capture_default_str();
  command->add_option("--mobile", options->mobile_cases, "Cases on mobile traces")
      ->capture_default_str();
  command->add_option("--packet", options->packet_cases, "Cases simulated packet by packet")
      ->capture_default_str();
  command
      ->add_option("--unequal", options->unequal_cases,
                   "Cases on links that differ, half of them with losses")
      ->capture_default_str();
  command->add_option("--workers", options->held_out, "Held-out numbers of workers")
      ->capture_default_str();
  command->add_flag("--list", options->list, "Say every held-out point");
  command->callback([options, &context] {
    print_bench_rows(benchmarks().prediction(*options, say_to(context)), false, context);
  });
}

void add_bench_predict(CLI::App& parent, Context& context) {
  CLI::App* command =
      parent.add_subcommand("predict", "Seconds of 10,000 predictions, and of the slowest");
  auto seed = std::make_shared<std::uint64_t>(1);
  command->add_option("--seed", *seed, "Seed of the steps")->capture_default_str();
  command->callback([seed, &context] {
    print_bench_rows(benchmarks().predict(*seed, say_to(context)), false, context);
  });
}

void add_bench_advice(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "advice", "\"Should I compress?\" by the model against simulations of every candidate");
  auto options = std::make_shared<bench::AdviceOptions>();
  command->add_option("--seed", options->seed, "Seed of the cases")->capture_default_str();
  command->add_option("--cases", options->cases, "Cases")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  command
      ->add_option("--rule-workers", options->rule_workers,
                   "Numbers of workers for which the all-gather's break-even is looked for")
      ->capture_default_str();
  command->add_flag("--list", options->list, "Say every case");
  command->callback([options, &context] {
    print_bench_rows(benchmarks().advice(*options, say_to(context)), false, context);
  });
}

void add_bench_measured(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "measured", "Predicted steps and collectives against tables of what others measured");
  auto options = std::make_shared<bench::MeasuredOptions>();
  command
      ->add_option("--csv", options->tables,
                   "Tables with the columns of docs/validation/measured.md; none: those that ship")
      ->check(CLI::ExistingFile);
  command->add_option("--seed", options->seed, "Seed of the half that gives constants")
      ->capture_default_str();
  command->add_flag("--list", options->list, "Say every row");
  command
      ->add_option("--figure", options->figure,
                   "Draw every row, predicted against measured: STEM.svg, and STEM.csv")
      ->type_name("STEM");
  command->callback([options, &context] {
    print_bench_rows(benchmarks().measured(*options, say_to(context)), false, context);
  });
}

void add_bench_emulation(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "emulation", "flow against the emulator on drawn clusters, and its link process by itself");
  auto options = std::make_shared<bench::EmulationOptions>();
  command->add_option("--seed", options->seed, "Seed of the cases")->capture_default_str();
  command->add_option("--cases", options->cases, "Cases; every other one loses packets")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  command->add_option("--first", options->first, "Number of the first case")
      ->check(CLI::Range(0, 10'000))
      ->capture_default_str();
  command->add_option("--steps", options->steps, "Steps of a case")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  command->add_option("--shaper", options->shaper, "Who makes the links, as of emulate")
      ->check(CLI::IsMember({"auto", "link", "netem", "tbf"}))
      ->capture_default_str();
  command->callback([options, &context] {
    print_bench_rows(benchmarks().emulation(*options, say_to(context)), false, context);
  });
}

}  // namespace

void print_bench_rows(std::vector<bench::BenchRow> rows, bool only_bars, Context& context) {
  if (!bench::judge(rows)) context.exit_code = exit_code(ErrorKind::kGate);
  std::vector<Column> columns = {{"name"},
                                 {.name = "value", .importance = Importance::kKey},
                                 {"unit"},
                                 {.name = "bar", .importance = Importance::kHigh},
                                 {.name = "holds", .importance = Importance::kKey},
                                 {.name = "provenance", .importance = Importance::kLow}};
  const bool skips =
      std::ranges::any_of(rows, [](const bench::BenchRow& row) { return !row.skipped.empty(); });
  if (skips) columns.push_back({.name = "skipped", .importance = Importance::kKey});
  Table table(std::move(columns));
  for (const bench::BenchRow& row : rows) {
    GRADWIRE_ASSERT(!row.provenance.empty());
    if (only_bars && !row.bar && context.format() == Format::kText) continue;
    const bool skipped = !row.skipped.empty();
    std::vector<Cell> cells = {row.name,
                               skipped ? Cell() : Cell(row.value),
                               row.unit,
                               row.bar ? Cell(*row.bar) : Cell(),
                               row.holds ? Cell(*row.holds) : Cell(),
                               row.provenance};
    if (skips) cells.push_back(skipped ? Cell(row.skipped) : Cell());
    table.add(std::move(cells));
  }
  table.print(context);
}

void add_bench(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "bench", "Benchmarks: ratios within one run; exits with 7 when a bar does not hold");
  command->require_subcommand(1);
  add_bench_codecs(*command, context);
  add_bench_training(*command, context);
  add_bench_methods(*command, context);
  add_bench_flow(*command, context);
  add_bench_packet(*command, context);
  add_bench_fidelity(*command, context);
  add_bench_cliffs(*command, context);
  add_bench_prediction(*command, context);
  add_bench_predict(*command, context);
  add_bench_advice(*command, context);
  add_bench_report(*command, context);
  add_bench_gui(*command, context);
  add_bench_measured(*command, context);
  add_bench_emulation(*command, context);
}

}  // namespace gradwire::cli
