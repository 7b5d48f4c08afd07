#pragma once
#include <sys/types.h>

#include <chrono>
#include <map>
#include <span>
#include <vector>

#include "base/units.h"

/// What /proc tells about the processes of a script, and ending all of them.
namespace gradwire::bridge {

/// What a process and those below it have used of processors so far, and whether it itself is
/// stopped (by a signal or a debugger).
struct ProcessUse {
  Seconds cpu{0};
  bool stopped = false;
};
/// By process, from one look at all of them; those that are gone are missing.
std::map<pid_t, ProcessUse> process_uses(std::span<const pid_t> processes);

/// The processes below `ancestor` that are no zombies yet, in no order.
std::vector<pid_t> descendants_of(pid_t ancestor);

/// While it lives, processes whose parents die become this process's children, so that nobody of a
/// family gets out of reach. One at a time.
class FamilyKeeper {
 public:
  FamilyKeeper();
  ~FamilyKeeper();
  FamilyKeeper(const FamilyKeeper&) = delete;
  FamilyKeeper& operator=(const FamilyKeeper&) = delete;

  /// SIGTERM to all processes below this one, SIGKILL to those that are still there after `grace`,
  /// until nobody is left. `spare` is not reaped here: it has an owner.
  void end_all(std::chrono::milliseconds grace, pid_t spare) const;

 private:
  int before_ = 0;
};

}  // namespace gradwire::bridge
