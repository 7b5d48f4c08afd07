#include "runner/training/schedule_driver.h"

#include <algorithm>

#include "runner/record/run_description.h"

namespace gradwire::runner {
namespace {

/// As people count: the first is 1.
std::string step_after(std::int64_t steps) {
  return std::to_string(steps + 1);
}

}  // namespace

void ScheduleDriver::advance(scenarios::Schedule& schedule, scenarios::Session& session,
                             std::int64_t steps) {
  events_.clear();
  const Seconds limit = own_.next_wake();
  const Seconds until = std::min(limit, next_sample());
  const bool more = executor_.advance(until, events_);
  for (const sim::Event& event : events_) react(event, schedule, session, steps);
  if (sampler_) sampler_->observe(executor_);
  quiet_ = more || !events_.empty() ? 0 : quiet_ + 1;
  if (quiet_ == 0 || until < limit) return;
  if (limit < sim::kForever && executor_.now() >= limit && own_.wake(schedule, session)) return;
  throw sim::SimError("finish step", step_after(steps),
                      "nothing is left to happen, but " + own_.describe_unfinished() +
                          gone_workers(scenario_, executor_.now()),
                      "check the links' outages, and who is absent");
}

/// Where `flow` stops for a look at its links, which changes nothing for it; not for ever where
/// nothing happens. ns-3 would have to be asked, and is not.
Seconds ScheduleDriver::next_sample() const {
  constexpr int kMostQuiet = 512;
  const bool stops = sampler_ && executor_.name() == "flow" && quiet_ < kMostQuiet;
  return stops ? sampler_->next(executor_) : sim::kForever;
}

void ScheduleDriver::react(const sim::Event& event, scenarios::Schedule& schedule,
                           scenarios::Session& session, std::int64_t steps) {
  const bool failed = event.kind == sim::EventKind::kTransferFailed;
  if (failed && !schedule.survives_failures())
    throw sim::SimError("finish step", step_after(steps),
                        "a transfer to host " + std::to_string(event.host) +
                            " failed: it met the time limit or can never finish" +
                            gone_workers(scenario_, event.time),
                        "check the links' rates and losses, and who is absent");
  schedule.on(event, session);
}

}  // namespace gradwire::runner
