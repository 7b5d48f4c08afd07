#include <cmath>

#include "cli/output/table.h"
#include "cli/runs/run.h"
#include "runner/training/model_files.h"
#include "scenarios/data_sets.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

struct EvaluateArguments : RunArguments {
  std::vector<std::string> models;
};

bool is_text(const scenarios::Scenario& scenario) {
  return scenarios::find_data_set(scenario.workload.data_set)->kind == scenarios::SampleKind::kText;
}

void evaluate(const EvaluateArguments& arguments, const Context& context) {
  const scenarios::ScenarioFile file = read_scenario(arguments);
  Table table({{.name = "file", .importance = Importance::kKey},
               {.name = "method", .importance = Importance::kHigh},
               {.name = "seed", .importance = Importance::kLow},
               {.name = "loss", .importance = Importance::kHigh},
               {.name = "perplexity", .importance = Importance::kKey},
               {"accuracy", "", Column::Style::kPercent, Importance::kKey},
               {"file_bytes", "size", Column::Style::kBytes, Importance::kHigh},
               {"fp32_bytes", "as fp32", Column::Style::kBytes},
               {"size_ratio", "fp32 / size", Column::Style::kPlain, Importance::kHigh}});
  for (const std::string& model : arguments.models) {
    const runner::ModelScore score = runner::score_model(file, model, arguments.threads);
    const double fp32 = 4.0 * static_cast<double>(score.parameters);
    const auto bytes = static_cast<double>(score.file_bytes);
    const std::string method = scenarios::method_label(score.scenario);
    if (score.foreign)
      context.say("warning: " + model + " was trained by another scenario or seed: it is scored " +
                  "on this one's held-out samples, and as " + method + " computes");
    table.add({model, score.foreign ? Cell() : Cell(method), static_cast<std::int64_t>(score.seed),
               score.evaluation.loss,
               is_text(score.scenario) ? Cell(std::exp(score.evaluation.loss)) : Cell(),
               score.evaluation.accuracy, bytes, fp32, fp32 / bytes});
  }
  table.print(context, "model");
}

}  // namespace

void add_evaluate(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("evaluate", "Read trained models' files back and score them");
  auto arguments = std::make_shared<EvaluateArguments>();
  add_scenario_options(*command, *arguments);
  command->add_option("MODEL", arguments->models, "Files that run --models wrote")
      ->required()
      ->type_name("MODEL");
  command->add_option("--threads", arguments->threads, "Threads that score side by side")
      ->check(CLI::Range(1, 256))
      ->capture_default_str();
  command->footer(
      "The scenario gives the held-out samples and the model's shape; of a sweep, the run that\n"
      "trained the file's model is found by itself.\n"
      "Example:\n  gradwire run scenarios/methods/admm.json --models models\n"
      "  gradwire evaluate scenarios/methods/admm.json models/*.grwm");
  command->callback([arguments, &context] { evaluate(*arguments, context); });
}

}  // namespace gradwire::cli
