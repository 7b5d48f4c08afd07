#include "trainers/schedules/event_trainer.h"

#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "trainers/routes/set_exchange.h"
#include "trainers/schedules/checkpoint.h"
#include "trainers/schedules/kept_model.h"

namespace gradwire::trainers {

EventTrainer::EventTrainer(const scenarios::Scenario& scenario,
                           const scenarios::TrainerOptions& options, std::unique_ptr<DataSet> data,
                           std::unique_ptr<Model> model)
    : keeps_payloads_(options.keeps_payloads),
      trains_ahead_(options.trains_ahead),
      learner_(scenario, options, std::move(data), std::move(model), ReplicaWeights::kPlaced),
      up_(plans_up(learner_.method(), 0), learner_.layout(), scenario.seed) {}

const scenarios::ComputeProfile& EventTrainer::prepare() {
  if (learner_.has_profile()) return learner_.profile();  // frozen times were given
  scenarios::Scenario one = learner_.scenario();
  one.cluster.workers = 1;
  one.exchange.collective = "parameter-server";  // who hears of a message decodes and adds it
  StateStore states;
  const auto timed = make_set_exchange(
      one, learner_.method(), 0, learner_.layout(), states,
      [](ExchangeSettings& settings) { settings.answer = nullptr; });  // the schedule's own matter
  return learner_.prepare(*timed);
}

bool EventTrainer::next(scenarios::StepPlan&) {
  GRADWIRE_ASSERT(false);  // driven by events
  return false;
}

void EventTrainer::on_submitted(const scenarios::StepPlan&, sim::GraphId) {
  GRADWIRE_ASSERT(false);
}

std::vector<std::byte> EventTrainer::model_file() {
  return keep_model(learner_, weights());
}

scenarios::Evaluation EventTrainer::evaluate_file(std::span<const std::byte> file,
                                                  std::string_view subject) {
  return evaluate_kept(learner_, file, subject);
}

void EventTrainer::close_row(scenarios::StepReport report, std::int64_t rows, BesideClock* beside,
                             scenarios::Session& session) {
  const bool last = rows == steps_total();
  const bool due = last || rows % learner_.scenario().workload.evaluate_every == 0;
  if (last && beside) beside->stop_passes();
  if (due && (last || !beside)) report.evaluation = evaluate();
  if (!beside) return session.close(std::move(report));
  beside->close(std::move(report), due && !last ? scored_weights() : std::vector<float>(), session);
  if (last) beside->close_all(session);
}

std::vector<float> EventTrainer::scored_weights() {
  return {weights().begin(), weights().end()};
}

std::uint64_t EventTrainer::learning_hash() const {
  Hasher hasher;
  hasher.add(chain_);
  hasher.add_bytes(std::as_bytes(weights()));
  return hasher.value();
}

void EventTrainer::save(std::ostream& out) const {
  save_checked(out, [this](std::ostream& content) { save_content(content); });
}

void EventTrainer::load(std::istream& in) {
  load_checked(in, [this](std::istream& content) { load_content(content); });
}

}  // namespace gradwire::trainers
