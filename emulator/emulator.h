#pragma once
#include <memory>
#include <string>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/session/executor.h"

/// The emulator: a step graph is really executed by worker processes, one in a network namespace of
/// its own for each host, that exchange real bytes over the kernel's TCP across shaped veth links.
/// Its clock is the machine's; a second of the graph is a second. See docs/emulator.md for what is
/// real, what is not, and the limits.
namespace gradwire::emulator {

struct EmulatorOptions {
  sim::TransportSettings transport;  ///< congestion control and buffers are used
  std::string shaper = "auto";       ///< "htb", "tbf" or "auto": htb where the kernel has it
  /// Run the helper processes before others where the system lets us (root, or a real-time limit).
  bool raise_priority = true;
  /// Seconds without any news after which the run is killed; the longest operation's own duration
  /// comes on top. Set-up and questions between graphs may take 30 s whatever this says.
  Seconds wall_limit{120};
  int rtt_rounds =
      100;  ///< round trips a pair that measure the base RTT (15 at most where packets are lost)
  /// Path of gradwire-emulator-hub; empty = $GRADWIRE_EMULATOR_PROGRAM, or beside the running
  /// program.
  std::string program;
};

struct PairRtt {
  int from = 0;
  int to = 0;
  Seconds median{0};
};

/// What was really in effect.
struct EmulatorReport {
  std::string name_space;          ///< "user" (own user namespace) or "root"
  std::string priority;            ///< of the helper processes: "real-time", "raised" or "normal"
  std::string shaper;              ///< "htb" or "tbf"
  bool netem = false;              ///< link delays were emulated by netem
  std::string loss_by;             ///< "nftables", or "none" where no link loses packets
  std::string congestion_control;  ///< the kernel's name
  std::vector<Bytes> burst;        ///< the shapers' token buckets, by host
  /// Round trips of a small TCP message between neighbours (host h to h + 1) after shaping, idle
  /// network; and the median of them all.
  std::vector<PairRtt> base_rtt;
  Seconds median_base_rtt{0};
  /// The median of what a base RTT has beyond the link delays that are emulated: wake-ups.
  Seconds median_overhead{0};
  /// What the cluster's links have and the emulated ones have not; empty = all is emulated. The
  /// executor's provenance is then "partly emulated".
  std::vector<std::string> missing;
  std::vector<std::string> warnings;
};

class Emulator : public sim::Executor {
 public:
  virtual const EmulatorReport& report() const = 0;
  /// Median of `rounds` round trips of a small message; the network must be idle.
  virtual Seconds measure_base_rtt(int from_host, int to_host, int rounds) = 0;
};

/// Sets the network and the workers up, and measures the base RTT. The cluster must be a star.
///
/// The thread that calls it must live as long as the executor: the helper processes end with it.
/// Event times never decrease; a timeline holds what was measured. advance() sleeps, and returns
/// false for a finite `until` only when the clock has reached it.
///
/// Throws Error(kCapability) where namespaces are forbidden, a program or a kernel feature is
/// missing, or the topology is not a star. Later calls throw Error(kFailure) when a worker fails or
/// nothing happens within the wall limit; the emulator is then unusable, its processes are killed.
std::unique_ptr<Emulator> make_emulator(const sim::Cluster& cluster,
                                        const EmulatorOptions& options);

/// The module's symbol: make_emulator(), owned by the caller.
using EmulatorFactory = Emulator* (*)(const sim::Cluster&, const EmulatorOptions&);
inline constexpr const char* kEmulatorSymbol = "gradwire_make_emulator";

}  // namespace gradwire::emulator
