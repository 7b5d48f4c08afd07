#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"

/// What goes wrong in an emulation because it was asked to.
namespace gradwire::emulator {

enum class IncidentKind {
  kKill,   ///< the host's process ends (SIGKILL), and with it the run
  kPause,  ///< the host's process stands still; its kernel goes on
  kCut,    ///< the host's links carry nothing, both ways; what is sent waits before them
};

struct Incident {
  IncidentKind kind = IncidentKind::kKill;
  int host = 0;      ///< workers, then servers
  Seconds at{0};     ///< of the executor's clock
  Seconds lasts{0};  ///< 0: for good
};

/// "kill:1@2s", "pause:0@1.5s+500ms", "cut:2@1s+1s". Throws Error(kUsage) saying how they are
/// written.
Incident parse_incident(std::string_view text);
/// "host 1 is paused at 1.50 s, for 500 ms".
std::string words_of(const Incident& incident);
/// The cluster with the links' cuts. Throws Error(kUsage) where an incident is of a host that it
/// has not.
sim::Cluster with_cuts(const sim::Cluster& cluster, const std::vector<Incident>& incidents);

/// Signals to processes, each at its time.
class IncidentPlan {
 public:
  IncidentPlan() = default;
  /// `pids`: by host.
  IncidentPlan(const std::vector<Incident>& incidents, const std::vector<int>& pids);
  /// Sends those that are due at `now`.
  void fire(Seconds now);
  /// When the next one is due; kForever: none is left.
  Seconds next() const;
  /// The executor's clock stands still: who is paused goes on, since it must answer what the
  /// executor asks between graphs, and would be told to go on at a time that the clock does not
  /// reach.
  void clock_stopped();
  /// The clock goes on: who was paused is so again.
  void clock_started();

 private:
  struct Signal {
    Seconds at{0};
    int pid = 0;
    int number = 0;
  };
  std::vector<Signal> signals_;  ///< the latest first
  std::vector<int> paused_;      ///< processes, by the clock
};

}  // namespace gradwire::emulator
