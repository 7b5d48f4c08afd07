#include "trainers/schedules/beside_clock.h"

#include <algorithm>
#include <utility>

namespace gradwire::trainers {

BesideClock::BesideClock(Learner& learner)
    : learner_(learner),
      statistics_(learner.statistics().begin(), learner.statistics().end()),
      rows_(learner),
      passes_(learner.pool().threads()) {}

void BesideClock::begin_pass(int worker, Seconds due, SideThreads::Task pass) {
  passes_.begin(static_cast<SideThreads::Key>(worker), due, std::move(pass));
}

void BesideClock::wait_for_pass(int worker) {
  passes_.take(static_cast<SideThreads::Key>(worker));
  // Only its passes record them, and its next one has not begun.
  if (worker == 0) std::ranges::copy(learner_.statistics(), statistics_.begin());
}

void BesideClock::stop(scenarios::Session& session) {
  stop_passes();
  close_all(session);
}

void BesideClock::close(scenarios::StepReport report, std::vector<float> weights,
                        scenarios::Session& session) {
  rows_.add(std::move(report), std::move(weights), statistics_);
  rows_.close_ready(session);
}

}  // namespace gradwire::trainers
