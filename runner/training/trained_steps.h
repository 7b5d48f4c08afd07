#pragma once
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "results/store/store.h"
#include "scenarios/trainer.h"

/// Learning in lockstep, in which everything arrives, does not heed virtual time: runs that differ
/// in their network or executor alone learn alike. What one of them has trained, others send.
namespace gradwire::runner {

/// What a run has learnt and sent, step by step.
struct TrainedSteps {
  struct Step {
    scenarios::StepPlan plan;  ///< `after` names the graph of step n as n
    std::optional<scenarios::Evaluation> evaluation;
    std::vector<scenarios::Figure> figures;
  };
  scenarios::ComputeProfile profile;
  std::vector<Step> steps;
  std::exception_ptr diverged;  ///< what training ended with, if it did
  std::int64_t steps_total = 0, parameters = 0;
  std::vector<scenarios::Figure> figures;
  std::vector<std::string> notes;
  std::vector<std::byte> model;  ///< empty unless it was asked for
  std::uint64_t learning_hash = 0;
  results::RunId run = 0;  ///< that trained
};

/// A trainer, of which it keeps what is needed to send the same again.
class RecordingTrainer final : public scenarios::Trainer {
 public:
  /// Beyond so many bytes of steps nothing is kept.
  static constexpr std::int64_t kMostBytes = std::int64_t{256} << 20;

  explicit RecordingTrainer(std::unique_ptr<scenarios::Trainer> inner,
                            std::int64_t most_bytes = kMostBytes);

  /// What it has trained. Null where that is not the whole run, or its learning heeds time.
  std::shared_ptr<const TrainedSteps> take(results::RunId run);

  const scenarios::ComputeProfile& prepare() override;
  void use_profile(const scenarios::ComputeProfile& profile) override;
  scenarios::CollectiveChoice collective_choice() const override;
  scenarios::Schedule* schedule() override { return inner_->schedule(); }
  bool next(scenarios::StepPlan& plan) override;
  void on_submitted(const scenarios::StepPlan& plan, sim::GraphId graph) override;
  std::vector<scenarios::Figure> on_step_ended(const scenarios::StepPlan& plan,
                                               const scenarios::StepOutcome& outcome) override;
  std::vector<scenarios::Figure> figures() const override { return inner_->figures(); }
  std::vector<std::string> notes() const override { return inner_->notes(); }
  scenarios::Evaluation evaluate() override;
  std::vector<std::byte> model_file() override;
  scenarios::Evaluation evaluate_file(std::span<const std::byte> file,
                                      std::string_view subject) override {
    return inner_->evaluate_file(file, subject);
  }
  std::int64_t steps_total() const override { return inner_->steps_total(); }
  std::int64_t parameters() const override { return inner_->parameters(); }
  std::uint64_t learning_hash() const override { return inner_->learning_hash(); }
  void save(std::ostream& out) const override { inner_->save(out); }
  /// What was trained before is not known: nothing is kept.
  void load(std::istream& in) override;

 private:
  void keep(const scenarios::StepPlan& plan);
  void give_up();

  std::unique_ptr<scenarios::Trainer> inner_;
  std::shared_ptr<TrainedSteps> trained_;
  std::map<sim::GraphId, std::int64_t> steps_of_graphs_;
  std::int64_t bytes_ = 0, most_bytes_;
};

/// Sends what another run has trained.
class TrainedAlready final : public scenarios::Trainer {
 public:
  explicit TrainedAlready(std::shared_ptr<const TrainedSteps> trained)
      : trained_(std::move(trained)) {}

  const scenarios::ComputeProfile& prepare() override { return trained_->profile; }
  void use_profile(const scenarios::ComputeProfile&) override {}
  bool next(scenarios::StepPlan& plan) override;
  void on_submitted(const scenarios::StepPlan& plan, sim::GraphId graph) override;
  std::vector<scenarios::Figure> on_step_ended(const scenarios::StepPlan& plan,
                                               const scenarios::StepOutcome& outcome) override;
  /// None before its last step.
  std::vector<scenarios::Figure> figures() const override;
  std::vector<std::string> notes() const override { return trained_->notes; }
  /// Of the step that came last; it must have been evaluated.
  scenarios::Evaluation evaluate() override;
  std::vector<std::byte> model_file() override { return trained_->model; }
  std::int64_t steps_total() const override { return trained_->steps_total; }
  std::int64_t parameters() const override { return trained_->parameters; }
  /// Before its last step over losses and bytes alone.
  std::uint64_t learning_hash() const override;
  /// Such runs have no checkpoints (assertion): they are over soon.
  void save(std::ostream&) const override;
  void load(std::istream&) override;

 private:
  bool whole() const { return sent_ == trained_->steps.size(); }

  std::shared_ptr<const TrainedSteps> trained_;
  std::size_t sent_ = 0;
  std::vector<sim::GraphId> graphs_;  ///< by step
};

}  // namespace gradwire::runner
