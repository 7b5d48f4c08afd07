#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "runner/training/trained_steps.h"

namespace gradwire::runner {

/// What a run's learning depends on: the resolved scenario, its seed, and without the fields of the
/// network that change times alone. Empty where learning heeds time or what arrives (rounds,
/// asynchronous and late workers, pipelines' figures, udp-lossy, a collective chosen by its time),
/// and where nothing is trained.
std::string learning_key(const scenarios::Scenario& scenario);

/// The runs of a sweep that learn alike, and what was trained for them; for several threads.
class SharedTraining {
 public:
  explicit SharedTraining(std::span<const scenarios::Scenario> runs);

  /// Begins a run. False: another that learns alike is training; try again when one has ended.
  bool begin(const scenarios::Scenario& scenario);
  /// Ends it. What nobody else will need is forgotten.
  void end(const scenarios::Scenario& scenario);

  /// What was trained for it; null: nothing yet.
  std::shared_ptr<const TrainedSteps> find(const scenarios::Scenario& scenario) const;
  /// Whether another run would take what this one trains.
  bool is_wanted(const scenarios::Scenario& scenario) const;
  void keep(const scenarios::Scenario& scenario, std::shared_ptr<const TrainedSteps> trained);

 private:
  struct Group {
    int left = 0;  ///< runs that have not ended
    bool training = false;
    std::shared_ptr<const TrainedSteps> trained;
  };
  /// Null where no other run learns alike.
  Group* group_of(const scenarios::Scenario& scenario) const;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Group> groups_;  ///< by the key's hash
  std::map<const scenarios::Scenario*, Group*> of_run_;
};

}  // namespace gradwire::runner
