// Queues to which segments come over ways of different lengths: who is there first is not who was
// sent first, and what is sent at one instant may not meet.
#include <algorithm>
#include <span>

#include "sim/flow/flow_network.h"

namespace gradwire::sim {
namespace {

using Protocol = TransportSettings::Protocol;

/// Among more hosts the lengths of ways are not compared, and queues of more flows are not
/// followed.
constexpr int kMostHosts = 512;
/// Ways of one length differ by less than this share of a segment's time ...
constexpr double kOneSegment = 0.125;
/// ... or of the time that a message takes alone.
constexpr double kOneMessage = 0.02;
/// Links that are as fast as all that comes to them together have no queue; and rounding.
constexpr double kMore = 1.001;

}  // namespace

/// Whether the hosts' ways to one place may differ in length: but for a star of equal links.
bool FlowNetwork::may_differ_in_length() {
  const int hosts = cluster_.host_count();
  if (hosts < 2 || cluster_.represented_hosts() > kMostHosts ||
      transport_.protocol != Protocol::kTcp)
    return false;
  if (cluster_.channel_count() != 2 * hosts) return true;
  for (int host = 1; host < hosts; ++host) {
    route_.clear();
    cluster_.route(0, host, route_);
    if (route_.size() != 2) return true;
  }
  for (ChannelId id = 1; id < cluster_.channel_count(); ++id) {
    const bool is_alike = cluster_.channel(id).delay == cluster_.channel(0).delay &&
                          cluster_.nominal_rate(id) == cluster_.nominal_rate(0);
    if (!is_alike) return true;
  }
  return false;
}

/// Notes how the segments of all hosts would come to the destination, once.
void FlowNetwork::note_approaches(int destination) {
  if (approached_.empty()) approached_.resize(static_cast<std::size_t>(cluster_.host_count()));
  if (approached_[static_cast<std::size_t>(destination)]) return;
  approached_[static_cast<std::size_t>(destination)] = true;
  for (int source = 0; source < cluster_.host_count(); ++source) {
    if (source == destination) continue;
    route_.clear();
    cluster_.route(source, destination, route_);
    note_approach(route_);
  }
}

void FlowNetwork::note_approach(std::span<const ChannelId> route) {
  double way = 0, line = kNever;
  for (const ChannelId id : route) {
    Approach& approach = approaches_[static_cast<std::size_t>(id)];
    const double rate = cluster_.nominal_rate(id).value() / 8;
    approach.nearest = std::min(approach.nearest, way);
    approach.farthest = std::max(approach.farthest, way);
    line = std::min(line, rate);
    approach.offered += line;
    way += cluster_.channel(id).delay.value() + segment_ / rate;
  }
}

/// Whether the hosts could send it more than it carries.
bool FlowNetwork::may_be_crowded(ChannelId id) const {
  const Approach& approach = approaches_[static_cast<std::size_t>(id)];
  return approach.offered > kMore * cluster_.nominal_rate(id).value() / 8;
}

/// Whether some of the segments that may wait before it come over ways that are longer than those
/// of others, by `least` s or more.
bool FlowNetwork::is_uneven(ChannelId id, double least) const {
  const Approach& approach = approaches_[static_cast<std::size_t>(id)];
  const double segment_time = 8 * segment_ / cluster_.nominal_rate(id).value();
  return approach.farthest - approach.nearest > std::max(least, kOneSegment * segment_time) &&
         may_be_crowded(id);
}

/// ... on the way of the connection, whose first transfer is sent next.
bool FlowNetwork::comes_from_afar(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  const TcpPath& path = *connection.path;
  if (!connection.may_be_followed || path.change >= 0 || connection.first < 0) return false;
  const Transfer& t = transfers_[static_cast<std::size_t>(connection.first)];
  const double alone = path.propagation + static_cast<double>(t.wire.count()) / path.line_rate;
  return std::ranges::any_of(sharing_.route(c), [&](ChannelId id) {
    return id < cluster_.channel_count() && sharing_.active_on(id) <= kFewMeet &&
           is_uneven(id, kOneMessage * alone);
  });
}

/// The same of a fluid that begins with a short message.
bool FlowNetwork::begins_from_afar(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  const bool begins = connection.updated == now_ && connection.rate == 0 && connection.pool < 0;
  if (!begins || connection.first < 0) return false;
  const Transfer& t = transfers_[static_cast<std::size_t>(connection.first)];
  const bool is_whole = connection.remaining >= static_cast<double>(t.wire.count());
  return is_whole && t.segments > 0 && t.segments <= kShort && comes_from_afar(c);
}

/// The channels on its way before which segments of others may wait, into queues_, and behind the
/// first of them those that are slower than all before. Whoever sends now: what does not yet may
/// be there first.
void FlowNetwork::find_far_queues(std::int32_t c) {
  double slowest = kNever;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count() || sharing_.active_on(id) > kMostHosts) {
      queues_.clear();
      return;
    }
    const double capacity = capacities_[static_cast<std::size_t>(id)];
    const bool slower = !queues_.empty() && capacity < slowest;
    if (!slower && !may_be_crowded(id)) continue;
    queues_.push_back(id);
    slowest = std::min(slowest, capacity);
  }
}

}  // namespace gradwire::sim
