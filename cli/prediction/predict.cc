#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/file_descriptor.h"
#include "cli/output/run_table.h"
#include "cli/prediction/predict_solve.h"
#include "cli/scenarios/plain_scenario.h"
#include "results/prediction/fit_file.h"
#include "results/prediction/model_choice.h"
#include "results/prediction/solve.h"
#include "results/prediction/stored_summary.h"
#include "runner/prediction/exchange_correction.h"
#include "runner/prediction/prediction.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

struct PredictArguments {
  RunArguments scenario;
  std::string model;  ///< layer table
  std::string filter;
  std::string fit;
  std::string form;
  std::string solve;
  std::string target;
  bool unchecked = false;
};

/// What predictions rest on: the database's runs, and the fit.
struct Ground {
  std::unique_ptr<results::Store> store;  ///< null: there is no database yet
  std::vector<results::RunSummary> runs;
  results::StepForm form{};
  results::StepFit fit;
};

/// The form that is asked for; fitted where there is something to fit, else overlap.
results::StepForm form_of(const PredictArguments& arguments) {
  const bool fitted = !arguments.fit.empty() || !arguments.filter.empty();
  results::StepForm form = fitted ? results::StepForm::kFitted : results::StepForm::kOverlap;
  results::step_form(arguments.form, form);
  if (form == results::StepForm::kFitted && !fitted)
    throw Error(ErrorKind::kUsage, "predict by", "the fitted form", "nothing is fitted",
                "say --fit FILE (gradwire fit -o writes it) or --filter EXPR");
  if (form == results::StepForm::kOverlap && fitted)
    throw Error(ErrorKind::kUsage, "predict by", "the form overlap",
                "its constants have their usual values, whatever was fitted",
                "leave --fit and --filter, or --form");
  const bool terngrad =
      form == results::StepForm::kTerngradTree || form == results::StepForm::kTerngradPlateau;
  if (terngrad && !arguments.solve.empty())
    throw Error(ErrorKind::kUsage, "predict --solve by", arguments.form,
                "it has no band to solve with", "overlap and fitted are solved");
  return form;
}

results::StepFit fit_of(const PredictArguments& arguments, const Ground& ground,
                        const Context& context) {
  if (!arguments.fit.empty()) {
    if (!arguments.filter.empty())
      throw Error(ErrorKind::kUsage, "predict", "", "--fit and --filter exclude each other");
    return results::fit_from_json(read_file(arguments.fit), arguments.fit);
  }
  std::vector<results::RunId> ids;
  for (const results::RunSummary& run : ground.runs) ids.push_back(run.id);
  std::vector<std::string> left_out;
  if (ground.store && !arguments.filter.empty()) {
    const auto points = results::stored_points(*ground.store, ids, left_out);
    for (const std::string& what : left_out) context.say("left out " + what);
    if (points.empty())
      throw Error(ErrorKind::kFailure, "fit", context.database,
                  "no finished run that passes has a summary of its step");
    return results::fit_steps(points);
  }
  return results::usual_fit();
}

Ground ground_of(const PredictArguments& arguments, const Context& context) {
  Ground ground;
  ground.form = form_of(arguments);
  try {
    ground.store = context.open_reader();
    ground.runs = filtered_runs(*ground.store, arguments.filter);
  } catch (const results::StoreError&) {
    if (!arguments.filter.empty()) throw;  // no database is needed without runs to fit
  }
  ground.fit = fit_of(arguments, ground, context);
  for (const std::string& warning : ground.fit.warnings) context.say("warning: " + warning);
  return ground;
}

/// What is the same for most rows is a column for machines; people read it once, below the table.
/// `methods`: there are several. `fitted`: to points, beyond which a row can be.
Table prediction_table(bool machine, bool methods, bool fitted) {
  using enum Importance;
  const auto plain = Column::Style::kPlain, duration = Column::Style::kDuration;
  std::vector<Column> columns = {{"run"},
                                 {"method", "", plain, methods ? kKey : kNormal},
                                 {"workers", "", plain, kKey},
                                 {"form", "", plain, kLow},
                                 {"step_time_s", "step time", duration, kKey},
                                 {"low_s", "90 % low", duration, kHigh},
                                 {"high_s", "90 % high", duration, kHigh},
                                 {"compute_s", "compute", duration},
                                 {"encode_s", "encode", duration},
                                 {"exposed_s", "exposed", duration},
                                 {"decode_s", "decode", duration},
                                 {"efficiency", "", Column::Style::kPercent, kKey},
                                 {"extrapolated", "", plain, kLow},
                                 {"beyond_data", "beyond the data", plain, fitted ? kKey : kLow},
                                 {"provenance", "", plain, kLow}};
  if (machine) columns.insert(columns.end(), {{"fitted_to"}, {"assumed"}});
  return Table(columns);
}

std::vector<Cell> prediction_row(const scenarios::Scenario& scenario,
                                 const results::StepSummary& step, const Ground& ground) {
  const auto prediction = results::predict_by(ground.form, ground.fit, step);
  const auto efficiency = results::efficiency_by(ground.form, ground.fit, step);
  const bool whole = prediction.whole.has_value();
  const auto part = [&](double results::StepTime::*seconds) {
    return whole ? Cell(prediction.whole->time.*seconds) : Cell();
  };
  return {scenarios::method_label(scenario),
          static_cast<std::int64_t>(step.workers),
          std::string(results::name_of(ground.form)),
          prediction.seconds,
          whole ? Cell(prediction.whole->low_s) : Cell(),
          whole ? Cell(prediction.whole->high_s) : Cell(),
          part(&results::StepTime::compute_s),
          part(&results::StepTime::encode_s),
          part(&results::StepTime::exposed_s),
          part(&results::StepTime::decode_s),
          efficiency ? Cell(*efficiency) : Cell(),
          whole ? Cell(prediction.whole->extrapolated) : Cell(),
          results::beyond_data(ground.fit.ground, step),
          std::string("predicted")};
}

void predict_runs(const scenarios::ScenarioFile& file, const Ground& ground, Context& context) {
  const bool machine = context.format() != Format::kText;
  std::set<std::string> methods;
  for (const scenarios::Scenario& scenario : file.runs)
    methods.insert(scenarios::method_label(scenario));
  Table table = prediction_table(machine, methods.size() > 1, !ground.fit.ground.empty());
  std::set<std::string> assumed;
  std::int64_t number = 0;
  for (const scenarios::Scenario& scenario : file.runs) {
    results::StepSummary step = runner::summary_of(scenario, ground.store.get(), ground.runs);
    // Constants of a fit may have in them what simulations would correct.
    if (ground.fit.ground.empty()) runner::correct_by_simulation(scenario, step);
    std::vector<Cell> row = prediction_row(scenario, step, ground);
    row.insert(row.begin(), ++number);
    if (machine) {
      row.push_back(results::data_of(ground.fit.ground));
      row.push_back(results::in_words(step.assumed));
    }
    table.add(std::move(row));
    if (!step.assumed.none()) assumed.insert(results::in_words(step.assumed));
  }
  table.print(context);
  if (!ground.fit.ground.empty())
    context.say("fitted to " + results::data_of(ground.fit.ground) + "; " +
                results::error_words(ground.fit.ground));
  for (const std::string& what : assumed) context.say("the bands reckon with " + what);
}

scenarios::ScenarioFile scenario_file_of(const PredictArguments& arguments) {
  RunArguments scenario = arguments.scenario;
  if (!arguments.model.empty())
    scenario.sets.push_back("/workload/profile=" + nlohmann::json(arguments.model).dump());
  return named_or_plain_scenario(scenario);
}

void predict(const PredictArguments& arguments, Context& context) {
  if (arguments.solve.empty() != arguments.target.empty())
    throw Error(ErrorKind::kUsage, "predict", "", "--solve and --target belong together",
                "for example: --solve bandwidth --target 'efficiency>=0.8'");
  const scenarios::ScenarioFile file = scenario_file_of(arguments);
  if (arguments.scenario.file.empty())
    context.say(std::string("no scenario file: ") + kPlainScenario);
  warn(file, context);
  const Ground ground = ground_of(arguments, context);
  if (arguments.solve.empty())
    predict_runs(file, ground, context);
  else
    solve_runs({arguments.solve, arguments.target, !arguments.unchecked}, file, ground.fit,
               ground.store.get(), ground.runs, context);
}

}  // namespace

void add_predict(CLI::App& app, Context& context) {
  CLI::App* command = app.add_subcommand(
      "predict", "Step times by the performance model, without running; or what it would take");
  auto arguments = std::make_shared<PredictArguments>();
  add_scenario_options(*command, arguments->scenario, kPlainScenario);
  command->add_option("--model", arguments->model, "Layer table (resnet50, vgg16, ...)");
  command->add_option("--filter", arguments->filter, "Fit to the stored runs that pass");
  command->add_option("--fit", arguments->fit, "A fit that gradwire fit -o wrote")
      ->check(CLI::ExistingFile);
  command
      ->add_option("--form", arguments->form,
                   "Closed form (default: fitted with --fit or --filter, else overlap)")
      ->check(CLI::IsMember(std::vector<std::string>(std::begin(results::kStepForms),
                                                     std::end(results::kStepForms))));
  command->add_option("--solve", arguments->solve, "Find this quantity instead")
      ->check(CLI::IsMember({"bandwidth", "ratio", "workers", "latency"}));
  command->add_option("--target", arguments->target,
                      "efficiency>=0.8, step_time<=50ms or throughput>=10000 (samples/s)");
  command->add_flag("--unchecked", arguments->unchecked,
                    "Answer by the model alone, without simulating the answer");
  command->footer(
      "Without --fit and --filter the constants have their usual values, and bands are wide.\n"
      "TernGrad's forms have no band and no parts.\n"
      "Answers of --solve are simulated by flow, and corrected where the model misses there.\n"
      "Examples:\n  gradwire predict --model vgg16 --set /cluster/workers=512\n"
      "  gradwire predict scenarios/alexnet.json --form terngrad-plateau\n"
      "  gradwire predict scenarios/lan.json --filter 'scenario=lan and workers<=8'\n"
      "  gradwire predict --solve bandwidth --target 'efficiency>=0.8'");
  command->callback([arguments, &context] { predict(*arguments, context); });
}

}  // namespace gradwire::cli
