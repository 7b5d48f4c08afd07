#include "emulator/hub/priority.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace gradwire::emulator {
namespace {

/// Of the kernel's struct sched_attr, what its first version had (linux/sched/types.h).
struct Attributes {
  std::uint32_t size = sizeof(Attributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;  ///< ns; of ordinary processes the slice that they ask for
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
};
static_assert(sizeof(Attributes) == 48);

/// ns, the least that the kernel knows. Who asks for less at once runs sooner when it wakes up, and
/// gets no more in all.
constexpr std::uint64_t kShortSlice = 100'000;

/// Linux 6.12 and later; earlier ones pass over it. Needs no right.
bool take_short_slices() {
  Attributes wanted, got;
  wanted.nice = ::getpriority(PRIO_PROCESS, 0);
  wanted.runtime = kShortSlice;
  return ::syscall(SYS_sched_setattr, 0, &wanted, 0) == 0 &&
         ::syscall(SYS_sched_getattr, 0, &got, sizeof got, 0) == 0 && got.runtime == kShortSlice;
}

}  // namespace

std::string raise_priority() {
  sched_param parameters{};
  parameters.sched_priority = 1;
  if (::sched_setscheduler(0, SCHED_RR, &parameters) == 0) return "real-time";
  const bool raised = ::setpriority(PRIO_PROCESS, 0, -10) == 0;
  const bool slices = take_short_slices();
  if (raised) return "raised";
  return slices ? "short slices" : "normal";
}

void rise_above_workers() {
  if (::sched_getscheduler(0) != SCHED_RR) return;
  sched_param parameters{};
  parameters.sched_priority = 2;
  ::sched_setscheduler(0, SCHED_RR, &parameters);
}

void Urgency::raise() {
  if (raised_) return;
  raised_ = true;
  sched_param parameters{};
  parameters.sched_priority = 1;
  if (::sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &parameters) != 0)
    take_short_slices();
}

void Urgency::lower() {
  if (!raised_) return;
  raised_ = false;
  sched_param parameters{};
  ::sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &parameters);
}

}  // namespace gradwire::emulator
