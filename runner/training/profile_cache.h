#pragma once
#include <map>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>

#include "scenarios/trainer.h"

namespace gradwire::runner {

/// Whether a field of a scenario decides what one worker's passes and codecs take.
bool decides_profile(std::string_view pointer);

/// What a run's compute times depend on: the resolved scenario without the fields that do not
/// decide them. `trainer` is the scenario's, which knows what an open collective came to.
std::string profile_key(const scenarios::Scenario& scenario, const scenarios::Trainer& trainer);

/// Frozen compute times by what they depend on. A measurement has the process to itself: it waits
/// until no run trains, and no run trains before it is done.
class ProfileCache {
 public:
  /// Gives the trainer the times under `key`, or lets it measure and keeps the result.
  const scenarios::ComputeProfile& prepare(const std::string& key, scenarios::Trainer& trainer) {
    const std::lock_guard lock(mutex_);
    if (const auto found = profiles_.find(key); found != profiles_.end()) {
      trainer.use_profile(found->second);
      return trainer.prepare();
    }
    const std::unique_lock quiet(training_);
    const scenarios::ComputeProfile& profile = trainer.prepare();
    profiles_.insert_or_assign(key, profile);
    return profile;
  }

  /// Held by a run while it trains.
  std::shared_lock<std::shared_mutex> training() { return std::shared_lock(training_); }

 private:
  std::mutex mutex_;
  std::shared_mutex training_;
  std::map<std::string, scenarios::ComputeProfile> profiles_;
};

}  // namespace gradwire::runner
