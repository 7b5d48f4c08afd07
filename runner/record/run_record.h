#pragma once
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/peak_memory.h"
#include "results/prediction/step_model.h"
#include "results/runs/figure_origin.h"
#include "results/store/store.h"
#include "runner/record/step_recorder.h"
#include "runner/run_loop.h"
#include "scenarios/trainer.h"
#include "sim/session/executor.h"

namespace gradwire::runner {

/// What one run leaves in the store: its header at once, rows of its steps and evaluations as they
/// come, its figures at the end.
class RunRecord {
 public:
  /// Begins the run in the store, with the identity of the one whose place it takes. All must
  /// outlive the record.
  RunRecord(const scenarios::Scenario& scenario, const scenarios::ComputeProfile& profile,
            results::Store& store, scenarios::Trainer& trainer, sim::Executor& executor,
            const results::Predecessor& predecessor, std::optional<int> rank);

  results::RunId id() const { return id_; }
  /// Wall time that the run has taken, before it was resumed included.
  double wall_s() const;
  /// Of what was done before it was resumed.
  void add_wall(double seconds) { earlier_wall_s_ += seconds; }

  /// A step that has ended or was cut off; `works`: its graphs.
  results::StepRow add_step(const scenarios::StepReport& report, std::span<const RanWork> works);
  /// Of the model after the step of `row`.
  void add_evaluation(const results::StepRow& row, const scenarios::Evaluation& evaluation);
  /// Of the run's first step, where a closed form describes it.
  void set_summary(std::optional<results::StepSummary> summary) { summary_ = std::move(summary); }
  /// The first step behind which the held-out loss is not finite. Of training alone.
  const std::optional<std::int64_t>& diverged_at() const { return diverged_at_; }
  /// Another run has trained what this one sends.
  void set_trained_by(results::RunId other);
  /// The trainer has learnt from steps that have not ended: its state is not what the run learnt.
  void set_learnt_ahead() { learnt_ahead_ = true; }
  /// What else is to be known about the run.
  void add_note(const std::string& note) { notes_.push_back(note); }
  /// Of an executor from outside.
  void set_facts(RunFacts facts) { facts_ = std::move(facts); }
  /// Writes what has come since the last time.
  void append();
  /// The same, where that is longer ago.
  void append_after(double wall_s);
  /// Writes the run's end, timeline and figures; nothing follows.
  void finish(results::RunStatus status, const std::string& error);

 private:
  using Clock = std::chrono::steady_clock;

  results::RunHeader header(const scenarios::ComputeProfile& profile) const;
  void note_detail();
  results::RunId begin(results::RunHeader header, const results::Predecessor& predecessor,
                       std::optional<int> rank);
  bool trains() const;
  void add_figure(std::int64_t step, const std::string& name, double value,
                  const std::string& unit);
  void add_final(const std::string& name, double value, const std::string& unit);
  void add_learning_finals(results::RunStatus status);
  void add_time_finals();
  void add_byte_finals();
  void add_workload_finals();
  void add_notes();

  const scenarios::Scenario& scenario_;
  results::Store& store_;
  scenarios::Trainer& trainer_;
  sim::Executor& executor_;
  StepRecorder recorder_;
  results::RunOrigins origins_;
  results::RunId id_ = 0;
  std::vector<results::StepRow> steps_;
  std::vector<results::MetricRow> metrics_, finals_;
  std::optional<results::StepSummary> summary_;
  RunFacts facts_;
  std::vector<std::string> notes_;
  std::optional<scenarios::Evaluation> last_;
  std::optional<double> time_to_target_;
  std::optional<std::int64_t> diverged_at_;
  std::optional<double> last_loss_;  ///< of the last step that ended
  std::int64_t missing_bytes_ = 0;
  double earlier_wall_s_ = 0;
  PeakMemory peak_;
  bool detail_known_;  ///< of executor_, as it is stored
  bool trained_here_ = true;
  bool learnt_ahead_ = false;
  Clock::time_point started_ = Clock::now(), last_append_ = started_;
};

}  // namespace gradwire::runner
