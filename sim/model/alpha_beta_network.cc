#include "sim/model/alpha_beta_network.h"

#include <algorithm>

#include "base/error.h"

namespace gradwire::sim {

AlphaBetaNetwork::AlphaBetaNetwork(const Cluster& cluster, const TransportSettings& transport)
    : cluster_(cluster),
      transport_(transport),
      channels_(static_cast<std::size_t>(cluster.channel_count())) {}

AlphaBetaNetwork::Connection& AlphaBetaNetwork::connect(int source, int destination) {
  const auto c = static_cast<std::size_t>(table_.find_or_add(source, destination));
  if (c == connections_.size()) {
    std::vector<ChannelId> route;
    cluster_.route(source, destination, route);
    const PathCost path(cluster_, route);
    connections_.push_back({path, std::move(route)});
  }
  return connections_[c];
}

void AlphaBetaNetwork::start(TransferId id, int source, int destination, Bytes payload) {
  GRADWIRE_ASSERT(payload.count() > 0);
  Connection& connection = connect(source, destination);
  const Bytes wire = wire_bytes(payload, transport_);
  const auto bytes = static_cast<double>(wire.count());
  const double begin = std::max(now_, connection.free_at);
  connection.free_at = begin + bytes / connection.path.line_rate;
  const double arrival =
      begin + connection.path.seconds(bytes, static_cast<double>(transport_.wire_segment.count()));
  connection.last_delivery = std::max(connection.last_delivery, arrival);
  for (const ChannelId channel : connection.route) {
    ChannelRecord& record = channels_[static_cast<std::size_t>(channel)];
    record.wire += wire;
    record.busy += Seconds(bytes * 8 / cluster_.nominal_rate(channel).value());
  }
  arrivals_.push({connection.last_delivery, 0, id, wire});
}

void AlphaBetaNetwork::cancel(TransferId id) {
  cancelled_.push_back(id);
}

void AlphaBetaNetwork::advance(Seconds until, std::vector<Delivery>& delivered) {
  const std::size_t before = delivered.size();
  while (!arrivals_.empty() && arrivals_.top().time <= until.value() &&
         (delivered.size() == before || arrivals_.top().time <= now_)) {
    const Arrival arrival = arrivals_.pop();
    const auto gone = std::find(cancelled_.begin(), cancelled_.end(), arrival.id);
    if (gone != cancelled_.end()) {
      cancelled_.erase(gone);
      continue;
    }
    now_ = std::max(now_, arrival.time);
    delivered.push_back({arrival.id, Seconds(now_), arrival.wire, 0, false});
  }
  if (delivered.size() == before && until < kForever) now_ = std::max(now_, until.value());
}

}  // namespace gradwire::sim
