#include "runner/run_record.h"

#include <algorithm>
#include <iterator>

#include "results/collective_choice.h"
#include "results/prediction/stored_summary.h"
#include "runner/provenance.h"
#include "runner/run_words.h"
#include "scenarios/methods.h"

namespace gradwire::runner {

using results::Provenance;

RunRecord::RunRecord(const scenarios::Scenario& scenario, const scenarios::ComputeProfile& profile,
                     results::Store& store, scenarios::Trainer& trainer, sim::Executor& executor)
    : scenario_(scenario),
      store_(store),
      trainer_(trainer),
      executor_(executor),
      recorder_(scenario.cluster.workers),
      id_(store.begin_run(header(profile), trainer.steps_total())) {}

results::RunHeader RunRecord::header(const scenarios::ComputeProfile& profile) const {
  results::RunHeader header;
  header.scenario_hash = scenario_.hash;
  header.scenario_json = scenario_.json.dump();
  header.scenario_name = scenario_.name;
  header.scenario_file = scenario_.file;
  header.seed = scenario_.seed;
  header.method = scenarios::method_label(scenario_);
  header.executor = std::string(executor_.name());
  header.model = model_label(scenario_.workload);
  header.data_set = trains() ? scenario_.workload.data_set : "";
  header.workers = scenario_.cluster.workers;
  header.host = machine_description();
  header.version = program_version();
  header.device = profile.device;
  header.compute_provenance = profile.provenance;
  return header;
}

bool RunRecord::trains() const {
  return scenario_.workload.kind == scenarios::WorkloadKind::kTraining;
}

Provenance RunRecord::time_provenance() const {
  return results::provenance_of(executor_.provenance());
}

double RunRecord::wall_s() const {
  return std::chrono::duration<double>(Clock::now() - started_).count();
}

results::StepRow RunRecord::add_step(const scenarios::StepPlan& plan, sim::GraphId graph,
                                     Seconds end) {
  const scenarios::StepOutcome outcome{executor_.timeline(graph), end, executor_.missing(graph)};
  const results::StepRow row = recorder_.record(plan, outcome.timeline, end);
  std::int64_t missing = 0;
  for (const sim::MissingData& each : outcome.missing)
    for (const sim::ByteRange& range : each.ranges) missing += range.count;
  if (missing > 0)
    metrics_.push_back(
        {plan.step, "missing_bytes", static_cast<double>(missing), "B", time_provenance()});
  missing_bytes_ += missing;
  for (const scenarios::Figure& figure : trainer_.on_step_ended(plan, outcome))
    metrics_.push_back({plan.step, figure.name, figure.value, figure.unit, time_provenance()});
  steps_.push_back(row);
  return row;
}

void RunRecord::add_evaluation(const results::StepRow& row,
                               const scenarios::Evaluation& evaluation) {
  metrics_.push_back({row.step, "held_out_loss", evaluation.loss, "", Provenance::kMeasured});
  metrics_.push_back({row.step, "accuracy", evaluation.accuracy, "", Provenance::kMeasured});
  last_ = evaluation;
  const double target = scenario_.workload.target_accuracy;
  if (!time_to_target_ && target > 0 && evaluation.accuracy >= target) time_to_target_ = row.end_s;
}

void RunRecord::append() {
  if (steps_.empty() && metrics_.empty()) return;
  store_.append(id_, steps_, metrics_);
  last_loss_ = steps_.empty() ? last_loss_ : steps_.back().loss;
  steps_.clear();
  metrics_.clear();
  last_append_ = Clock::now();
}

void RunRecord::append_after(double wall_s) {
  if (Clock::now() - last_append_ > std::chrono::duration<double>(wall_s)) append();
}

void RunRecord::add_final(const std::string& name, double value, const char* unit,
                          Provenance provenance) {
  finals_.push_back({-1, name, value, unit, provenance});
}

void RunRecord::add_learning_finals() {
  if (trains()) add_final("final_loss", last_loss_, "", Provenance::kMeasured);
  if (last_) add_final("final_accuracy", last_->accuracy, "", Provenance::kMeasured);
  if (time_to_target_) add_final("time_to_target_s", *time_to_target_, "s", time_provenance());
}

void RunRecord::add_time_finals() {
  const Provenance time = time_provenance();
  add_final("step_time_s", mean(recorder_.step_times()), "s", time);
  add_final("step_time_median_s", median(recorder_.step_times()), "s", time);
  add_final("exchange_s", median(recorder_.exchange_times()), "s", time);
  add_final("simulated_s", recorder_.simulated_s(), "s", time);
}

void RunRecord::add_byte_finals(Provenance length) {
  const auto payload = static_cast<double>(recorder_.payload_bytes());
  const auto dense = static_cast<double>(recorder_.dense_bytes());
  add_final("wire_bytes", static_cast<double>(recorder_.wire_bytes()), "B", time_provenance());
  add_final("payload_bytes", payload, "B", length);
  if (dense > 0) add_final("ratio", payload / dense, "", length);
}

void RunRecord::add_workload_finals() {
  for (const auto& each : trainer_.collective_choice().candidates)
    add_final(results::choice_metric(each.collective), each.time.value(), "s",
              Provenance::kSimulated);
  if (scenario_.network.transport.protocol == sim::TransportSettings::Protocol::kUdpLossy)
    add_final("missing_bytes", static_cast<double>(missing_bytes_), "B", time_provenance());
  for (const scenarios::Figure& figure : trainer_.figures())
    finals_.push_back({-1, figure.name, figure.value, figure.unit, time_provenance()});
}

void RunRecord::finish(results::RunStatus status, const std::string& error) {
  finals_.clear();  // a first try may have failed
  // Real payloads where something was encoded; a replay only says how long they would be.
  const Provenance length = trains() ? Provenance::kMeasured : time_provenance();
  add_learning_finals();
  add_time_finals();
  add_byte_finals(length);
  add_workload_finals();
  if (summary_)
    std::ranges::move(results::summary_metrics(*summary_, length), std::back_inserter(finals_));
  add_final("wall_s", wall_s(), "s", Provenance::kMeasured);
  Hasher learning;
  learning.add(trainer_.learning_hash());
  store_.put_timeline(id_, executor_.provenance(), recorder_.segments());
  store_.finish_run(id_, status, error, trains() ? learning.hex() : "",
                    recorder_.timeline_hash().hex(), finals_);
}

}  // namespace gradwire::runner
