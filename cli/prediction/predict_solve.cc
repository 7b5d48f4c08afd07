#include "cli/prediction/predict_solve.h"

#include <cstdio>

#include "base/units.h"
#include "cli/output/table.h"
#include "runner/interrupt.h"
#include "runner/prediction/answer.h"
#include "runner/prediction/exchange_correction.h"
#include "runner/prediction/prediction.h"
#include "scenarios/methods.h"

namespace gradwire::cli {
namespace {

using results::CheckedSolution;
using results::SolveFor;
using results::StepSummary;

/// In the unit that is printed.
double shown(SolveFor quantity, double value) {
  return quantity == SolveFor::kBandwidth ? 8 * value : value;
}

const char* unit_of(SolveFor quantity) {
  switch (quantity) {
    case SolveFor::kBandwidth:
      return "bits/s";
    case SolveFor::kLatency:
      return "s";
    case SolveFor::kWorkers:
      return "workers";
    case SolveFor::kRatio:
      break;
  }
  return "";
}

std::string text_of(SolveFor quantity, double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  switch (quantity) {
    case SolveFor::kBandwidth:
      return format_rate(BitsPerSecond(8 * value));
    case SolveFor::kLatency:
      return format_duration(Seconds(value));
    case SolveFor::kWorkers:
    case SolveFor::kRatio:
      break;
  }
  return text;
}

class Solver {
 public:
  Solver(const SolveArguments& arguments, const results::StepFit& fit, Context& context)
      : fit_(fit),
        target_(results::parse_target(arguments.target)),
        check_(arguments.check),
        context_(context) {
    results::solve_for(arguments.quantity, quantity_);
  }

  SolveFor quantity() const { return quantity_; }

  CheckedSolution solve(const scenarios::Scenario& scenario, const StepSummary& step) const {
    const double samples = scenario.workload.batch_per_worker;
    const std::string reason = check_ ? why_unchecked(scenario, step) : "--unchecked";
    if (reason.empty())
      return results::solve_checked(
          fit_, step, quantity_, target_, samples, [&](double value, int sample) {
            context_.say("simulating a step with " + std::string(name_of(quantity_)) + " " +
                         text_of(quantity_, value) + (sample > 0 ? ", with more seeds" : ""));
            return runner::simulate_answer(scenario, step, quantity_, value, sample);
          });
    if (check_) context_.say("the answer is not simulated: " + reason);
    CheckedSolution checked;
    checked.solution = results::solve_step(fit_, step, quantity_, target_, samples);
    return checked;
  }

 private:
  std::string why_unchecked(const scenarios::Scenario& scenario, const StepSummary& step) const {
    std::string reason = runner::cannot_simulate(scenario, step, quantity_);
    if (!reason.empty()) return reason;
    const double samples = scenario.workload.batch_per_worker;
    const double value =
        results::solve_step(fit_, step, quantity_, target_, samples)
            .value.value_or(results::best_value(fit_, step, quantity_, target_, samples));
    return runner::too_long_to_simulate(results::with(step, quantity_, value));
  }

  const results::StepFit& fit_;
  SolveFor quantity_{};
  results::Target target_;
  bool check_;
  Context& context_;
};

/// What the value is of where links differ: a rate or a delay is one link's.
void say_of_what(SolveFor quantity, const StepSummary& step, Context& context) {
  if (step.paths.empty()) return;
  if (quantity == SolveFor::kBandwidth)
    context.say("links differ: the bandwidth is that of the link that sets the pace, " +
                format_rate(BitsPerSecond(8 * step.bandwidth)) +
                " now; the others change in proportion");
  if (quantity == SolveFor::kLatency)
    context.say("links differ: the latency is that of the longest path, " +
                format_duration(Seconds(step.delay_s)) + " now; the others change in proportion");
}

Table answers_table() {
  return Table({{"run"},
                {"method"},
                {"workers"},
                {"quantity"},
                {.name = "value", .importance = Importance::kKey},
                {"low_90"},
                {"high_90"},
                {.name = "unit", .importance = Importance::kKey},
                {"simulated_miss", "simulated miss", Column::Style::kPercent},
                {"unchecked_miss", "unchecked miss", Column::Style::kPercent},
                {"simulations"},
                {"provenance"},
                {.name = "limit", .importance = Importance::kHigh}});
}

}  // namespace

void solve_runs(const SolveArguments& arguments, const scenarios::ScenarioFile& file,
                const results::StepFit& fit, const results::Store* store,
                std::span<const results::RunSummary> runs, Context& context) {
  const runner::InterruptGuard guard;
  const Solver solver(arguments, fit, context);
  Table table = answers_table();
  std::int64_t number = 0;
  for (const scenarios::Scenario& scenario : file.runs) {
    const scenarios::Scenario start = runner::search_start(scenario, solver.quantity());
    StepSummary step = runner::summary_of(start, store, runs);
    if (fit.ground.empty()) runner::correct_by_simulation(start, step);
    say_of_what(solver.quantity(), step, context);
    const CheckedSolution checked = solver.solve(start, step);
    const bool solved = checked.solution.value.has_value(), simulated = checked.simulations > 0;
    const auto cell = [&](double value) {
      return solved ? Cell(shown(solver.quantity(), value)) : Cell();
    };
    table.add({++number, scenarios::method_label(scenario),
               static_cast<std::int64_t>(scenario.cluster.workers), arguments.quantity,
               cell(checked.solution.value.value_or(0)), cell(checked.solution.low),
               cell(checked.solution.high), std::string(unit_of(solver.quantity())),
               solved && simulated ? Cell(checked.error) : Cell(),
               simulated ? Cell(checked.unchecked_error) : Cell(),
               static_cast<std::int64_t>(checked.simulations),
               std::string(simulated ? "simulated" : "predicted"), checked.solution.limit});
  }
  table.print(context);
}

}  // namespace gradwire::cli
