#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "results/prediction/step_model.h"

namespace gradwire::results {

/// The closed form of one kind of exchange in a step (step_model.h), for messages of any size: what
/// does not depend on the size is worked out once. `step` must outlive it.
class ExchangeForm {
 public:
  ExchangeForm(const StepSummary& step, ExchangeKind kind, const StepConstants& constants);
  /// Seconds, without the step's correction.
  double time(double message_bytes) const;
  /// Seconds of compute that a ring hides at most where k of its n links are slower than the
  /// others: the last transfers that a worker waits for have come by them n / k - 1 hops earlier,
  /// and its next step begins while its own link works on. 0 where none is slower, or hops follow
  /// the ring's. (Two slow links of one host hide less where compute is longer than half of that.)
  double lead(double message_bytes) const;

 private:
  /// A HopPath in seconds and bytes.
  struct Path {
    double bandwidth, shared, latency, forwarding, delay, loss;
    double workers;  ///< whose paths are alike
    double root_loss;
    double many;  ///< share of what waits among very many workers
  };
  Path path_of(const HopPath& factors) const;
  /// Of a hop, by its number.
  std::span<const Path> paths_of(std::size_t hop) const;
  double hop_time(const Hops& hops, const Path& path, double bytes) const;
  /// What one of the hops moves, that takes `fluid` seconds where nothing is lost.
  double lossy_hop(const Hops& hops, const Path& path, double segments, double fluid) const;
  /// What a timeout delays a ring whose hops take `moving` beside the latency. Those who wait for
  /// it have each lost `lost_tails` of the last segments that they sent: then they time out as
  /// well, and go on with a window of one segment, for which the acknowledgement is delayed.
  double stall_of_ring(const Path& path, double moving, double lost_tails) const;
  /// Waiting for what is lost at the end of the last of hops on the same connections.
  double last_timeouts(const Hops& hops, const Path& path, double message_bytes) const;

  const StepSummary& step_;
  const StepConstants& constants_;
  std::vector<Hops> hops_;
  std::vector<Path> paths_;         ///< of all hops, one after the other; empty: all are common_
  std::vector<std::size_t> begin_;  ///< [hops + 1] in paths_
  double slow_;                     ///< the slowest link's time over the mean
  double growth_;                   ///< congestion
  double headers_;                  ///< bytes of a full segment
  double acknowledgements_;         ///< bytes over those of the data that they are for
  double efficiency_;               ///< payload over line rate, where nothing comes the other way
  Path common_;                     ///< where all links are alike
};

}  // namespace gradwire::results
