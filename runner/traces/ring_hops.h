#pragma once
#include <vector>

#include "runner/traces/fluid_path.h"
#include "sim/transport/transport_settings.h"

namespace gradwire::runner {

/// A hop of a ring: each worker sends `bytes` of payload to the next one, `pause` seconds after it
/// has received the hop before. No worker waits for any but the one before it.
struct RingHop {
  double bytes = 0;
  double pause = 0;
};

/// A ring over links as fluids. Worker r has hop k, D(r) being its path to the next:
///
///     sent(r, k) = D(r).pass(max(T(r, k - 1) + pause, sent(r, k - 1)), bytes of k)
///     T(r + 1, k) = sent(r, k) + delay
///
/// A hop's bytes follow the last hop's at once where those have only just left.
class FluidRing {
 public:
  /// `cluster` must outlive it.
  FluidRing(const sim::Cluster& cluster, int workers, double delay_s);
  /// s, the mean over workers of when they have received the next hop.
  double receive(const RingHop& hop);

 private:
  std::vector<FluidPath> paths_;
  double delay_;
  std::vector<double> sent_, times_, next_;  ///< s, [worker]
};

/// The same by the flow executor, with TCP on connections that stay: s, the mean over workers of
/// when they have received each hop, of as many hops from the first on as `most_work` allows
/// (affordable() in sampled_messages.h).
std::vector<double> received_by_flow(const sim::Cluster& cluster,
                                     const sim::TransportSettings& transport, int workers,
                                     const std::vector<RingHop>& hops, double most_work);

}  // namespace gradwire::runner
