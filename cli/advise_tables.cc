#include <algorithm>
#include <set>

#include "cli/advise.h"
#include "cli/assume_steps.h"
#include "cli/table.h"
#include "results/advice/crossover.h"
#include "runner/advice.h"

namespace gradwire::cli {
namespace {

using results::RankedCandidate;

const std::string kPredicted = "predicted";

Cell optional_cell(const std::optional<double>& value) {
  return value ? Cell(*value) : Cell();
}

std::vector<Column> way_columns() {
  return {{"method"}, {"collective"}, {"bucket_bytes", "bucket", Column::Style::kBytes}};
}

void add_way(const results::Candidate& candidate, std::vector<Cell>& row) {
  row.insert(row.end(), {candidate.method, candidate.collective, candidate.bucket_bytes});
}

void append(std::vector<Column>& columns, std::vector<Column> more) {
  columns.insert(columns.end(), more.begin(), more.end());
}

/// Elements of the model: what fp32 messages are made of.
double elements_of(const WorkersAdvice& one) {
  for (const results::Candidate& candidate : one.candidates)
    if (candidate.baseline == results::Baseline::kFp32) return candidate.step.message_bytes() / 4;
  return 0;
}

/// The fastest of each method, the fastest first.
std::vector<const RankedCandidate*> best_of_methods(const results::Advice& advice) {
  std::vector<const RankedCandidate*> best;
  std::set<std::string> seen;
  for (const RankedCandidate& ranked : advice.ranked)
    if (seen.insert(ranked.candidate.method).second) best.push_back(&ranked);
  return best;
}

std::vector<Cell> verdict_row(const AdviceShown& shown, const WorkersAdvice& one) {
  const results::Advice& advice = one.advice;
  const RankedCandidate& chosen = advice.ranked[advice.chosen];
  std::vector<Cell> row = {static_cast<std::int64_t>(one.workers),
                           std::string(name_of(advice.verdict))};
  add_way(chosen.candidate, row);
  row.insert(row.end(), {chosen.seconds(), chosen.prediction.low_s, chosen.prediction.high_s,
                         optional_cell(advice.over_fp32), optional_cell(advice.over_fp16)});
  if (shown.arguments.verify > 0) {
    const auto simulated = [&](std::size_t i) {
      return runner::flow_seconds(shown.scenario, advice.ranked[i].candidate);
    };
    const double seconds = simulated(advice.chosen);
    row.push_back(seconds);
    for (const auto& baseline : {advice.fp32, advice.fp16})
      row.push_back(baseline ? Cell(simulated(*baseline) / seconds) : Cell());
  }
  row.push_back(kPredicted);
  return row;
}

/// A method on a number of workers, with what it costs.
struct Priced {
  const RankedCandidate* ranked;
  double samples = 0;  ///< a step's, all workers
  double cost = 0;     ///< a step's
  std::optional<results::StepsAnswer> steps;
};

Priced priced(const AdviceShown& shown, const RankedCandidate& ranked) {
  const results::StepSummary& step = ranked.candidate.step;
  Priced one{&ranked, 1.0 * step.workers * shown.scenario.workload.batch_per_worker, 0, {}};
  one.cost = cost_of_step(step, ranked.seconds(), shown.costs.prices).total();
  if (shown.arguments.accuracy > 0)
    one.steps =
        results::steps_for(shown.trained, ranked.candidate.method,
                           std::int64_t{step.workers} * shown.scenario.workload.batch_per_worker,
                           assumption_of(shown.arguments.assume_steps));
  return one;
}

std::vector<Priced> all_priced(const AdviceShown& shown, const Context& context) {
  std::vector<Priced> plans;
  std::string why_not;
  for (const WorkersAdvice& one : shown.by_workers) {
    for (const RankedCandidate* ranked : best_of_methods(one.advice)) {
      try {
        plans.push_back(priced(shown, *ranked));
      } catch (const Error& error) {  // a method that nobody trained
        why_not = error.what();
        context.say("left out: " + why_not);
      }
    }
  }
  if (plans.empty())
    throw Error(ErrorKind::kFailure, "say the time to the accuracy", "with any method", why_not,
                "see above");
  return plans;
}

/// Of the whole training where an accuracy is asked for, else of a million samples.
double steps_of(const Priced& plan) {
  return plan.steps ? plan.steps->steps : 1e6 / plan.samples;
}

std::set<const RankedCandidate*> front_of(const std::vector<Priced>& plans) {
  std::vector<results::PricedPlan> points;
  for (const Priced& plan : plans)
    points.push_back({steps_of(plan) * plan.ranked->seconds(), steps_of(plan) * plan.cost});
  std::set<const RankedCandidate*> front;
  for (const std::size_t i : results::cheapest_front(points)) front.insert(plans[i].ranked);
  return front;
}

std::vector<Column> cost_columns(const AdviceShown& shown) {
  const auto duration = Column::Style::kDuration;
  std::vector<Column> columns = {{"workers"}};
  append(columns, way_columns());
  append(columns, {{"step_time_s", "step time", duration},
                   {"cost_per_step"},
                   {"million_samples_s", "time of a million samples", duration},
                   {"cost_per_million_samples"}});
  if (shown.costs.epoch_samples > 0)
    append(columns, {{"epoch_s", "epoch", duration}, {"cost_per_epoch"}});
  if (shown.arguments.accuracy > 0)
    append(columns, {{"steps"},
                     {"to_accuracy_s", "time to accuracy", duration},
                     {"to_accuracy_low_s", "fastest seed", duration},
                     {"to_accuracy_high_s", "slowest seed", duration},
                     {"cost_to_accuracy"},
                     {"steps_from"}});
  append(columns, {{"on_front"}, {"provenance"}});
  return columns;
}

std::vector<Cell> cost_row(const AdviceShown& shown, const Priced& plan, bool on_front) {
  const double seconds = plan.ranked->seconds(), millions = 1e6 / plan.samples;
  const int workers = plan.ranked->candidate.step.workers;
  std::vector<Cell> row = {static_cast<std::int64_t>(workers)};
  add_way(plan.ranked->candidate, row);
  row.insert(row.end(), {seconds, plan.cost, millions * seconds, millions * plan.cost});
  if (shown.costs.epoch_samples > 0) {
    const double steps = results::steps_per_epoch(shown.costs.epoch_samples, workers,
                                                  shown.scenario.workload.batch_per_worker);
    row.insert(row.end(), {steps * seconds, steps * plan.cost});
  }
  if (plan.steps)
    row.insert(row.end(),
               {plan.steps->steps, plan.steps->steps * seconds, plan.steps->low * seconds,
                plan.steps->high * seconds, plan.steps->steps * plan.cost, plan.steps->basis});
  row.insert(row.end(), {on_front, kPredicted});
  return row;
}

}  // namespace

void print_verdicts(const AdviceShown& shown, const Context& context) {
  const auto duration = Column::Style::kDuration;
  std::vector<Column> columns = {{"workers"}, {"verdict"}};
  append(columns, way_columns());
  append(columns, {{"step_time_s", "step time", duration},
                   {"low_s", "90 % low", duration},
                   {"high_s", "90 % high", duration},
                   {"over_fp32", "times fp32"},
                   {"over_fp16", "times fp16"}});
  if (shown.arguments.verify > 0)
    append(columns, {{"flow_step_time_s", "by flow", duration},
                     {"flow_over_fp32", "times fp32"},
                     {"flow_over_fp16", "times fp16"}});
  append(columns, {{"provenance"}});
  Table table(columns);
  for (const WorkersAdvice& one : shown.by_workers) table.add(verdict_row(shown, one));
  table.print(context);
}

void print_ranking(const AdviceShown& shown, const Context& context) {
  const auto duration = Column::Style::kDuration;
  std::vector<Column> columns = {{"workers"}};
  append(columns, way_columns());
  append(columns, {{"ratio"},
                   {"step_time_s", "step time", duration},
                   {"compute_s", "compute", duration},
                   {"encode_s", "encode", duration},
                   {"exposed_s", "exposed", duration},
                   {"decode_s", "decode", duration}});
  if (shown.arguments.verify > 0)
    append(columns, {{"flow_step_time_s", "by flow", duration},
                     {"error", "model's error", Column::Style::kPercent}});
  append(columns, {{"provenance"}});
  Table table(columns);
  for (const WorkersAdvice& one : shown.by_workers) {
    const double elements = elements_of(one);
    int left = shown.arguments.verify;
    for (const RankedCandidate& ranked : one.advice.ranked) {
      const results::StepTime& time = ranked.prediction.time;
      std::vector<Cell> row = {static_cast<std::int64_t>(one.workers)};
      add_way(ranked.candidate, row);
      row.push_back(elements > 0 ? Cell(ratio_of(ranked.candidate, elements)) : Cell());
      row.insert(row.end(),
                 {time.total_s, time.compute_s, time.encode_s, time.exposed_s, time.decode_s});
      if (shown.arguments.verify > 0 && left-- > 0) {
        const double flow = runner::flow_seconds(shown.scenario, ranked.candidate);
        row.insert(row.end(), {flow, time.total_s / flow - 1});
      } else if (shown.arguments.verify > 0) {
        row.insert(row.end(), {Cell(), Cell()});
      }
      row.push_back(kPredicted);
      table.add(std::move(row));
    }
  }
  table.print(context);
}

void print_crossovers(const AdviceShown& shown, const Context& context) {
  Table table({{"workers"},
               {"method"},
               {"pays_below_bps", "pays below, bits/s"},
               {"pays"},
               {"collective"},
               {"provenance"}});
  for (const WorkersAdvice& one : shown.by_workers)
    for (const results::Crossover& found :
         results::crossovers(one.candidates, shown.fit.constants, {.margin = results::kTie}))
      table.add({static_cast<std::int64_t>(found.workers), found.method,
                 found.rate ? Cell(8 * *found.rate) : Cell(),
                 std::string(found.rate          ? "below"
                             : found.wins_always ? "always"
                                                 : "never"),
                 found.collective, kPredicted});
  if (table.size() == 0)
    throw Error(ErrorKind::kUsage, "advise", "--show crossover", "every method is a baseline",
                "name others with --method");
  table.print(context);
}

void print_costs(const AdviceShown& shown, const Context& context) {
  const std::vector<Priced> plans = all_priced(shown, context);
  const auto front = front_of(plans);
  Table table(cost_columns(shown));
  for (const Priced& plan : plans) table.add(cost_row(shown, plan, front.count(plan.ranked) > 0));
  table.print(context);
}

}  // namespace gradwire::cli
