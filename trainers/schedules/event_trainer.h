#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "scenarios/session.h"
#include "trainers/channel/tensor_channel.h"
#include "trainers/schedules/beside_clock.h"
#include "trainers/schedules/learner.h"

namespace gradwire::trainers {

/// What training has that is driven by events: a learner whose threads have weights of their own,
/// messages of one party, as for the way to a server, and what the runner asks.
class EventTrainer : public scenarios::Trainer, public scenarios::Schedule {
 public:
  const scenarios::ComputeProfile& prepare() override;
  void use_profile(const scenarios::ComputeProfile& profile) override {
    learner_.use_profile(profile);
  }
  scenarios::Schedule* schedule() override { return this; }
  /// Never called: there are no steps to plan.
  bool next(scenarios::StepPlan&) override;
  void on_submitted(const scenarios::StepPlan&, sim::GraphId) override;
  std::vector<std::string> notes() const override { return learner_.notes(); }
  scenarios::Evaluation evaluate() override { return learner_.evaluate(); }
  std::vector<std::byte> model_file() override;
  scenarios::Evaluation evaluate_file(std::span<const std::byte> file,
                                      std::string_view subject) override;
  std::int64_t steps_total() const override { return learner_.scenario().workload.steps; }
  std::int64_t parameters() const override { return learner_.layout().elements(); }
  std::uint64_t learning_hash() const override;
  void save(std::ostream& out) const override;
  void load(std::istream& in) override;

  void add_note(const std::string& note) { learner_.add_note(note); }
  std::span<const float> weights() const { return learner_.weights(); }

 protected:
  /// Throws TrainerError where scenario, data and model do not fit each other.
  EventTrainer(const scenarios::Scenario& scenario, const scenarios::TrainerOptions& options,
               std::unique_ptr<DataSet> data, std::unique_ptr<Model> model);

  const scenarios::ScheduleChoice& choice() const { return learner_.scenario().schedule; }
  int server() const { return learner_.workers(); }

  /// Closes a row, of which `rows` are over with it: evaluated where that is due, `beside` a real
  /// clock where there is one.
  void close_row(scenarios::StepReport report, std::int64_t rows, BesideClock* beside,
                 scenarios::Session& session);
  /// What evaluate() scores.
  virtual std::vector<float> scored_weights();

  virtual void save_content(std::ostream& out) const = 0;
  virtual void load_content(std::istream& in) = 0;

  const bool keeps_payloads_, trains_ahead_;  ///< as TrainerOptions has them
  Learner learner_;
  TensorChannel up_;
  std::uint64_t chain_ = 0;  ///< hash over what was learned from so far
};

}  // namespace gradwire::trainers
