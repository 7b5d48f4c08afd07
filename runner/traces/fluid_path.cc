#include "runner/traces/fluid_path.h"

#include <algorithm>
#include <cmath>

namespace gradwire::runner {
namespace {

constexpr double kWireSegment = 1538;  ///< bytes

}  // namespace

FluidPath::FluidPath(const sim::Cluster& cluster, int from, int to) {
  std::vector<sim::ChannelId> route;
  cluster.route(from, to, route);
  for (const sim::ChannelId channel : route)
    channels_.emplace_back(cluster.link_of(channel), channel, kWireSegment);
}

double FluidPath::pass(double time, double bytes) {
  while (time < kEndless_s) {
    double until = kEndless_s, rate = HUGE_VAL;
    for (sim::RateFollower& channel : channels_) {
      channel.advance(time);
      rate = std::min(rate, channel.rate());
      until = std::min(until, channel.next());
    }
    if (rate * (until - time) >= bytes) return time + bytes / rate;
    bytes -= rate * (until - time);
    time = until;
  }
  return time;
}

}  // namespace gradwire::runner
