#pragma once
#include "results/prediction/step_model.h"

namespace gradwire::results {

/// The closed form of one kind of exchange in a step (step_model.h), for messages of any size: what
/// does not depend on the size is worked out once. `step` must outlive it.
class ExchangeForm {
 public:
  ExchangeForm(const StepSummary& step, ExchangeKind kind, const StepConstants& constants);
  /// Seconds, without the step's correction.
  double time(double message_bytes) const;

 private:
  double hop_time(const Hops& hops, double bytes) const;
  /// What one of the hops moves, that takes `fluid` seconds where nothing is lost.
  double lossy_hop(const Hops& hops, double segments, double fluid) const;
  /// What a timeout delays a ring whose hops take `moving` beside the latency. Those who wait for
  /// it have each lost `lost_tails` of the last segments that they sent: then they time out as
  /// well, and go on with a window of one segment, for which the acknowledgement is delayed.
  double stall_of_ring(double moving, double lost_tails) const;
  /// Waiting for what is lost at the end of the last of hops on the same connections.
  double last_timeouts(const Hops& hops, double message_bytes) const;

  const StepSummary& step_;
  const StepConstants& constants_;
  std::vector<Hops> hops_;
  double slow_;              ///< the slowest link's time over the mean
  double growth_;            ///< congestion
  double headers_;           ///< bytes of a full segment
  double acknowledgements_;  ///< bytes over those of the data that they are for
  double efficiency_;        ///< payload over line rate, where nothing comes the other way
  double root_loss_;
  double many_;  ///< share of what waits among very many workers
};

}  // namespace gradwire::results
