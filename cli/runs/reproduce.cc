#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/folder.h"
#include "base/units.h"
#include "cli/context.h"
#include "cli/output/table.h"
#include "cli/runs/checked_runs.h"
#include "cli/runs/run.h"
#include "results/reproductions/link_speeds.h"
#include "results/reproductions/local_steps.h"
#include "results/reproductions/parameter_server.h"
#include "results/reproductions/terngrad_chart/chart_figures.h"
#include "results/reproductions/terngrad_chart/chart_report.h"
#include "runner/prediction/chart_panel.h"
#include "scenarios/share.h"

namespace gradwire::cli {
namespace {

struct ChartArguments {
  std::string csv;
  int gpus_per_node = 4;
  std::string bandwidth = "1Gbps";
  double coarse_below = 200;
  bool panel = false;
  std::string out = "gradwire-report/terngrad-chart";
};

/// Each as an SVG and its data as CSV, numbered from 1.
void write_figures(const std::vector<results::DrawnFigure>& figures, const std::string& stem) {
  int number = 0;
  for (const results::DrawnFigure& drawn : figures)
    results::write_figure(drawn, stem + std::to_string(++number));
}

void write_chart_report(const results::ChartReproduction& reproduction,
                        const std::vector<results::ChartBar>& panel, const std::string& folder,
                        const Context& context) {
  make_folder(folder, "name another with --out");
  write_file(folder + "/report.html", results::chart_report_html(reproduction, panel));
  write_file(folder + "/bars.csv", results::chart_report_csv(reproduction));
  write_figures(results::chart_figures(reproduction.chart, reproduction.fits), folder + "/figure");
  write_figures(results::chart_panel_figures(reproduction.chart, panel), folder + "/panel");
  context.say("report: " + folder + "/report.html");
}

void reproduce_terngrad_chart(const ChartArguments& arguments, Context& context) {
  const bool own = arguments.csv.empty();
  if (!own && arguments.panel)
    throw Error(ErrorKind::kUsage, "reproduce", arguments.csv,
                "the cluster that --panel simulates is the published chart's",
                "leave --panel or --csv");
  const std::string file =
      own ? scenarios::share_folder() + "/published/terngrad-chart.csv" : arguments.csv;
  results::ChartOptions options;
  options.gpus_per_node = arguments.gpus_per_node;
  options.bandwidth = parse_rate(arguments.bandwidth).value();
  options.coarse_below = arguments.coarse_below;
  const auto reproduction =
      results::reproduce_chart(results::read_chart(read_file(file), file), options, own);
  for (const std::string& warning : reproduction.chart.warnings) context.say("warning: " + warning);
  print_checks(reproduction.rows, context);
  const std::string coarse = results::coarse_bars_in_words(reproduction);
  if (!coarse.empty()) context.say("read too coarsely to be judged by the worst error: " + coarse);
  std::vector<results::ChartBar> panel;
  if (arguments.panel)
    panel = runner::simulate_panel(reproduction.chart, options,
                                   [&](const std::string& text) { context.say(text); });
  write_chart_report(reproduction, panel, arguments.out, context);
}

void add_terngrad_chart(CLI::App& parent, Context& context) {
  CLI::App* command = parent.add_subcommand(
      "terngrad-chart", "TernGrad's scalability chart, or another one of the same form");
  auto arguments = std::make_shared<ChartArguments>();
  command
      ->add_option(
          "--csv", arguments->csv,
          "Another chart: columns model, method, gpus, images_per_second and, where known, "
          "batch_per_gpu, gradient_bytes")
      ->check(CLI::ExistingFile)
      ->type_name("FILE");
  command
      ->add_option("--gpus-per-node", arguments->gpus_per_node, "GPUs behind one network adapter")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command->add_option("--bandwidth", arguments->bandwidth, "Nominal, between nodes")
      ->capture_default_str();
  command
      ->add_option("--coarse-below", arguments->coarse_below,
                   "Bars below are left out of the worst error, images/s")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_flag("--panel,!--no-panel", arguments->panel,
                    "Also simulate the same cluster, up to 512 GPUs, with encoding, overlap and "
                    "TCP: a quarter of an hour");
  command->add_option("-o,--out", arguments->out, "Folder for the report, its figures and data")
      ->type_name("DIR")
      ->capture_default_str();
  command->footer(
      "Examples:\n  gradwire reproduce terngrad-chart\n"
      "  gradwire reproduce terngrad-chart --csv mine.csv --gpus-per-node 8");
  command->callback([arguments, &context] { reproduce_terngrad_chart(*arguments, context); });
}

/// What is arithmetic on a published table; nothing is trained.
struct PublishedTable {
  const char* name;
  const char* help;
  std::vector<results::ReproductionRow> (*reproduce)(const std::string& text,
                                                     const std::string& file, Context& context);
};

std::string published_file(const std::string& name) {
  return scenarios::share_folder() + "/published/" + name + ".csv";
}

const PublishedTable kPublishedTables[] = {
    {"streaming-diloco", "Streaming DiLoCo's bandwidths for a compute utilisation",
     [](const std::string& text, const std::string& file, Context& context) {
       std::vector<std::string> explained;
       auto rows = results::reproduce_streaming_diloco(text, file, explained);
       for (const std::string& line : explained) context.say(line);
       return rows;
     }},
    {"paddle-dgc", "DGC beside dense messages on two GPUs, by bandwidth",
     [](const std::string& text, const std::string& file, Context&) {
       return results::reproduce_paddle_dgc(text, file);
     }},
    {"byteps", "Compressed messages to a parameter server at 100 Mbps and 25 Gbps",
     [](const std::string& text, const std::string& file, Context&) {
       const std::string tensors = published_file("byteps-tensors");
       return results::reproduce_byteps(text, file, read_file(tensors), tensors);
     }},
    {"intellect-1", "INTELLECT-1's utilisation over the Internet",
     [](const std::string& text, const std::string& file, Context&) {
       return results::reproduce_intellect(text, file);
     }},
};

void add_published_tables(CLI::App& parent, Context& context) {
  for (const PublishedTable& table : kPublishedTables) {
    CLI::App* command = parent.add_subcommand(table.name, table.help);
    command->footer(std::string("Examples:\n  gradwire reproduce ") + table.name);
    command->callback([&table, &context] {
      const std::string file = published_file(table.name);
      print_checks(table.reproduce(read_file(file), file, context), context);
    });
  }
}

struct MethodArguments {
  std::vector<std::string> names;
  int seeds = 0;  ///< 0 = the file's
  RunArguments run;
};

std::string experiments_folder() {
  return scenarios::share_folder() + "/reproductions";
}

/// Names of the experiments that ship, in order.
std::vector<std::string> experiments() {
  std::vector<std::string> names;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(experiments_folder(), none))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Refuses a name that is not among them before anything runs.
std::vector<std::string> chosen(const MethodArguments& arguments) {
  const std::vector<std::string> known = experiments();
  if (arguments.names == std::vector<std::string>{"all"}) return known;
  for (const std::string& name : arguments.names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string nearest = nearest_name(name, known);
    std::string all = "terngrad-chart";
    for (const PublishedTable& table : kPublishedTables) all += std::string(", ") + table.name;
    for (const std::string& each : known) all += ", " + each;
    throw Error(
        ErrorKind::kUsage, "reproduce", name, "there is no such experiment",
        nearest.empty() ? "choose from " + all + ", or all" : "did you mean " + nearest + "?");
  }
  return arguments.names;
}

/// Runs what is not finished in the database, then holds the means against the marks.
std::vector<results::ReproductionRow> reproduce_one(const std::string& name,
                                                    const MethodArguments& arguments,
                                                    results::Store& store, Context& context) {
  RunArguments run = arguments.run;
  run.file = experiments_folder() + "/" + name + ".json";
  for (int seed = 1; seed <= arguments.seeds; ++seed)
    run.seeds.push_back(static_cast<std::uint64_t>(seed));
  const scenarios::ScenarioFile file = read_scenario(run);
  context.say(name + ": " + file.runs.front().description);
  return run_and_check({"reproduce", name}, file, run, store, context);
}

void reproduce_methods(const MethodArguments& arguments, Context& context) {
  const std::vector<std::string> names = chosen(arguments);
  const std::unique_ptr<results::Store> store = context.open_writer();
  std::vector<results::ReproductionRow> rows;
  for (const std::string& name : names)
    for (results::ReproductionRow& row : reproduce_one(name, arguments, *store, context))
      rows.push_back(std::move(row));
  print_checks(rows, context);
}

}  // namespace

void add_reproduce(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("reproduce", "Hold published claims against what comes out here");
  command->require_subcommand(0, 1);
  auto arguments = std::make_shared<MethodArguments>();
  command->add_option("name", arguments->names,
                      "Experiments with published methods, or all; without a name they are listed");
  command->add_option("--seeds", arguments->seeds, "Seeds 1 to N in place of the experiment's own")
      ->check(CLI::Range(1, 1000))
      ->type_name("N");
  command->add_option("-j,--jobs", arguments->run.jobs, "Runs at a time")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->footer(
      "Finished runs are kept in the database and are not run again.\n"
      "Examples:\n  gradwire reproduce dgc terngrad --seeds 3 -j 2 --db reproductions.db\n"
      "  gradwire reproduce terngrad-chart");
  add_terngrad_chart(*command, context);
  add_published_tables(*command, context);
  command->callback([command, arguments, &context] {
    if (!command->get_subcommands().empty()) return;
    if (!arguments->names.empty()) return reproduce_methods(*arguments, context);
    Table table({{.name = "name", .importance = Importance::kKey}});
    for (const std::string& name : experiments()) table.add({name});
    table.add({std::string("terngrad-chart")});
    for (const PublishedTable& one : kPublishedTables) table.add({std::string(one.name)});
    table.print(context);
  });
}

}  // namespace gradwire::cli
