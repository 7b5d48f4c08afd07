#pragma once
#include "sim/cluster/cluster.h"

namespace gradwire::runner {

/// 8 Mbps until `rest`, then nothing, in periods of 10 s.
inline sim::RateSchedulePtr resting_from(double rest) {
  return sim::RateSchedule::from_pieces(
      "resting", {{Seconds(0), BitsPerSecond(8e6)}, {Seconds(rest), BitsPerSecond(0)}},
      Seconds(10));
}

/// Workers whose way up repeats `up`, each `ahead` s further than the one before; .01 s one way.
inline sim::Cluster resting_star(int workers, const sim::RateSchedulePtr& up, double ahead,
                                 int servers) {
  sim::LinkSpec link;
  link.rate = BitsPerSecond(8e6);
  link.delay = Seconds(0.01);
  sim::LinkSpec wide;
  wide.rate = BitsPerSecond(1e12);
  wide.delay = Seconds(0);
  sim::Cluster cluster = servers > 0 ? sim::Cluster::star(workers, link, servers, wide)
                                     : sim::Cluster::star(workers, link);
  link.schedule = up;
  for (int worker = 0; worker < workers; ++worker) {
    link.schedule_offset = Seconds(ahead * worker);
    cluster.change_link(worker, link);
  }
  return cluster;
}

}  // namespace gradwire::runner
