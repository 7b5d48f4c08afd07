#pragma once
#include <optional>
#include <vector>

#include "results/prediction/step_summary.h"
#include "scenarios/scenario.h"
#include "scenarios/trainer.h"

namespace gradwire::runner {

/// A scenario's steps on its executor, without a store: for what compares many small runs.
struct StepTimes {
  std::vector<double> ends;    ///< virtual time (s) at which each step ended
  scenarios::StepRange usual;  ///< scenarios::Trainer::usual_steps
  /// Empty where no closed form describes the exchange.
  std::optional<results::StepSummary> summary;
  /// What simulating them took, the same on every machine: transfers, and packets on the wire.
  std::int64_t transfers = 0, packets = 0;
  /// Seconds of each step but the first, whose connections are fresh. Empty with a single step.
  std::vector<double> warm() const;
  /// Mean seconds of the usual steps; 0: there are none.
  double usual_mean() const;
};
/// Multiples of what the scenario says: of every wire's rate (schedules are left) and delay, and of
/// every message's bytes.
struct StepChanges {
  double rates = 1;
  double delays = 1;
  double messages = 1;
};
StepTimes time_steps(const scenarios::Scenario& scenario, const StepChanges& changes = {});

}  // namespace gradwire::runner
