#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/session/executor.h"

/// Experiments that run alike on every executor, to hold one against another.
namespace gradwire::bench {

/// Transfers of one ordered pair of hosts, one after the other.
struct Chain {
  int source = 0;
  int destination = 1;
  Bytes bytes{0};
  Seconds start{0};  ///< of rounds with a deadline: after the round's begin
};

struct Experiment {
  std::string name;
  sim::Cluster cluster;
  sim::ExecutorOptions options = {};
  std::vector<Chain> chains = {};
  /// In place of chains: this collective, with messages of `collective_bytes` where it wants sizes.
  std::optional<sim::CollectiveSpec> collective = {};
  Bytes collective_bytes{0};
  int repeats = 3;        ///< transfers of a chain; the first on a new connection
  Seconds gap{0};         ///< from the end of a transfer to the start of the chain's next
  bool together = false;  ///< all chains start a repeat together, when all have ended the last
  /// Together only: what has not ended by then in its repeat is cut off, and counts as that long.
  std::optional<Seconds> deadline = {};
  /// The mean over a repeat's transfers is compared beside its makespan.
  bool means = false;
  /// Not 0: chains (of a collective its members) begin their first repeat up to 2 us later, drawn
  /// from it. Not with a deadline.
  std::uint64_t shift = 0;
};

/// Seconds of each transfer (or collective), by [chain][repeat]; with a deadline from the repeat's
/// begin.
using Times = std::vector<std::vector<double>>;

/// Throws what the executor throws.
Times run_experiment(const Experiment& experiment, std::string_view executor, std::uint64_t seed);

/// ns-3's events of one such run, forecast (sim/packet/packet_estimate.h).
double packet_events(const Experiment& experiment);

/// By repeat: from the start of its first transfer to the end of its last. Together only.
std::vector<double> makespans(const Experiment& experiment, std::string_view executor,
                              std::uint64_t seed);
/// What of a clean experiment is compared: makespans, and then means by repeat where it asks for
/// them; with a deadline, means alone.
std::vector<double> clean_figures(const Experiment& experiment, std::string_view executor,
                                  std::uint64_t seed);

}  // namespace gradwire::bench
