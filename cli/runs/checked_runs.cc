#include "cli/runs/checked_runs.h"

#include "base/error.h"
#include "cli/output/table.h"
#include "cli/runs/missing_runs.h"
#include "results/reproductions/reproduction_checks.h"
#include "runner/interrupt.h"

namespace gradwire::cli {
namespace {

/// For people. A negative control does what it is there for by missing the mark.
std::string verdict(const results::ReproductionRow& row) {
  const auto holds = row.holds();
  if (!holds) return "-";
  if (!row.negative_control) return *holds ? "yes" : "no";
  return *holds ? "fails, as it must" : "meets the mark, which it must not";
}

}  // namespace

void print_checks(const std::vector<results::ReproductionRow>& rows, Context& context) {
  const bool people = context.format() == Format::kText;
  Table table({{"name"},
               {.name = "method", .importance = Importance::kKey},
               {.name = "claim", .importance = Importance::kLow},
               {.name = "value", .importance = Importance::kKey},
               {.name = "spread", .importance = Importance::kLow},
               {.name = "provenance", .importance = Importance::kLow},
               {.name = "seeds", .importance = Importance::kLow},
               {"pass_mark", "pass mark", Column::Style::kPlain, Importance::kHigh},
               {.name = "holds", .importance = Importance::kKey},
               {"negative_control", "negative control", Column::Style::kPlain, Importance::kHigh}});
  for (const results::ReproductionRow& row : rows) {
    const auto holds = row.holds();
    table.add({row.name, row.method, row.claim, row.value, row.spread ? Cell(*row.spread) : Cell(),
               row.provenance, static_cast<std::int64_t>(row.seeds),
               row.pass_mark ? Cell(row.pass_mark->text()) : Cell(),
               people  ? Cell(verdict(row))
               : holds ? Cell(*holds)
                       : Cell(),
               row.negative_control});
  }
  table.print(context);
  if (!results::all_hold(rows)) context.exit_code = exit_code(ErrorKind::kGate);
}

std::vector<results::ReproductionRow> run_and_check(const Undertaking& undertaking,
                                                    const scenarios::ScenarioFile& file,
                                                    const RunArguments& arguments,
                                                    results::Store& store, Context& context) {
  const runner::SweepResult result =
      run_missing(file, arguments.threads, arguments.jobs, store, context);
  if (result.interrupted)
    throw Error(runner::interruption(), undertaking.doing, undertaking.name, "interrupted",
                "the same command goes on from the finished runs");
  if (result.failed > 0) {
    context.say(undertaking.name + ": " + std::to_string(result.failed) +
                (result.failed == 1 ? " run failed" : " runs failed"));
    context.exit_code = exit_code(ErrorKind::kPartial);
  }
  std::vector<results::RunSummary> runs;
  for (const results::RunId id : result.runs)
    if (const auto summary = store.run(id)) runs.push_back(*summary);
  return results::check_reproduction(
      undertaking.name, file.expected, runs,
      [&store](results::RunId run, double accuracy) {
        return results::time_to_accuracy(store, run, accuracy);
      },
      [&store](results::RunId run, const std::string& figure) {
        return results::figure_of_workload(store, run, figure);
      });
}

}  // namespace gradwire::cli
