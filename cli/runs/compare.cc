#include <cstdio>
#include <nlohmann/json.hpp>

#include "cli/output/json_text.h"
#include "cli/output/run_table.h"
#include "cli/runs/compare_executors.h"
#include "results/runs/fields.h"
#include "results/runs/figure_origin.h"
#include "results/runs/query.h"
#include "results/runs/summary.h"

namespace gradwire::cli {
namespace {

struct CompareArguments {
  std::vector<std::string> runs;
  std::string fail_if;
  bool all = false;
  ExecutorArguments executors;
};

/// "(baseline; partial, 15 of 100 steps)"; empty for a finished run that is not the baseline.
std::string notes_of(const results::RunSummary& run, bool baseline) {
  std::string notes = baseline ? "baseline" : "";
  if (run.status != results::RunStatus::kFinished)
    notes += (notes.empty() ? "" : "; ") + results::status_in_words(run);
  return notes.empty() ? "" : " (" + notes + ")";
}

void print_text(const std::vector<results::RunSummary>& runs, const results::Comparison& comparison,
                bool all, const Context& context) {
  std::vector<std::vector<std::string>> lines(1, {"field"});
  for (std::size_t i = 0; i < runs.size(); ++i)
    lines[0].push_back("run " + std::to_string(runs[i].id) +
                       notes_of(runs[i], i == comparison.baseline));
  for (const results::ComparisonRow& row : comparison.rows) {
    if (row.name == "id" || (!row.differs && !all)) continue;  // the titles say it
    std::vector<std::string> line = {row.name};
    for (std::size_t i = 0; i < runs.size(); ++i) {
      std::string text = row.texts[i];
      if (i != comparison.baseline && row.numeric && row.factors[i]) {
        char factor[32];
        std::snprintf(factor, sizeof factor, " (x%.3g)", *row.factors[i]);
        text += factor;
      }
      line.push_back(text);
    }
    lines.push_back(std::move(line));
  }
  table_of_texts(lines).print_text(context);
}

/// Where a row's figures come from; null where it holds no figure.
nlohmann::ordered_json origin_of(const results::ComparisonRow& row) {
  const auto origin = row.numeric ? results::origin_of(row.name) : std::nullopt;
  const std::string_view words = origin ? results::in_words(*origin) : "";
  return words.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(words);
}

void print_json(const results::Comparison& comparison) {
  const auto list = [](const std::vector<std::optional<double>>& values) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const auto& value : values)
      out.push_back(value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json());
    return out;
  };
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const results::ComparisonRow& row : comparison.rows)
    rows.push_back({{"name", row.name},
                    {"differs", row.differs},
                    {"origin", origin_of(row)},
                    {"values", row.numeric ? list(row.numbers) : nlohmann::ordered_json(row.texts)},
                    {"deltas", list(row.deltas)},
                    {"factors", list(row.factors)}});
  std::printf("%s\n", json_text({{"schema_version", 1}, {"rows", rows}}, 1).c_str());
}

void compare(const CompareArguments& arguments, Context& context) {
  if (!arguments.executors.executors.empty()) {
    if (arguments.runs.size() != 1)
      throw Error(ErrorKind::kUsage, "compare executors", "", "they run one scenario",
                  "for example: gradwire compare --executors flow,packet lan");
    ExecutorArguments executors = arguments.executors;
    executors.scenario.file = arguments.runs.front();
    return compare_executors(executors, context);
  }
  const auto store = context.open_reader();
  std::vector<results::RunSummary> runs;
  for (const std::string& name : arguments.runs) runs.push_back(find_run(*store, name));
  if (runs.size() < 2)
    throw Error(ErrorKind::kUsage, "compare", "runs", "at least two are needed",
                "the first one is the baseline");
  const results::Comparison comparison = results::compare_runs(runs, 0);
  if (context.format() == Format::kText)
    print_text(runs, comparison, arguments.all, context);
  else
    print_json(comparison);
  if (arguments.fail_if.empty()) return;
  const results::Query gate(arguments.fail_if);
  for (std::size_t i = 1; i < runs.size(); ++i) {
    const bool no_result = runs[i].status == results::RunStatus::kDiverged ||
                           runs[i].status == results::RunStatus::kFailed ||
                           runs[i].status == results::RunStatus::kInvalid;
    if (!no_result && !gate.matches(runs[i])) continue;
    std::fprintf(stderr, "gradwire: run %lld fails the gate '%s'%s\n",
                 static_cast<long long>(runs[i].id), arguments.fail_if.c_str(),
                 no_result ? (": it is " + results::status_in_words(runs[i])).c_str() : "");
    context.exit_code = exit_code(ErrorKind::kGate);
  }
}

}  // namespace

void add_executor_options(CLI::App& command, ExecutorArguments& arguments) {
  command
      .add_option("--executors", arguments.executors,
                  "Run the scenario on these (flow,packet,emulator,model; per-packet and fluid are "
                  "flow in that detail) and say step by step how far each is from one of them")
      ->delimiter(',')
      ->allow_extra_args(false);
  command.add_option("--against", arguments.against,
                     "The executor that errors are of (default: the emulator, else packet, "
                     "per-packet, or the first)");
  command
      .add_option("--most-error", arguments.most_error,
                  "Exit with 7 if an executor's median error is above so many per cent")
      ->check(CLI::PositiveNumber);
  command.add_option("-o,--figure", arguments.figure, "Stem of the figure's SVG and CSV");
  command
      .add_option("--set", arguments.scenario.sets,
                  "Override a field of the scenario, /json/pointer=value (repeatable)")
      ->take_all()
      ->allow_extra_args(false);
  command.add_option("--seed", arguments.scenario.seeds, "Of the scenario's runs, the one of it");
  add_shaper_option(command, arguments.scenario);
}

void add_compare(CLI::App& app, Context& context) {
  CLI::App* command =
      app.add_subcommand("compare", "Runs side by side; the first one is the baseline");
  auto arguments = std::make_shared<CompareArguments>();
  command->add_option("RUN", arguments->runs, "Run numbers or tags; with --executors a scenario")
      ->required();
  command->add_option(
      "--fail-if", arguments->fail_if,
      "Exit with 7 if a run but the baseline matches this filter, or has no result");
  command->add_flag("--all", arguments->all, "Also fields that do not differ");
  add_executor_options(*command, arguments->executors);
  command->footer(
      "Examples:\n  gradwire compare 1 2 3\n  gradwire compare baseline 7 --fail-if "
      "'final_accuracy<0.9'\n"
      "  gradwire compare --executors flow,packet,emulator lan --set /cluster/workers=2\n"
      "  gradwire compare --executors per-packet,fluid two-tier");
  command->callback([arguments, &context] { compare(*arguments, context); });
}

}  // namespace gradwire::cli
