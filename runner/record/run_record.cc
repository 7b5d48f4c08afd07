#include "runner/record/run_record.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "results/prediction/stored_summary.h"
#include "results/runs/collective_choice.h"
#include "results/runs/notes.h"
#include "results/runs/summary.h"
#include "runner/record/provenance.h"
#include "runner/record/run_description.h"
#include "runner/record/run_origins.h"
#include "scenarios/data_sets.h"
#include "scenarios/methods.h"

namespace gradwire::runner {
namespace {

/// Bytes of the fp32 values that all workers' encoders are given in a step. With ZeRO a worker
/// sends its part of the weights, too: once, of stage 3 twice.
Bytes gradient_bytes(const scenarios::Scenario& scenario,
                     const scenarios::ComputeProfile& profile) {
  std::int64_t elements = 0;
  for (const auto& bucket : profile.buckets) elements += bucket.elements;
  const int workers = scenario.cluster.workers, zero = scenario.exchange.zero;
  const int gathers = workers == 1 || zero == 0 ? 0 : zero == 3 ? 2 : 1;
  return Bytes(4 * elements * (workers + gathers));
}

bool is_text(const scenarios::Workload& workload) {
  const scenarios::DataSetInfo* const set = scenarios::find_data_set(workload.data_set);
  return set && set->kind == scenarios::SampleKind::kText;
}

}  // namespace

RunRecord::RunRecord(const scenarios::Scenario& scenario, const scenarios::ComputeProfile& profile,
                     results::Store& store, scenarios::Trainer& trainer, sim::Executor& executor,
                     const results::Predecessor& predecessor, std::optional<int> rank)
    : scenario_(scenario),
      store_(store),
      trainer_(trainer),
      executor_(executor),
      recorder_(scenario.cluster.workers, scenario.network.transport,
                gradient_bytes(scenario, profile)),
      origins_(origins_of(scenario, profile, executor.provenance())),
      id_(begin(header(profile), predecessor, rank)),
      detail_known_(executor.detail()) {}

results::RunId RunRecord::begin(results::RunHeader header, const results::Predecessor& predecessor,
                                std::optional<int> rank) {
  header.uid = predecessor.uid;
  header.rank = rank;
  const results::RunId id = store_.begin_run(header, trainer_.steps_total());
  for (const std::string& tag : predecessor.tags) store_.tag(id, tag, true);
  return id;
}

results::RunHeader RunRecord::header(const scenarios::ComputeProfile& profile) const {
  results::RunHeader header;
  header.scenario_hash = scenario_.hash;
  header.scenario_json = scenario_.json.dump();
  header.scenario_name = scenario_.name;
  header.scenario_file = scenario_.file;
  header.seed = scenario_.seed;
  header.method = scenarios::method_label(scenario_);
  header.executor = std::string(executor_.name());
  if (const auto detail = executor_.detail()) header.detail = sim::name_of(*detail);
  header.model = model_label(scenario_.workload);
  header.data_set = trains() ? scenario_.workload.data_set : "";
  header.workers = scenario_.cluster.workers;
  header.host = machine_description();
  header.node = machine_name();
  header.version = program_version();
  header.device = profile.device;
  header.compute_provenance = profile.provenance;
  return header;
}

bool RunRecord::trains() const {
  return scenario_.workload.kind == scenarios::WorkloadKind::kTraining;
}

double RunRecord::wall_s() const {
  return earlier_wall_s_ + std::chrono::duration<double>(Clock::now() - started_).count();
}

/// It is decided when something is sent.
void RunRecord::note_detail() {
  const auto detail = executor_.detail();
  if (!detail || std::exchange(detail_known_, true)) return;
  store_.set_detail(id_, std::string(sim::name_of(*detail)));
}

results::StepRow RunRecord::add_step(const scenarios::StepReport& report,
                                     std::span<const RanWork> works) {
  const results::StepRow row = recorder_.record(report, works);
  note_detail();
  std::int64_t missing = 0;
  for (const RanWork& ran : works)
    for (const sim::MissingData& each : ran.missing)
      for (const sim::ByteRange& range : each.ranges) missing += range.count;
  if (missing > 0) add_figure(report.step, "missing_bytes", static_cast<double>(missing), "B");
  missing_bytes_ += missing;
  for (const scenarios::Figure& figure : report.figures)
    add_figure(report.step, figure.name, figure.value, figure.unit);
  steps_.push_back(row);
  return row;
}

void RunRecord::add_evaluation(const results::StepRow& row,
                               const scenarios::Evaluation& evaluation) {
  add_figure(row.step, "held_out_loss", evaluation.loss, "");
  add_figure(row.step, "accuracy", evaluation.accuracy, "");
  if (!diverged_at_ && !std::isfinite(evaluation.loss)) diverged_at_ = row.step;
  last_ = evaluation;
  const double target = scenario_.workload.target_accuracy;
  if (!time_to_target_ && target > 0 && evaluation.accuracy >= target) time_to_target_ = row.end_s;
}

void RunRecord::set_trained_by(results::RunId other) {
  trained_here_ = false;
  add_note("run " + std::to_string(other) +
           " trained it: the two differ in their network alone, which this method does not heed");
}

void RunRecord::append() {
  if (steps_.empty() && metrics_.empty()) return;
  store_.append(id_, steps_, metrics_);
  if (!steps_.empty()) last_loss_ = steps_.back().loss;
  steps_.clear();
  metrics_.clear();
  last_append_ = Clock::now();
}

void RunRecord::append_after(double wall_s) {
  if (Clock::now() - last_append_ > std::chrono::duration<double>(wall_s)) append();
}

void RunRecord::add_figure(std::int64_t step, const std::string& name, double value,
                           const std::string& unit) {
  metrics_.push_back(results::labelled(step, name, value, unit, origins_));
}

void RunRecord::add_final(const std::string& name, double value, const std::string& unit) {
  finals_.push_back(results::labelled(-1, name, value, unit, origins_));
}

void RunRecord::add_learning_finals(results::RunStatus status) {
  const bool learned = trains() && status != results::RunStatus::kDiverged;
  // Rounds in which nobody has arrived yet have no loss.
  if (learned && last_loss_ && !std::isnan(*last_loss_)) add_final("final_loss", *last_loss_, "");
  if (learned && last_) add_final("final_accuracy", last_->accuracy, "");
  if (learned && last_ && is_text(scenario_.workload))
    add_final("perplexity", std::exp(last_->loss), "");
  if (time_to_target_) add_final("time_to_target_s", *time_to_target_, "s");
}

void RunRecord::add_time_finals() {
  const std::vector<double>& all = recorder_.step_times();
  if (all.empty()) return;  // it failed before its first step ended
  const scenarios::StepRange usual = trainer_.usual_steps();
  const auto count = static_cast<std::int64_t>(all.size());
  const bool some = count > usual.first;
  const auto first = some ? usual.first : 0, last = some ? std::min(count, usual.last) : count;
  const auto part = [&](const std::vector<double>& times) {
    return std::vector<double>(times.begin() + first, times.begin() + last);
  };
  add_final("step_time_s", results::statistic(part(all)).mean, "s");
  add_final("step_time_median_s", results::median(part(all)), "s");
  add_final("exchange_s", results::median(part(recorder_.exchange_times())), "s");
  if (first > 0) add_final("start_up_s", all.front(), "s");
  if (last < count) add_final("after_steps_s", all.back(), "s");
  add_final("simulated_s", recorder_.simulated_s(), "s");
}

void RunRecord::add_byte_finals() {
  add_final("wire_bytes", static_cast<double>(recorder_.wire_bytes()), "B");
  add_final("payload_bytes", static_cast<double>(recorder_.payload_bytes()), "B");
  if (const auto ratio = recorder_.compression_ratio()) add_final("compression_ratio", *ratio, "");
  if (const auto ratio = recorder_.traffic_ratio()) add_final("traffic_ratio", *ratio, "");
}

void RunRecord::add_workload_finals() {
  for (const auto& each : trainer_.collective_choice().candidates)
    add_final(results::choice_metric(each.collective), each.time.value(), "s");
  if (scenario_.network.transport.protocol == sim::TransportSettings::Protocol::kUdpLossy)
    add_final("missing_bytes", static_cast<double>(missing_bytes_), "B");
  for (const scenarios::Figure& figure : trainer_.figures())
    add_final(figure.name, figure.value, figure.unit);
  if (const auto peak = peak_.bytes(); peak && trains() && trained_here_)
    add_final("peak_rss_bytes", static_cast<double>(*peak), "B");
}

void RunRecord::add_notes() {
  for (const std::string& note : notes_) finals_.push_back(results::note_row(note));
  for (const std::string& note : trainer_.notes()) finals_.push_back(results::note_row(note));
  for (const std::string& note : facts_.notes) finals_.push_back(results::note_row(note));
  for (const scenarios::Figure& figure : facts_.figures)
    finals_.push_back({-1, figure.name, figure.value, figure.unit, results::Provenance::kMeasured});
}

void RunRecord::finish(results::RunStatus status, const std::string& error) {
  note_detail();
  finals_.clear();  // a first try may have failed
  add_learning_finals(status);
  add_time_finals();
  add_byte_finals();
  add_workload_finals();
  add_notes();
  if (summary_)
    std::ranges::move(results::summary_metrics(*summary_, origins_), std::back_inserter(finals_));
  add_final("wall_s", wall_s(), "s");
  Hasher learning;
  learning.add(trainer_.learning_hash());
  store_.put_timeline(id_, executor_.provenance(), recorder_.segments());
  store_.finish_run(id_, status, error, trains() && !learnt_ahead_ ? learning.hex() : "",
                    recorder_.timeline_hash().hex(), finals_);
}

}  // namespace gradwire::runner
