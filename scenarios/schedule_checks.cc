#include "scenarios/schedule_checks.h"

#include "scenarios/repeated_checks.h"

namespace gradwire::scenarios {

void check_schedule(const Rules& rules) {
  const ScheduleChoice& schedule = rules.scenario.schedule;
  if (rules.scenario.workload.kind != WorkloadKind::kTraining || schedule.kind != "rounds") return;
  if (!rules.sound({"/schedule", "/cluster/workers"})) return;
  check_clients(rules, "/schedule", schedule.sample, schedule.drop_out, schedule.deadline,
                "flow or packet");
  if (schedule.local_epochs && *schedule.local_epochs == 0)
    rules.refuse("/schedule/local_epochs", "a client that does not train changes nothing", "> 0");
}

}  // namespace gradwire::scenarios
