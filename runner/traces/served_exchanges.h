#pragma once
#include <vector>

#include "runner/traces/fluid_path.h"
#include "sim/transport/transport_settings.h"

namespace gradwire::runner {

/// All workers push to the server, each `pause` seconds after it has pulled the last time; the
/// server answers all of them once it has every push. Bytes of payload of one worker's messages.
struct ServedExchange {
  double push = 0;
  double pull = 0;
  double pause = 0;
};

/// Exchanges as fluids: over each worker's links as if it were alone, and over the server's link at
/// its bandwidth B for all n workers' bytes, whichever is later:
///
///     pushed = max(min T(w) + n push / B, max over w of there(w).pass(T(w) + pause, push)) + delay
///     T(w)   = max(pushed + n pull / B, back(w).pass(pushed, pull)) + delay
class FluidServer {
 public:
  /// `cluster` must outlive it. The server is the node after `workers` of them. `bandwidth`:
  /// bytes/s of its link; 0: any.
  FluidServer(const sim::Cluster& cluster, int workers, double delay_s, double bandwidth);
  /// s, the mean over workers of when they have pulled the next exchange.
  double receive(const ServedExchange& exchange);

 private:
  /// s, of all workers' messages on the server's link.
  double shared(double bytes) const;

  std::vector<FluidPath> there_, back_;
  double delay_, bandwidth_;
  std::vector<double> times_;  ///< s, [worker]
};

/// The same by the flow executor, with TCP and what workers take from one another: s, the mean over
/// workers of when they have pulled each exchange, of as many from the first on as `most_work`
/// allows (affordable() in sampled_messages.h).
std::vector<double> received_by_flow(const sim::Cluster& cluster,
                                     const sim::TransportSettings& transport, int workers,
                                     const std::vector<ServedExchange>& exchanges,
                                     double most_work);

}  // namespace gradwire::runner
