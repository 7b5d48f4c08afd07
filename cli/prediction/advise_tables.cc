#include <algorithm>
#include <cmath>
#include <set>

#include "cli/output/table.h"
#include "cli/prediction/advise.h"
#include "cli/reports/assume_steps.h"
#include "results/advice/crossover.h"
#include "runner/prediction/advice.h"

namespace gradwire::cli {
namespace {

using results::RankedCandidate;

const std::string kPredicted = "predicted";

Cell optional_cell(const std::optional<double>& value) {
  return value ? Cell(*value) : Cell();
}

constexpr auto kPlain = Column::Style::kPlain;
constexpr auto kDuration = Column::Style::kDuration;

Column workers_column() {
  return {"workers", "", kPlain, Importance::kKey};
}

std::vector<Column> way_columns() {
  return {{"method", "", kPlain, Importance::kKey},
          {"collective"},
          {"bucket_bytes", "bucket", Column::Style::kBytes}};
}

Column step_time_column() {
  return {"step_time_s", "step time", kDuration, Importance::kHigh};
}

Column provenance_column() {
  return {"provenance", "", kPlain, Importance::kLow};
}

/// Every row that a reader may take for a recommendation says what is known of its accuracy.
std::vector<Column> accuracy_columns() {
  return {{"accuracy", "", kPlain, Importance::kHigh},
          {"accuracy_difference", "accuracy difference", Column::Style::kPercent, Importance::kLow},
          {"accuracy_provenance", "difference is", kPlain, Importance::kLow},
          {"accuracy_from", "accuracy from", kPlain, Importance::kLow}};
}

void add_accuracy(const results::AccuracyEvidence& accuracy, std::vector<Cell>& row) {
  const bool unknown = std::isnan(accuracy.difference);
  row.insert(
      row.end(),
      {std::string(name_of(accuracy.standing)), unknown ? Cell() : Cell(accuracy.difference),
       unknown ? Cell() : Cell(std::string(name_of(accuracy.difference_from))), accuracy.words});
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

/// What is known of a method among the candidates.
const results::AccuracyEvidence& accuracy_of(const results::Advice& advice,
                                             const std::string& method) {
  return std::ranges::find(advice.ranked, method,
                           [](const RankedCandidate& one) { return one.candidate.method; })
      ->accuracy;
}

/// The fastest of each method, the fastest first.
std::vector<const RankedCandidate*> best_of_methods(const results::Advice& advice) {
  std::vector<const RankedCandidate*> best;
  std::set<std::string> seen;
  for (const RankedCandidate& ranked : advice.ranked)
    if (seen.insert(ranked.candidate.method).second) best.push_back(&ranked);
  return best;
}

const std::string& method_of(const results::Advice& advice) {
  static const std::string nothing = "-";
  return advice.chosen() ? advice.chosen()->candidate.method : nothing;
}

/// The winners if codecs took 10 and 100 times as long; empty where their times are no assumption.
std::vector<Cell> winners_by_codec_cost(const WorkersAdvice& one) {
  std::vector<Cell> cells;
  for (const double factor : results::kCodecCostFactors) {
    if (factor == 1) continue;
    const auto found =
        std::ranges::find(one.by_codec_cost, factor, &results::CodecCostAdvice::factor);
    cells.push_back(found == one.by_codec_cost.end() ? Cell() : Cell(method_of(found->advice)));
  }
  return cells;
}

/// Times of the chosen step and of the baselines over it, simulated.
std::vector<Cell> verified(const AdviceShown& shown, const results::Advice& advice) {
  const auto simulated = [&](std::size_t i) {
    return runner::flow_seconds(shown.scenario, advice.ranked[i].candidate);
  };
  if (!advice.chosen()) return {Cell(), Cell(), Cell()};
  const double seconds = simulated(*advice.choice.chosen);
  std::vector<Cell> cells = {seconds};
  for (const auto& baseline : {advice.choice.fp32, advice.choice.fp16})
    cells.push_back(baseline ? Cell(simulated(*baseline) / seconds) : Cell());
  return cells;
}

void add_chosen(const results::Advice& advice, std::vector<Cell>& row) {
  const RankedCandidate* chosen = advice.chosen();
  if (!chosen) {  // as many cells as below
    row.insert(row.end(), 12, Cell());
    return;
  }
  add_way(chosen->candidate, row);
  row.insert(row.end(), {chosen->seconds(), chosen->prediction.low_s, chosen->prediction.high_s,
                         optional_cell(advice.over_fp32), optional_cell(advice.over_fp16)});
  add_accuracy(chosen->accuracy, row);
}

std::vector<Cell> verdict_row(const AdviceShown& shown, const WorkersAdvice& one) {
  const results::Advice& advice = one.advice;
  std::vector<Cell> row = {static_cast<std::int64_t>(one.workers),
                           std::string(name_of(advice.verdict()))};
  add_chosen(advice, row);
  for (Cell& cell : winners_by_codec_cost(one)) row.push_back(std::move(cell));
  if (shown.arguments.verify > 0)
    for (Cell& cell : verified(shown, advice)) row.push_back(std::move(cell));
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
        context.say_wrapped("left out: " + why_not);
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

/// Without those that lose too much accuracy.
std::set<const RankedCandidate*> front_of(const std::vector<Priced>& plans) {
  std::vector<results::PricedPlan> points;
  std::vector<const RankedCandidate*> counted;
  for (const Priced& plan : plans) {
    if (!plan.ranked->accuracy.may_be_recommended()) continue;
    points.push_back({steps_of(plan) * plan.ranked->seconds(), steps_of(plan) * plan.cost});
    counted.push_back(plan.ranked);
  }
  std::set<const RankedCandidate*> front;
  for (const std::size_t i : results::cheapest_front(points)) front.insert(counted[i]);
  return front;
}

std::vector<Column> cost_columns(const AdviceShown& shown) {
  const Importance high = Importance::kHigh, low = Importance::kLow;
  std::vector<Column> columns = {workers_column()};
  append(columns, way_columns());
  append(columns, {step_time_column(),
                   {"cost_per_step", "cost per step", kPlain, low},
                   {"million_samples_s", "time of a million samples", kDuration},
                   {"cost_per_million_samples", "cost of a million samples", kPlain,
                    shown.costs.epoch_samples > 0 ? Importance::kNormal : high}});
  if (shown.costs.epoch_samples > 0)
    append(columns, {{"epoch_s", "epoch", kDuration, high},
                     {"cost_per_epoch", "cost per epoch", kPlain, high}});
  if (shown.arguments.accuracy > 0)
    append(columns, {{"steps_to_accuracy", "steps"},
                     {"steps_provenance", "steps are", kPlain, low},
                     {"to_accuracy_s", "time to accuracy", kDuration, high},
                     {"to_accuracy_low_s", "earliest", kDuration},
                     {"to_accuracy_high_s", "latest", kDuration},
                     {"cost_to_accuracy", "cost to accuracy", kPlain, high},
                     {"steps_from", "steps from", kPlain, low}});
  append(columns, {{"on_front", "on front", kPlain, high}});
  append(columns, accuracy_columns());
  columns.push_back(provenance_column());
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
               {plan.steps->steps, std::string(name_of(plan.steps->provenance)),
                plan.steps->steps * seconds, plan.steps->low * seconds, plan.steps->high * seconds,
                plan.steps->steps * plan.cost, plan.steps->basis});
  row.push_back(on_front);
  add_accuracy(plan.ranked->accuracy, row);
  row.push_back(kPredicted);
  return row;
}

}  // namespace

void print_verdicts(const AdviceShown& shown, const Context& context) {
  std::vector<Column> columns = {workers_column(), {"verdict", "", kPlain, Importance::kKey}};
  append(columns, way_columns());
  append(columns, {step_time_column(),
                   {"low_s", "90 % low", kDuration, Importance::kHigh},
                   {"high_s", "90 % high", kDuration, Importance::kHigh},
                   {"over_fp32", "times fp32"},
                   {"over_fp16", "times fp16"}});
  append(columns, accuracy_columns());
  append(columns, {{"winner_at_10_codec_cost", "winner at 10 times the codec cost"},
                   {"winner_at_100_codec_cost", "at 100 times"}});
  if (shown.arguments.verify > 0)
    append(columns, {{"flow_step_time_s", "by flow", kDuration, Importance::kHigh},
                     {"flow_over_fp32", "times fp32"},
                     {"flow_over_fp16", "times fp16"}});
  columns.push_back(provenance_column());
  Table table(columns);
  for (const WorkersAdvice& one : shown.by_workers) table.add(verdict_row(shown, one));
  table.print(context);
}

void print_ranking(const AdviceShown& shown, const Context& context) {
  std::vector<Column> columns = {workers_column()};
  append(columns, way_columns());
  append(columns, {{"compression_ratio"},
                   step_time_column(),
                   {"compute_s", "compute", kDuration, Importance::kLow},
                   {"encode_s", "encode", kDuration, Importance::kLow},
                   {"exposed_s", "exposed communication", kDuration, Importance::kLow},
                   {"decode_s", "decode", kDuration, Importance::kLow}});
  append(columns, accuracy_columns());
  if (shown.arguments.verify > 0)
    append(columns, {{"flow_step_time_s", "by flow", kDuration, Importance::kHigh},
                     {"error", "model's error", Column::Style::kPercent, Importance::kHigh}});
  columns.push_back(provenance_column());
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
      add_accuracy(ranked.accuracy, row);
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
  std::vector<Column> columns = {
      workers_column(),
      {"method", "", kPlain, Importance::kKey},
      {"pays_below_bps", "pays below, bits/s", kPlain, Importance::kHigh},
      {"pays", "", kPlain, Importance::kHigh},
      {"collective"}};
  append(columns, accuracy_columns());
  columns.push_back(provenance_column());
  Table table(columns);
  for (const WorkersAdvice& one : shown.by_workers)
    for (const results::Crossover& found :
         results::crossovers(one.candidates, shown.fit.constants, {.margin = results::kTie})) {
      std::vector<Cell> row = {static_cast<std::int64_t>(found.workers), found.method,
                               found.rate ? Cell(8 * *found.rate) : Cell(),
                               found.rate && found.pays.size() == 1 ? "below"
                               : found.wins_always                  ? "always"
                                                                    : pays_words(found),
                               found.collective};
      add_accuracy(accuracy_of(one.advice, found.method), row);
      row.push_back(kPredicted);
      table.add(std::move(row));
    }
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
