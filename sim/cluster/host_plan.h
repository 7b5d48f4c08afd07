#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace gradwire::sim {

/// How a host behaves beside what it is told to do.
struct HostPlan {
  /// Each operation on a lane takes exp(s z - s^2 / 2) times its time, z standard normal, s this:
  /// a mean of 1 and a coefficient of variation of about s.
  double spread = 0;
  /// The host is away: its lanes stand still, nothing passes its links, and all goes on afterwards
  /// where it stopped. Ascending, apart; an end of kNeverReturns: it does not come back.
  struct Absence {
    Seconds begin{0};
    Seconds end{0};
  };
  std::vector<Absence> absences;

  bool is_plain() const { return spread == 0 && absences.empty(); }
};

inline constexpr Seconds kNeverReturns{1e300};

/// Throws SimError, calling the host `subject`, for a plan that cannot be.
void check_host_plan(const std::string& subject, const HostPlan& plan);

/// How long an operation of `seconds` of a host takes; a draw keyed by (seed, host, graph, op).
double spread_seconds(const HostPlan& plan, double seconds, std::uint64_t seed, std::uint32_t host,
                      std::uint64_t graph, std::uint32_t op);

/// When work of `seconds` that starts at `now` is done, by the host's absences; infinity: never.
double end_of_work(const HostPlan& plan, double now, double seconds);

}  // namespace gradwire::sim
