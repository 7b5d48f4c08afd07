#include "trainers/schedules/synchronous/arrivals.h"

#include "scenarios/methods.h"
#include "trainers/schedules/synchronous/lossy_arrivals.h"

namespace gradwire::trainers {
namespace {

/// All that is sent arrives, so one copy of the weights stands for all workers.
class CompleteArrivals final : public Arrivals {
 public:
  explicit CompleteArrivals(const Learner& learner) : learner_(learner) {}

  bool waits() const override { return false; }
  bool workers_differ() const override { return false; }
  std::span<const float> weights_of(int) const override { return learner_.weights(); }
  void add_weights(Hasher& hasher) const override {
    hasher.add_bytes(std::as_bytes(learner_.weights()));
  }

 private:
  const Learner& learner_;
};

}  // namespace

bool loses_data(const scenarios::Scenario& scenario) {
  return scenario.network.transport.protocol == sim::TransportSettings::Protocol::kUdpLossy;
}

ReplicaWeights replica_weights(const scenarios::Scenario& scenario) {
  const bool by_themselves = loses_data(scenario) || scenario.schedule.local_steps > 1 ||
                             scenarios::training_method(scenario)->computes();
  return by_themselves ? ReplicaWeights::kPlaced : ReplicaWeights::kShared;
}

std::unique_ptr<Arrivals> make_arrivals(Learner& learner, SetUpdates& updates) {
  if (loses_data(learner.scenario())) return std::make_unique<LossyArrivals>(learner, updates);
  return std::make_unique<CompleteArrivals>(learner);
}

}  // namespace gradwire::trainers
