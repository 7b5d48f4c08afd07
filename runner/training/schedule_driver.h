#pragma once
#include <cstdint>
#include <vector>

#include "runner/record/link_sampler.h"
#include "runner/run_session.h"
#include "scenarios/scenario.h"

namespace gradwire::runner {

/// Takes an executor from instant to instant, and tells a schedule what happens.
class ScheduleDriver {
 public:
  /// `sampler`: looks at the links at these instants, and at some between them; null: nobody does.
  /// All must outlive it.
  ScheduleDriver(const scenarios::Scenario& scenario, sim::Executor& executor, RunSession& own,
                 LinkSampler* sampler)
      : scenario_(scenario), executor_(executor), own_(own), sampler_(sampler) {}

  /// On to the next instant at which something happens, and what it does to the schedule, which
  /// works with `session`: the own one, or one that hands on to it. `steps` are done. Throws
  /// SimError where a transfer has failed that the schedule does not survive, or nothing is left to
  /// happen.
  void advance(scenarios::Schedule& schedule, scenarios::Session& session, std::int64_t steps);

 private:
  Seconds next_sample() const;
  void react(const sim::Event& event, scenarios::Schedule& schedule, scenarios::Session& session,
             std::int64_t steps);

  const scenarios::Scenario& scenario_;
  sim::Executor& executor_;
  RunSession& own_;
  LinkSampler* sampler_;
  std::vector<sim::Event> events_;
  int quiet_ = 0;  ///< stops in a row at which nothing happened
};

}  // namespace gradwire::runner
