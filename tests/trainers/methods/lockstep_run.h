#pragma once
#include <catch2/catch.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/trainers/support.h"
#include "trainers/schedules/synchronous/synchronous_trainer.h"

namespace gradwire::trainers {

/// A synchronous run of a scenario, whose passes are given times.
struct LockstepRun {
  std::unique_ptr<scenarios::Trainer> trainer;
  scenarios::StepPlan plan;

  explicit LockstepRun(const scenarios::Scenario& scenario, int threads = 1)
      : trainer(make_trainer(scenario, {.threads = threads})) {
    std::vector<std::int64_t> buckets;
    for (const BucketSlot& bucket : lockstep().layout().buckets()) buckets.push_back(bucket.count);
    trainer->use_profile(fixed_profile(buckets));
  }
  LockstepRun& steps(int count) {
    for (int i = 0; i < count; ++i) REQUIRE(trainer->next(plan));
    return *this;
  }
  const SynchronousTrainer& lockstep() const {
    return static_cast<const SynchronousTrainer&>(*trainer);
  }
  std::vector<float> weights() const {
    return {lockstep().weights().begin(), lockstep().weights().end()};
  }
  /// Empty: the run has no such figure.
  std::optional<double> figure(const std::string& name) const {
    for (const scenarios::Figure& figure : trainer->figures())
      if (figure.name == name) return figure.value;
    return {};
  }
};

}  // namespace gradwire::trainers
