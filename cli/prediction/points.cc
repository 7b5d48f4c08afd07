#include "cli/prediction/points.h"

#include "base/error.h"
#include "base/file_descriptor.h"
#include "base/options.h"
#include "base/units.h"
#include "cli/output/run_table.h"
#include "results/points/csv_points.h"
#include "results/points/log_points.h"
#include "results/prediction/stored_summary.h"

namespace gradwire::cli {
namespace {

results::LinkFacts facts_of(const PointArguments& arguments) {
  results::LinkFacts facts;
  if (!arguments.bandwidth.empty()) facts.bandwidth = parse_rate(arguments.bandwidth).value() / 8;
  if (facts.bandwidth && *facts.bandwidth <= 0)
    throw Error(ErrorKind::kUsage, "use --bandwidth", arguments.bandwidth, "it is not above 0");
  if (!arguments.delay.empty()) facts.delay_s = parse_duration(arguments.delay).value();
  if (facts.delay_s && *facts.delay_s < 0)
    throw Error(ErrorKind::kUsage, "use --delay", arguments.delay, "it is below 0");
  if (!arguments.loss.empty()) facts.loss = std::stod(arguments.loss);
  results::ExchangeKind kind{};
  if (!arguments.exchange.empty()) {
    if (!results::exchange_kind(arguments.exchange, kind))
      throw Error(ErrorKind::kUsage, "use --exchange", arguments.exchange, "nobody knows it",
                  "ring, all-gather, direct, server, tree, halving-doubling, two-level, "
                  "in-network or scatter-reduce");
    facts.exchange = kind;
  }
  return facts;
}

void say(const results::PointList& list, const Context& context) {
  for (const std::string& note : list.notes) context.say(note);
  for (const std::string& warning : list.warnings) context.say("warning: " + warning);
}

void add_runs(const PointArguments& arguments, const Context& context,
              std::vector<results::StepPoint>& points) {
  const auto store = context.open_reader();
  std::vector<results::RunId> runs;
  for (const results::RunSummary& run : filtered_runs(*store, arguments.filter))
    runs.push_back(run.id);
  std::vector<std::string> left_out;
  const auto stored = results::stored_points(*store, runs, left_out);
  for (const std::string& what : left_out) context.say("left out " + what);
  if (stored.empty())
    throw Error(ErrorKind::kFailure, "fit", context.database,
                "no finished run that passes has a summary of its step",
                "run a scenario first; see gradwire list");
  points.insert(points.end(), stored.begin(), stored.end());
}

void add_files(const PointArguments& arguments, const Context& context,
               std::vector<results::StepPoint>& points) {
  std::vector<results::LogFile> logs;
  for (const std::string& file : arguments.logs) logs.push_back({file, read_file(file)});
  const results::LogPoints read = results::points_from_logs(logs, facts_of(arguments));
  say(read.list, context);
  points.insert(points.end(), read.list.points.begin(), read.list.points.end());
  for (const std::string& file : arguments.tables) {
    const auto list = results::points_from_csv(read_file(file), file, read.facts);
    say(list, context);
    points.insert(points.end(), list.points.begin(), list.points.end());
  }
}

}  // namespace

void add_point_options(CLI::App& command, PointArguments& arguments) {
  command.add_option("--filter", arguments.filter, "Stored runs that pass (alone: all runs)");
  command.add_option("--csv", arguments.tables, "Points from a table; columns with units")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command.add_option("--log", arguments.logs, "What nccl-tests or iperf3 printed (also --json)")
      ->type_name("FILE")
      ->check(CLI::ExistingFile);
  command.add_option("--bandwidth", arguments.bandwidth,
                     "Line rate of a worker's link, where files do not say: 100Gbps");
  command.add_option("--delay", arguments.delay, "One way between workers, likewise: 5us");
  command.add_option("--loss", arguments.loss, "Share of packets lost, likewise")
      ->check(CLI::Range(0.0, 0.99));
  command.add_option("--exchange", arguments.exchange,
                     "What exchanges the messages, likewise: ring, tree, all-gather, ...");
}

std::vector<results::StepPoint> points_of(const PointArguments& arguments, const Context& context) {
  const bool files = !arguments.tables.empty() || !arguments.logs.empty();
  std::vector<results::StepPoint> points;
  if (!files || !arguments.filter.empty()) add_runs(arguments, context, points);
  if (files) add_files(arguments, context, points);
  if (points.empty())
    throw Error(ErrorKind::kFailure, "fit", "",
                "the logs say what a link carries, not how exchanges "
                "use it",
                "state its line rate (--bandwidth), or add points: --csv, --log of "
                "nccl-tests, --filter");
  return points;
}

}  // namespace gradwire::cli
