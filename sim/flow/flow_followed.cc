// Ways that are followed packet by packet through the queues of all their links (tcp/fair_queue.h):
// those over several links that change, and in small networks those of streams that never become
// fluids, and of short messages.
#include <algorithm>
#include <span>
#include <vector>

#include "sim/cluster/channel_draws.h"
#include "sim/cluster/link_kind.h"
#include "sim/flow/flow_network.h"

namespace gradwire::sim {
namespace {

constexpr double kFewShort = 64.0 * 32.0;  // segments of a short message, times the hosts
constexpr double kFewWork = 4096;          // segments of all messages of a graph
constexpr int kMostHosts = 2048;           // ... of which short messages are followed
/// What is no fluid goes segment by segment in any case, and following each over its links takes
/// two to six times as long.
constexpr int kSmallForStreams = 128;            // hosts
constexpr double kFewSegments = 1024.0 * 128.0;  // of a message, times the hosts

}  // namespace

/// Whether there are such ways.
bool FlowNetwork::may_follow_all() const {
  return transport_.protocol == TransportSettings::Protocol::kTcp &&
         !transport_.constants.kernel_recovery && followers_.size() > 1;
}

bool FlowNetwork::follows_all(const Connection& connection) const {
  return may_follow_ && connection.path->changes_at_several;
}

/// Whether the connection, which begins with such a message, is followed over all its links.
bool FlowNetwork::is_followed_from(const Connection& connection, Bytes first) const {
  if (packets_) return false;
  return follows_all(connection) || follows_short(first) || follows_stream(*connection.path, first);
}

/// Whether a connection that begins with such a message is followed over all its links, as messages
/// are short and meet at several switches (or hosts that forward), or more than few at one: a fluid
/// that begins on all links at once is too late, or too early, by as much as they take. The fewer
/// hosts there are, the longer they may be; of many hosts, the less the graph sends in all.
bool FlowNetwork::follows_short(Bytes first) const {
  if (!follows_short_) return false;
  const double segments = size_of(first).segments;
  if (cluster_.represented_hosts() <= kFewMeet) return all_send(segments) <= kFewShort;
  return segments <= kShort && work_ > 0 && work_ <= kFewWork;
}

/// The same where most of what the network carries is no fluid. Where packets may be lost, which
/// one of two messages has the link first decides which segments come after a lost one, and whether
/// a timeout ends the wait. Where acknowledgements, which may wait behind data, let each segment
/// go, they are followed, too; and so is what meets ways that always are.
bool FlowNetwork::follows_stream(const TcpPath& path, Bytes first) const {
  return is_small_for_streams_ && (loses_ || may_follow_ || waits_for_acks(path)) &&
         all_send(size_of(first).segments) <= kFewSegments;
}

void FlowNetwork::note_work(const GraphWork& work) {
  const double full = work.bytes / static_cast<double>(transport_.segment.count());
  const double segments = full + work.transfers;  // and one that is not full of each
  work_ = std::max(work_, all_send(segments / cluster_.host_count()));
}

void FlowNetwork::note_peers(std::span<const HostPair> pairs) {
  const auto hosts = static_cast<std::size_t>(cluster_.host_count());
  are_peers_.resize(hosts * hosts);
  destinations_.resize(hosts);
  sources_.resize(hosts);
  for (const HostPair& pair : pairs) {
    const auto source = static_cast<std::size_t>(pair.source);
    const auto destination = static_cast<std::size_t>(pair.destination);
    if (are_peers_[source * hosts + destination]) continue;
    are_peers_[source * hosts + destination] = true;
    ++destinations_[source];
    ++sources_[destination];
  }
}

/// Streams that begin on new connections beside others, and that queues at both of their ends may
/// drop segments of, are followed, too: where all send to all at once it is who comes first that
/// decides who loses what. (Who will come later is known from the graph.)
void FlowNetwork::follow_crowd() {
  if (!is_small_for_streams_) return;
  for (const std::int32_t c : beginning_) {
    Connection& connection = connection_at(c);
    if (!connection.waits || !begins_in_crowd(c)) continue;
    connection.stream.reset();
    connection.is_followed = follows_all_ = true;
    connection.may_open = connection.is_open = false;
    stream_of(connection);
  }
}

bool FlowNetwork::begins_in_crowd(std::int32_t c) {
  const Connection& connection = connection_at(c);
  const bool is_new = connection.wire_sent <= 0 && connection.stream->counts().first == 0;
  if (!is_new || connection.is_followed || !sharing_.meets_others(c)) return false;
  const HostPair ends = ends_of(connection);
  if (destinations_.empty() || destinations_[static_cast<std::size_t>(ends.source)] < 2 ||
      sources_[static_cast<std::size_t>(ends.destination)] < 2)
    return false;
  const double segments = transfer(connection.first).segments;
  const ChannelId queue = followed_queue(c);
  return queue >= 0 && all_send(segments) <= kFewSegments && may_be_dropped(c, queue);
}

/// Segments of all hosts, where each sends so many.
double FlowNetwork::all_send(double segments) const {
  return segments * cluster_.represented_hosts();
}

HostPair FlowNetwork::ends_of(const Connection& connection) const {
  const auto hosts = static_cast<std::uint64_t>(cluster_.host_count());
  return {static_cast<int>(connection.key / hosts % hosts),
          static_cast<int>(connection.key % hosts)};
}

/// Whether TCP as ns-3 has it crosses wires of a network of so many hosts at most.
bool FlowNetwork::joins_at_most(int hosts) const {
  return transport_.protocol == TransportSettings::Protocol::kTcp &&
         !transport_.constants.kernel_recovery && cluster_.cells().empty() &&
         cluster_.represented_hosts() <= hosts;
}

void FlowNetwork::find_small() {
  const bool paced = transport_.congestion_control == TransportSettings::CongestionControl::kBbr;
  // BBR, which finds pauses of others and fills them, is followed on a star of alike links, too.
  follows_short_ = joins_at_most(kMostHosts) &&
                   (paced || cluster_.represented_hosts() > kFewMeet || !is_even_star());
  is_small_for_streams_ = joins_at_most(kSmallForStreams);
  loses_ = std::ranges::any_of(cluster_.links(),
                               [](const Link& link) { return link.spec.mean_loss() > 0; });
}

/// Whether hosts are joined by one switch and, but for one (a server), as far away from it.
bool FlowNetwork::is_even_star() const {
  if (cluster_.represented_nodes() != cluster_.represented_hosts() + 1) return false;
  std::vector<double> delays;
  for (const Link& link : cluster_.links()) delays.push_back(link.spec.delay.value());
  std::ranges::sort(delays);
  const std::size_t last = delays.size() - 1;  // the odd one is the first of them, or the last
  return last < 2 || delays[1] == delays[last] || delays[0] == delays[last - 1];
}

/// The stream, which has sent nothing, goes through all queues of its way.
void FlowNetwork::follow_all(Connection& connection) {
  const auto c = static_cast<std::int32_t>(&connection - connections_.data());
  const StreamPath& path = *connection.path;
  const auto place_on = [&](ChannelId id, std::int32_t owner) {
    const double rate = cluster_.nominal_rate(id).value() / 8;
    const bool is_own = !is_plain(cluster_.link_of(id).spec);
    const double follows = is_own ? 0 : std::min(kFollowingBytes, headers_) / rate;
    FairQueue& queue = queue_on(id, path).packets;
    TcpStream::Place place{&queue, queue.add_flow(owner),
                           cluster_.channel(id).delay.value() - follows};
    if (cluster_.channel(id).mean_loss() > 0)
      place.loss =
          std::make_unique<LossSequence>(losses(std::span(&id, 1), connection.key, owner != c));
    connection.stops.push_back({id, place.flow});
    return place;
  };
  const auto append = [&](const std::vector<ChannelId>& way, std::int32_t owner) {
    std::vector<TcpStream::Place> places;
    for (const ChannelId id : way) places.push_back(place_on(id, owner));
    return places;
  };
  const HostPair ends = ends_of(connection);
  std::vector<ChannelId> way, way_of_acks;
  cluster_.route(ends.source, ends.destination, way);
  cluster_.route(ends.destination, ends.source, way_of_acks);
  auto places = append(way, c);
  connection.stream->follow(std::move(places), append(way_of_acks, of_acks(c)));
  ++shares_version_;
}

}  // namespace gradwire::sim
