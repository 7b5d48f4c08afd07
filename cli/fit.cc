#include "base/error.h"
#include "base/file_descriptor.h"
#include "cli/run_table.h"
#include "results/prediction/fit_file.h"
#include "results/prediction/stored_summary.h"

namespace gradwire::cli {
namespace {

struct Arguments {
  std::string filter;
  std::string out;
  bool residuals = false;
};

void print_constants(const results::StepFit& fit, const Context& context) {
  Table table({{"constant"}, {"value"}, {"low_90"}, {"high_90"}, {"decided_by"}});
  for (const results::Constant& constant : fit.described)
    table.add({constant.name, constant.value, constant.low, constant.high,
               std::string(constant.identified ? "points" : "prior")});
  table.print(context);
}

void print_residuals(const results::StepFit& fit, const std::vector<results::StepPoint>& points,
                     const Context& context) {
  Table table({{"point"},
               {"workers"},
               {"step_time_s", "step time", Column::Style::kDuration},
               {"error", "model's error", Column::Style::kPercent}});
  for (std::size_t i = 0; i < points.size(); ++i)
    table.add({points[i].name, static_cast<std::int64_t>(points[i].step.workers), points[i].seconds,
               fit.residuals[i]});
  table.print(context);
}

void fit(const Arguments& arguments, Context& context) {
  const auto store = context.open_reader();
  std::vector<results::RunId> runs;
  for (const results::RunSummary& run : filtered_runs(*store, arguments.filter))
    runs.push_back(run.id);
  std::vector<std::string> left_out;
  const auto points = results::stored_points(*store, runs, left_out);
  for (const std::string& what : left_out) context.say("left out " + what);
  if (points.empty())
    throw Error(ErrorKind::kFailure, "fit", context.database,
                "no finished run that passes has a summary of its step",
                "run a scenario first; see gradwire list");
  const results::StepFit fit = results::fit_steps(points);
  for (const std::string& warning : fit.warnings) context.say("warning: " + warning);
  if (arguments.residuals)
    print_residuals(fit, points, context);
  else
    print_constants(fit, context);
  context.say(std::to_string(points.size()) + " points of " + std::to_string(fit.least_workers) +
              " to " + std::to_string(fit.most_workers) + " workers; scatter " +
              std::to_string(100 * fit.scatter).substr(0, 4) + " %");
  if (!arguments.out.empty()) write_file(arguments.out, results::fit_as_json(fit));
}

}  // namespace

void add_fit(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("fit", "Fit the performance model's constants to stored runs");
  auto arguments = std::make_shared<Arguments>();
  command->add_option("--filter", arguments->filter, "Expression over run fields");
  command->add_option("-o,--out", arguments->out, "Write the fit, for predict --fit")
      ->type_name("FILE");
  command->add_flag("--residuals", arguments->residuals,
                    "The model's error at each point instead of the constants");
  command->footer(
      "Examples:\n  gradwire fit --filter 'scenario=lan and workers<=8' -o lan.fit.json\n"
      "  gradwire fit --filter 'scenario=lan' --residuals");
  command->callback([arguments, &context] { fit(*arguments, context); });
}

}  // namespace gradwire::cli
