// Ways with a queue that has a limit: packet by packet, as ns-3 has them (tcp/shared_queue.h).
#include <algorithm>
#include <span>
#include <vector>

#include "sim/cluster/link_kind.h"
#include "sim/flow/flow_network.h"

namespace gradwire::sim {
/// Whether connections over a queue with a limit are followed through the queues of all links on
/// their way, packet by packet, and so are their acknowledgements: such a queue is first come,
/// first served, whoever's packets it has. Media, whose links take turns, are not followed.
bool FlowNetwork::may_follow_all() const {
  if (transport_.protocol != TransportSettings::Protocol::kTcp ||
      transport_.congestion_control == TransportSettings::CongestionControl::kBbr ||
      transport_.constants.kernel_recovery)
    return false;
  if (std::ranges::any_of(medium_of_, [](ChannelId medium) { return medium >= 0; })) return false;
  for (ChannelId id = 0; id < cluster_.channel_count(); ++id)
    if (cluster_.channel(id).queue.count() > 0) return true;
  return false;
}

/// The queue with a limit before the channel; null: there is none.
SharedQueue* FlowNetwork::shared_queue_on(ChannelId id, const StreamPath& path) {
  const LinkSpec& spec = cluster_.channel(id);
  if (spec.queue.count() <= 0) return nullptr;
  auto& queue = shared_queues_[static_cast<std::size_t>(id)];
  if (queue) return queue.get();
  queue = std::make_shared<SharedQueue>(static_cast<double>(spec.queue.count()),
                                        path.discipline.framing);
  if (!is_plain(cluster_.link_of(id).spec)) queue->set_without_place();
  if (const std::int32_t f = follower_on(id); f >= 0)
    queue->set_wire(followers_[static_cast<std::size_t>(f)]);
  return queue.get();
}

/// The stream, which has sent nothing, goes through all queues of its way.
void FlowNetwork::follow_all(Connection& connection) {
  const auto c = static_cast<std::int32_t>(&connection - connections_.data());
  const StreamPath& path = *connection.path;
  const auto place_on = [&](ChannelId id, SharedQueue* shared) {
    const double rate = cluster_.nominal_rate(id).value() / 8;
    const bool is_own = !is_plain(cluster_.link_of(id).spec);
    const double follows = is_own ? 0 : std::min(kFollowingBytes, headers_) / rate;
    return TcpStream::Place{nullptr, -1, shared, rate,
                            cluster_.channel(id).delay.value() - follows};
  };
  // Of two events of one instant that is first which was begun first: a packet's arrival when it
  // was sent on the link before, the end of another one's time when that began.
  double hop = path.last_ack_hop;
  const auto comes_first = [&](ChannelId id) {
    const double takes = 8 * segment_ / cluster_.nominal_rate(id).value();
    const bool first = hop > takes;
    hop = cluster_.channel(id).delay.value() + takes;
    return first;
  };
  std::vector<TcpStream::Place> places, back;
  for (const ChannelId id : sharing_.route(c)) {
    TcpStream::Place place = place_on(id, shared_queue_on(id, path));
    if (!place.shared) {
      Followed& queue = queue_on(id, path);
      place.fair = &queue.packets;
      place.flow = queue.packets.add_flow(c);
    }
    place.first = comes_first(id);
    connection.stops.push_back({id, place.flow});
    places.push_back(place);
  }
  ++shares_version_;
  double to_back = 0;
  const std::span<const ChannelId> route = sharing_.route(c);
  for (auto each = route.rbegin(); each != route.rend(); ++each) {
    const ChannelId id = *each ^ 1;
    TcpStream::Place place = place_on(id, shared_queue_on(id, path));
    place.first = comes_first(id);
    if (place.shared) {
      back.push_back(place);
    } else {
      (back.empty() ? to_back : back.back().onwards) += headers_ / place.rate + place.onwards;
    }
  }
  connection.stream->follow(places, back, to_back);
}

}  // namespace gradwire::sim
