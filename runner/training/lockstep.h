#pragma once
#include <deque>
#include <exception>
#include <functional>
#include <iosfwd>
#include <optional>
#include <set>
#include <vector>

#include "scenarios/session.h"

/// Drives trainers that plan step by step. Two steps are in flight, so that no barrier but the
/// graphs' own edges separates them; a step that is planned as alone has nothing beside it.
namespace gradwire::runner {

class Lockstep final : public scenarios::Schedule {
 public:
  struct Options {
    /// All steps are trained before the first is submitted. Precondition (assertion): none of them
    /// depends on how the one before has ended.
    bool train_first = false;
    /// What the steps that are trained first may take for what their messages hold
    /// (Work::payloads); 0: no limit.
    Bytes most_payloads{0};
    /// Whether the model is evaluated after that step.
    std::function<bool(std::int64_t step)> evaluates;
    /// Told of each plan before it is submitted, and then of its graph.
    std::function<void(const scenarios::StepPlan&)> before_submit;
    std::function<void(const scenarios::StepPlan&, sim::GraphId)> on_submitted;
    /// Asked between steps of training first; true: no more of them.
    std::function<bool()> interrupted;
  };

  /// `trainer` must outlive it.
  Lockstep(scenarios::Trainer& trainer, Options options)
      : trainer_(trainer), options_(std::move(options)) {}

  void start(scenarios::Session& session) override;
  void on(const sim::Event& event, scenarios::Session& session) override;
  /// The deadline of the graph that is the token.
  void on_wake(std::uint64_t token, scenarios::Session& session) override;

  /// Training has failed for good, and steps before that are still on their way.
  bool has_diverged() const { return diverged_ != nullptr; }
  /// What is under way, but for the trainer's part. Precondition: neither trained first nor
  /// diverged.
  void save(std::ostream& out) const;
  /// `work_of`: what was submitted as that graph. Throws Error for what is not whole.
  void load(std::istream& in, const std::function<scenarios::Work(sim::GraphId)>& work_of);

 private:
  /// A step in flight: its plan (the session has its work), its graph, and the evaluation after it
  /// where one was due.
  struct Flight {
    scenarios::StepPlan plan;
    sim::GraphId graph = 0;
    std::optional<scenarios::Evaluation> evaluation;
  };

  std::optional<scenarios::Evaluation> evaluated(std::int64_t step);
  void train_all();
  void require_room(const scenarios::StepPlan& plan, Bytes& payloads) const;
  bool take_next(Flight& flight);
  bool submit_next(scenarios::Session& session);
  bool has_room() const;
  void fill(scenarios::Session& session);
  void complete_ended(scenarios::Session& session);
  void complete_oldest(scenarios::Session& session, Seconds end);

  scenarios::Trainer& trainer_;
  Options options_;
  std::deque<Flight> in_flight_, trained_;
  std::vector<sim::GraphId> submitted_;  ///< by place, where all were trained first
  std::set<sim::GraphId> ended_;
  bool more_ = true;
  std::exception_ptr diverged_;
};

}  // namespace gradwire::runner
