#include "emulator/hub/priority.h"

#include <sched.h>
#include <sys/resource.h>

namespace gradwire::emulator {

std::string raise_priority() {
  sched_param parameters{};
  parameters.sched_priority = 1;
  if (::sched_setscheduler(0, SCHED_RR, &parameters) == 0) return "real-time";
  return ::setpriority(PRIO_PROCESS, 0, -10) == 0 ? "raised" : "normal";
}

void rise_above_workers() {
  if (::sched_getscheduler(0) != SCHED_RR) return;
  sched_param parameters{};
  parameters.sched_priority = 2;
  ::sched_setscheduler(0, SCHED_RR, &parameters);
}

}  // namespace gradwire::emulator
