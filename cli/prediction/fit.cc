#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "cli/output/table.h"
#include "cli/prediction/points.h"
#include "results/figures/svg.h"
#include "results/points/residual_figure.h"
#include "results/prediction/fit_file.h"
#include "results/runs/summary.h"
#include "results/statistics/percent.h"

namespace gradwire::cli {
namespace {

struct FitArguments {
  PointArguments points;
  std::string out;
  std::string svg;
  bool residuals = false;
};

void print_constants(const results::StepFit& fit, const Context& context) {
  Table table({{"constant"},
               {"value"},
               {"low_90"},
               {"high_90"},
               {"decided_by"},
               {.name = "provenance", .importance = Importance::kLow}});
  for (const results::Constant& constant : fit.described)
    table.add({constant.name, constant.value, constant.low, constant.high,
               std::string(constant.identified ? "points" : "prior"),
               std::string(constant.identified ? "predicted" : "assumed")});
  table.print(context);
}

void print_residuals(const results::StepFit& fit, const std::vector<results::StepPoint>& points,
                     const Context& context) {
  Table table({{"point"},
               {"workers"},
               {"provenance"},
               {"step_time_s", "step time", Column::Style::kDuration},
               {"error", "model's error against it", Column::Style::kPercent}});
  for (std::size_t i = 0; i < points.size(); ++i)
    table.add({points[i].name, static_cast<std::int64_t>(points[i].step.workers),
               std::string(results::name_of(points[i].provenance)), points[i].seconds,
               fit.residuals[i]});
  table.print(context);
}

/// "8 measured, 4 simulated points of 2 to 8 workers; the model is 1.2 % off in the median of them,
/// 3.4 % at most; errors are against measured steps, Gradwire's own simulator".
std::string closing(const results::StepFit& fit) {
  std::vector<double> errors;
  for (const double residual : fit.residuals) errors.push_back(std::abs(residual));
  return results::data_of(fit.ground) + "; the model is " +
         results::percent_by("%.2g", results::median(errors)) + " off in the median of them, " +
         results::percent_by("%.2g", std::ranges::max(errors)) + " at most; " +
         results::error_words(fit.ground);
}

void fit(const FitArguments& arguments, Context& context) {
  const auto points = points_of(arguments.points, context);
  const results::StepFit fit = results::fit_steps(points);
  for (const std::string& warning : fit.warnings) context.say("warning: " + warning);
  if (arguments.residuals)
    print_residuals(fit, points, context);
  else
    print_constants(fit, context);
  context.say(closing(fit));
  if (!arguments.out.empty()) write_file(arguments.out, results::fit_as_json(fit));
  if (!arguments.svg.empty())
    write_file(arguments.svg, results::to_svg(results::residual_figure(fit, points)));
}

}  // namespace

void add_fit(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("fit", "Fit the performance model's constants to runs, tables and logs");
  auto arguments = std::make_shared<FitArguments>();
  add_point_options(*command, arguments->points);
  command->add_option("-o,--out", arguments->out, "Write the fit, for predict --fit")
      ->type_name("FILE");
  command->add_flag("--residuals", arguments->residuals,
                    "The model's error at each point instead of the constants");
  command->add_option("--svg", arguments->svg, "Draw the model's error at each point")
      ->type_name("FILE");
  command->footer(
      "Points of all sources are fitted together. Columns of tables: docs/models/points.md.\n"
      "Examples:\n  gradwire fit --filter 'scenario=lan and workers<=8' -o lan.fit.json\n"
      "  gradwire fit --filter 'scenario=lan' --residuals --svg residuals.svg\n"
      "  gradwire fit --csv steps.csv --bandwidth 10Gbps --delay 50us\n"
      "  gradwire fit --log all_reduce.txt --log iperf3.json -o cluster.fit.json");
  command->callback([arguments, &context] { fit(*arguments, context); });
}

}  // namespace gradwire::cli
