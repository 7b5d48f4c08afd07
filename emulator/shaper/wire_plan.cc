#include "emulator/shaper/wire_plan.h"

#include <algorithm>

#include "base/error.h"
#include "sim/flow/queues/codel.h"

namespace gradwire::emulator {
namespace {

Seconds delay_of(const sim::Cluster& cluster, const std::vector<int>& route) {
  Seconds delay{0};
  for (const int id : route) delay = delay + cluster.channel(id).delay;
  return delay;
}

template <class Each>
void for_pairs(int hosts, Each each) {
  for (int source = 0; source < hosts; ++source)
    for (int destination = 0; destination < hosts; ++destination)
      if (source != destination) each(source, destination);
}

/// "the way from host 0 to host 1 is 100 us long, ..."; "": all are long enough.
std::string short_way(const sim::Cluster& cluster) {
  std::string flaw;
  for_pairs(cluster.host_count(), [&](int source, int destination) {
    const Seconds delay = delay_of(cluster, wire_route_of(cluster, source, destination));
    if (flaw.empty() && delay.value() < kLeastDelay)
      flaw = "from host " + std::to_string(source) + " to host " + std::to_string(destination) +
             " it is " + format_duration(delay) +
             ", and frames that are handed over by a process " + "need " +
             format_duration(Seconds(kLeastDelay)) + " or more";
  });
  return flaw;
}

}  // namespace

std::vector<int> wire_route_of(const sim::Cluster& cluster, int source, int destination) {
  std::vector<sim::ChannelId> route;
  cluster.route(source, destination, route);
  return {route.begin(), route.end()};
}

WireNetwork::Channel wire_channel_of(const sim::Cluster& cluster, sim::ChannelId id,
                                     const sim::TransportSettings& transport) {
  const sim::LinkSpec& link = cluster.channel(id);
  WireNetwork::Channel channel;
  channel.rate = cluster.nominal_rate(id).value() / 8;
  channel.delay = link.delay.value();
  channel.loss = link.loss;
  channel.jitter = link.jitter.value();
  channel.burst = link.burst;
  channel.schedule = cluster.link_of(id).schedule(id);
  channel.schedule_offset = link.schedule_offset.value();
  channel.outages = link.outages;
  channel.limit = static_cast<double>(link.queue.count());
  const double segment = static_cast<double>(transport.wire_segment.count()) / channel.rate;
  channel.codel = sim::codel_times(segment, transport.constants);
  return channel;
}

std::string wire_flaw(const sim::Cluster& cluster) {
  if (!cluster.cells().empty()) return "it has radio cells";
  if (cluster.host_count() > kMostWireHosts)
    return "it has more than " + std::to_string(kMostWireHosts) + " hosts";
  for (const sim::Link& link : cluster.links())
    if (link.spec.half_duplex) return "a link is half-duplex";
  return short_way(cluster);
}

WirePlan plan_wires(const sim::Cluster& cluster, const sim::TransportSettings& transport,
                    std::uint64_t seed) {
  GRADWIRE_ASSERT(wire_flaw(cluster).empty());
  WirePlan plan;
  plan.hosts = cluster.host_count();
  plan.seed = seed;
  for (int id = 0; id < cluster.channel_count(); ++id) {
    plan.channels.push_back(wire_channel_of(cluster, id, transport));
    plan.channels.back().fair = true;
  }
  for_pairs(plan.hosts, [&](int source, int destination) {
    plan.routes.push_back({source, destination, wire_route_of(cluster, source, destination)});
  });
  return plan;
}

std::vector<std::int32_t> WirePlan::routes_by_pair() const {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(hosts * hosts), -1);
  for (std::size_t r = 0; r < routes.size(); ++r)
    numbers[static_cast<std::size_t>(routes[r].source * hosts + routes[r].destination)] =
        static_cast<std::int32_t>(r);
  return numbers;
}

WireNetwork WirePlan::network() const {
  std::vector<std::vector<int>> ways;
  for (const Route& route : routes) ways.push_back(route.channels);
  return WireNetwork(channels, std::move(ways), seed);
}

double WirePlan::load() const {
  std::vector<bool> first(channels.size()), last(channels.size());
  for (const Route& route : routes) {
    if (route.channels.empty()) continue;
    first[static_cast<std::size_t>(route.channels.front())] = true;
    last[static_cast<std::size_t>(route.channels.back())] = true;
  }
  double sent = 0, received = 0;
  for (std::size_t id = 0; id < channels.size(); ++id) {
    sent += first[id] ? 8 * channels[id].rate : 0;
    received += last[id] ? 8 * channels[id].rate : 0;
  }
  return std::min(sent, received);
}

}  // namespace gradwire::emulator
