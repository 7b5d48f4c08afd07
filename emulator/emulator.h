#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/shaper/link_report.h"
#include "sim/cluster/cluster.h"
#include "sim/session/executor.h"

/// The emulator: a step graph is really executed by worker processes, one in a network namespace of
/// its own for each host, that exchange real bytes over the kernel's TCP across links that the
/// kernel shapes, or that a process makes (emulator/shaper). Its clock is the machine's; a second
/// of the graph is a second. See docs/emulator.md for what is real, what is not, and the limits.
namespace gradwire::emulator {

struct EmulatorOptions {
  sim::TransportSettings transport;  ///< congestion control and buffers are used
  /// Who makes the links. "tbf": the kernel's token buckets, a star's rates, queues and losses, and
  /// its delays where the kernel has netem; "netem": the same, refused where it has not; "link": a
  /// process, everything that links have, on any topology, where ways take 0.5 ms or more. "auto":
  /// the kernel, where it can make them whole or the process cannot at all.
  std::string shaper = "auto";
  std::uint64_t seed = 1;  ///< of the link process's losses and jitter
  /// Run the helper processes before others where the system lets us (root, or a real-time limit).
  bool raise_priority = true;
  /// Not empty: hosts are processes on machines of their own (`gradwire-emulator-hub rank`), that
  /// come to this "host:port", over whatever network is between them: nothing is shaped, and times
  /// are measured ones.
  std::string rendezvous = {};
  /// What goes wrong, as parse_incident() takes it (emulator/incident.h); a cut takes links that
  /// the link process makes.
  std::vector<std::string> incidents = {};
  /// Seconds without any news after which the run is killed; the longest operation's own duration
  /// comes on top. Set-up and questions between graphs may take 30 s whatever this says.
  Seconds wall_limit{120};
  /// time_gloo() will be called: its needs are looked for before anything is set up.
  bool gloo = false;
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

/// A host's clock, as round trips of control messages tell: so far ahead of the executor's, and how
/// far off that may be. What is within that is taken as none.
struct ClockOffset {
  Seconds ahead{0}, uncertainty{0};
};

/// What was really in effect.
struct EmulatorReport {
  std::string name_space;  ///< "user" (own user namespace) or "root"
  std::string
      priority;  ///< of the helper processes: as raise_priority() says (emulator/hub/priority.h)
  std::string shaper;    ///< "htb", "tbf" or "link"
  std::string delay_by;  ///< "netem", "the link process", or "none": not emulated
  std::string loss_by;   ///< "nftables", "the link process", or "none" where no link loses packets
  std::string congestion_control;  ///< the kernel's name
  std::vector<Bytes> burst;        ///< the shapers' token buckets, by host
  /// Round trips of a small TCP message between neighbours (host h to h + 1) after shaping, idle
  /// network; and the median of them all.
  std::vector<PairRtt> base_rtt;
  Seconds median_base_rtt{0};
  /// The median of what a base RTT has beyond what links do: wake-ups. As of a way of two links and
  /// back, as in a star; of other ways its share by the links that they cross.
  Seconds median_overhead{0};
  /// What the cluster's links have and the emulated ones have not; empty = all is emulated. The
  /// executor's provenance is then "partly emulated".
  std::vector<std::string> missing;
  std::vector<std::string> warnings;
  std::vector<std::string> incidents;  ///< what goes wrong, in words
  std::vector<std::string> machines;   ///< by host, addresses; empty: namespaces of this machine
  std::vector<ClockOffset> clocks;     ///< of those, by host
};

/// Payloads that arrived and were what had been sent, byte by byte.
struct PayloadCounts {
  std::int64_t messages = 0;
  Bytes own{0};      ///< a method's own messages
  Bytes pattern{0};  ///< of messages of which only the size was known
};

/// PyTorch's Gloo beside our own workers.
struct GlooTimes {
  std::string version;           ///< of PyTorch
  std::int64_t elements = 0;     ///< floats in all
  std::vector<Seconds> seconds;  ///< by turn, of the slowest rank
};

/// How long what the caller decided came after the instants that it reacted to: submissions while
/// something was under way, which real workers wait for.
struct Reactions {
  std::int64_t instants = 0;
  Seconds all{0}, most{0};
  double share = 0;  ///< of all hosts' time
};

class Emulator : public sim::Executor {
 public:
  virtual const EmulatorReport& report() const = 0;
  /// Median of `rounds` round trips of a small message; the network must be idle.
  virtual Seconds measure_base_rtt(int from_host, int to_host, int rounds) = 0;
  /// Runs a program on each host, by host, in its network namespace, all side by side; nothing else
  /// must be under way. What each wrote to its standard output. Throws Error(kFailure) where one
  /// fails, or is not done within `limit`; the emulator is then unusable.
  virtual std::vector<std::string> run_programs(
      const std::vector<std::vector<std::string>>& commands, Seconds limit) = 0;
  /// Gloo's times for what the latest graph with collectives exchanges, of its floats without any
  /// codec: the workers' hosts sum as many over all of them, one collective after the other, in
  /// their network namespaces, `turns` times. An element of the graph takes so many bytes there.
  /// Nothing: no graph had any. What run_programs() says holds. Throws Error(kCapability) where
  /// there is no PyTorch.
  virtual std::optional<GlooTimes> time_gloo(int turns, int element_bytes) = 0;
  /// What the link process has seen since the first graph was submitted.
  virtual LinkReport links() = 0;
  /// Why what was emulated is no measurement of the scenario's network: links were late, or missed
  /// frames, or workers waited for what the caller decided. "": it is one.
  virtual std::string why_invalid() = 0;
  /// So far, of operations that have ended.
  virtual PayloadCounts payloads() const = 0;
  virtual Reactions reactions() const = 0;
};

/// s: a run of which one frame in a hundred left the links later is invalid.
inline constexpr double kMostLateness = 1e-3;
/// So is one whose hosts waited for decisions for a larger share of their time.
inline constexpr double kMostReactions = 0.05;

/// Sets the network and the workers up, and measures the base RTT.
///
/// The thread that calls it must live as long as the executor: the helper processes end with it.
/// Event times never decrease; a timeline holds what was measured. advance() sleeps while something
/// is under way, and returns false for a finite `until` only when the clock has reached it. While
/// nothing is, the clock stands still: what the caller does between two graphs takes no time, as in
/// the simulators. Time 0 is when the first graph is submitted: schedules, traces and outages of
/// links begin then.
///
/// Ranks that do not come to a rendezvous are named within 10 s (Error(kFailure)).
///
/// Throws Error(kCapability) where namespaces are forbidden, a program or a kernel feature is
/// missing, or nothing here can make such links: it says what it could. Later calls throw
/// Error(kFailure) when a worker fails or nothing happens within the wall limit; the emulator is
/// then unusable, its processes are killed.
std::unique_ptr<Emulator> make_emulator(const sim::Cluster& cluster,
                                        const EmulatorOptions& options);

/// The module's symbol: make_emulator(), owned by the caller.
using EmulatorFactory = Emulator* (*)(const sim::Cluster&, const EmulatorOptions&);
inline constexpr const char* kEmulatorSymbol = "gradwire_make_emulator";

}  // namespace gradwire::emulator
