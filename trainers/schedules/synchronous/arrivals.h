#pragma once
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/hash.h"
#include "scenarios/trainer.h"
#include "trainers/schedules/learner.h"
#include "trainers/schedules/set_updates.h"

/// What of a step's messages reaches which worker, and so which weights it holds: a policy of
/// SynchronousTrainer.
namespace gradwire::trainers {

/// A step that has ended, as the trainer hands it to the policy.
struct EndedStep {
  std::size_t phase;  ///< of the method
  Moment moment;
  const Exchange& exchange;
  std::span<const float> mean;                ///< of worker 0
  std::span<const sim::MissingData> missing;  ///< what never arrived
  Bytes payload;                              ///< of all messages
  /// Encodes the step's gradients once more and combines what has arrived of them.
  std::function<void()> exchange_again;
  /// What the method does with a worker's mean before its update, where it has that.
  std::function<void(std::span<float> mean, int worker)> update_at_server;
};

class Arrivals {
 public:
  virtual ~Arrivals() = default;

  /// A step's update needs what arrived of it: the next one is planned when it has ended.
  virtual bool waits() const = 0;
  /// Whether workers' weights may differ; if not, all functions of a worker give the same.
  virtual bool workers_differ() const = 0;
  virtual std::span<const float> weights_of(int worker) const = 0;
  /// Before the passes of a step that waits.
  virtual void begin(std::uint64_t /*chain*/) {}
  /// The updates of a step that waits, and the figures that it adds.
  virtual std::vector<scenarios::Figure> end(const EndedStep&) { return {}; }
  /// Of the run.
  virtual std::vector<scenarios::Figure> figures() const { return {}; }
  /// Adds the weights of all workers.
  virtual void add_weights(Hasher& hasher) const = 0;

  /// What was there before the step that is under way, to be saved in place of what is there now;
  /// that step is planned again when it is loaded.
  struct Before {
    StateStore states;
    std::vector<float> statistics;
    std::uint64_t chain = 0;
  };
  /// Null where no step is under way.
  virtual const Before* before() const { return nullptr; }
  virtual void save(std::ostream&) const {}
  /// Whether a step was under way.
  virtual bool load(std::istream&) { return false; }
};

/// Whether the scenario's network loses data for good (udp-lossy).
bool loses_data(const scenarios::Scenario& scenario);

/// Which weights the replicas of a trainer with the scenario's policy look at.
ReplicaWeights replica_weights(const scenarios::Scenario& scenario);

/// All arrives, or lossy_arrivals.h. Both arguments must outlive it; `updates` are worker 0's.
std::unique_ptr<Arrivals> make_arrivals(Learner& learner, SetUpdates& updates);

}  // namespace gradwire::trainers
