#include "scenarios/schedule_checks.h"

#include "scenarios/repeated_checks.h"
#include "sim/sim_error.h"

namespace gradwire::scenarios {

namespace {

void check_graph(const Rules& rules) {
  if (!rules.sound({"/schedule", "/cluster/workers"})) return;
  const ScheduleChoice& schedule = rules.scenario.schedule;
  try {
    gossip_mixing(rules.scenario);
  } catch (const sim::SimError& error) {
    rules.refuse(schedule.graph == "explicit" ? "/schedule/edges" : "/schedule/graph",
                 error.what());
  }
  if (rules.sound({"/workload/steps"}) && schedule.final_mixing >= rules.scenario.workload.steps)
    rules.refuse("/schedule/final_mixing", "no step would learn anything",
                 "less than /workload/steps");
}

}  // namespace

void check_schedule(const Rules& rules) {
  const ScheduleChoice& schedule = rules.scenario.schedule;
  if (rules.scenario.workload.kind != WorkloadKind::kTraining) return;
  if (schedule.kind == "gossip") return check_graph(rules);
  if (schedule.kind != "rounds") return;
  if (!rules.sound({"/schedule", "/cluster/workers"})) return;
  check_clients(rules, "/schedule", schedule.sample, schedule.drop_out, schedule.deadline,
                "flow or packet");
  if (schedule.local_epochs && *schedule.local_epochs == 0)
    rules.refuse("/schedule/local_epochs", "a client that does not train changes nothing", "> 0");
}

}  // namespace gradwire::scenarios
