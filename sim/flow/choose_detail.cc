#include "sim/flow/choose_detail.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "sim/flow/fluid/windows.h"
#include "sim/flow/shares/rate_follower.h"
#include "sim/graph/graph_work.h"

namespace gradwire::sim {
namespace {

using Protocol = TransportSettings::Protocol;

/// Segments that may go out before the first acknowledgement: where they take as long as the least
/// timeout, timers go off whose segments only wait.
constexpr double kFirstWindow = 10;

[[noreturn]] void refuse(Detail detail, const char* reason, const char* remedy) {
  throw Error(ErrorKind::kCapability, "simulate in the detail", name_of(detail), reason, remedy);
}

}  // namespace

DetailQuestion detail_question(const Cluster& cluster, const TransportSettings& transport,
                               std::optional<Detail> asked) {
  DetailQuestion question{transport.protocol, !cluster.cells().empty(), false, false, asked};
  if (transport.protocol != Protocol::kTcp) return question;
  const double first_window =
      kFirstWindow * 8 * static_cast<double>(transport.wire_segment.count());
  for (ChannelId id = 0; id < cluster.channel_count(); ++id) {
    const LinkSpec& spec = cluster.channel(id);
    const bool needs = spec.queue.count() > 0 || spec.jitter.value() > 0;
    question.needs_packets = question.needs_packets || needs;
    question.has_no_rates =
        question.has_no_rates || needs || spec.half_duplex ||
        first_window > transport.min_rto.value() * cluster.nominal_rate(id).value();
  }
  return question;
}

std::optional<Detail> choose_detail(const DetailQuestion& question) {
  const bool packets =
      question.protocol == Protocol::kTcp || question.protocol == Protocol::kUdpLossy;
  const bool only_packets =
      packets && (question.has_air || question.protocol == Protocol::kUdpLossy);
  if (!question.asked) {
    if (!packets) return Detail::kFluid;
    if (only_packets || question.has_no_rates) return Detail::kPerPacket;
    return std::nullopt;
  }
  const Detail detail = *question.asked;
  if (detail == Detail::kPerPacket && !packets)
    refuse(detail, "ideal and rdma have rates and no packets", "take tcp or udp-lossy, or auto");
  if (detail == Detail::kFluid && only_packets)
    refuse(detail, "a fluid has neither the frames of a radio cell nor the losses of udp-lossy",
           "take per-packet or auto");
  if (detail == Detail::kFluid && question.needs_packets)
    refuse(detail, "a fluid has neither a queue that fills nor jitter, and a link has one of them",
           "leave the links' queue and jitter out, or take per-packet or auto");
  return detail;
}

namespace {

// Packets over links, of one graph.
constexpr double kMostEvents = 3e6, kFewEvents = 3e5, kFewestEvents = 3e4;
constexpr double kPacketsASegment = 1.5;  // every second one is acknowledged

/// In either direction of its link.
bool loses_or_changes(const Cluster& cluster, ChannelId channel) {
  for (const ChannelId id : {channel, channel ^ 1})
    if (cluster.channel(id).mean_loss() > 0 || RateFollower::is_needed(cluster.link_of(id), id))
      return true;
  return false;
}

struct Ways {
  double links = 0;       ///< in the mean
  bool are_even = false;  ///< over one switch, and but for one host (a server) as long
  bool lose_or_change = false;
  bool wait_long = false;    ///< several on a link, for longer than CoDel lets them
  bool are_streams = false;  ///< a fluid would follow segments, too (fluid/windows.h)
};

/// Of links with these delays.
bool are_even(std::vector<double> delays) {
  if (delays.size() < 3) return true;
  std::ranges::sort(delays);
  const std::size_t last = delays.size() - 1;  // the odd one is the first of them, or the last
  return delays[1] == delays[last] || delays[0] == delays[last - 1];
}

bool is_first(std::vector<bool>& seen, int host) {
  const auto place = static_cast<std::size_t>(host);
  const bool was = seen[place];
  seen[place] = true;
  return !was;
}

/// What several pairs send over one channel.
struct Crossings {
  std::vector<int> pairs;  ///< by channel
  double segments = 0;     ///< of a pair, in the mean
  double bytes = 0;        ///< of a full one on the wire

  /// s: from one segment of a pair to its next one.
  double spacing(const Cluster& cluster, ChannelId id) const {
    return pairs[static_cast<std::size_t>(id)] * 8 * bytes / cluster.nominal_rate(id).value();
  }
};

bool is_stream(const Cluster& cluster, const TransportSettings& transport,
               std::span<const ChannelId> route, const Crossings& crossings) {
  const TcpPath path(cluster, route, transport);
  if (!may_open(path, transport)) return true;
  double spacing = 0;
  for (const ChannelId id : route) spacing = std::max(spacing, crossings.spacing(cluster, id));
  return may_be_dropped(StreamPath(path, transport), spacing, crossings.segments);
}

/// `segments`: of a pair, in the mean.
Ways ways_of(const Cluster& cluster, const TransportSettings& transport,
             std::span<const HostPair> pairs, double segments) {
  constexpr std::size_t kOfStar = 2;
  Ways ways;
  Crossings crossings{std::vector<int>(static_cast<std::size_t>(cluster.channel_count())), segments,
                      static_cast<double>(transport.wire_segment.count())};
  std::vector<double> delays;  // of links that are used
  std::vector<ChannelId> route;
  std::size_t longest = 0;
  const auto find_route = [&](const HostPair& pair) {
    route.clear();
    cluster.route(pair.source, pair.destination, route);
  };
  for (const HostPair& pair : pairs) {
    find_route(pair);
    longest = std::max(longest, route.size());
    ways.links += static_cast<double>(route.size()) / static_cast<double>(pairs.size());
    for (const ChannelId id : route) {
      const bool is_used = crossings.pairs[static_cast<std::size_t>(id ^ 1)] > 0;
      if (crossings.pairs[static_cast<std::size_t>(id)]++ > 0 || is_used) continue;
      delays.push_back(cluster.channel(id).delay.value());
      ways.lose_or_change = ways.lose_or_change || loses_or_changes(cluster, id);
    }
  }
  for (ChannelId id = 0; id < cluster.channel_count(); ++id) {
    if (crossings.pairs[static_cast<std::size_t>(id)] < 2) continue;
    const double spacing = crossings.spacing(cluster, id);
    const CoDelTimes codel =
        codel_times(8 * crossings.bytes / cluster.nominal_rate(id).value(), transport.constants);
    ways.wait_long = ways.wait_long || segments * spacing > codel.target + codel.interval;
  }
  const auto hosts = static_cast<std::size_t>(cluster.host_count());
  std::vector<bool> sources(hosts), destinations(hosts);  // of one of each a way is looked at
  for (const HostPair& pair : pairs) {
    const bool is_new = is_first(sources, pair.source) | is_first(destinations, pair.destination);
    if (!is_new || ways.are_streams) continue;
    find_route(pair);
    ways.are_streams = is_stream(cluster, transport, route, crossings);
  }
  ways.are_even = longest == kOfStar && are_even(std::move(delays));
  return ways;
}

}  // namespace

void FirstExchange::add(const GraphTemplate& graph, std::span<const Bytes> sizes) {
  const GraphWork work = graph_work(graph, sizes);
  bytes += work.bytes;
  transfers += work.transfers;
  if (transfers > kMostEvents) return;  // too many, whoever's they are
  std::vector<HostPair> all;
  std::ranges::set_union(pairs, pairs_of(graph), std::back_inserter(all));
  pairs = std::move(all);
}

bool goes_per_packet(const Cluster& cluster, const TransportSettings& transport,
                     const FirstExchange& first) {
  if (transport.protocol != Protocol::kTcp || !cluster.cells().empty() || first.transfers <= 0)
    return false;
  const double segments = first.bytes / static_cast<double>(transport.segment.count());
  const double packets = kPacketsASegment * (segments + first.transfers) *
                         cluster.represented_hosts() / cluster.host_count();
  if (packets > kMostEvents) return false;
  const Ways ways =
      ways_of(cluster, transport, first.pairs, segments / static_cast<double>(first.pairs.size()));
  const double events = packets * ways.links;
  if (ways.are_streams || ways.lose_or_change) return events <= kMostEvents;
  return events <= (ways.are_even && !ways.wait_long ? kFewestEvents : kFewEvents);
}

Detail choose_detail(const Cluster& cluster, const TransportSettings& transport,
                     std::optional<Detail> asked, const FirstExchange& first) {
  if (const auto chosen = choose_detail(detail_question(cluster, transport, asked))) return *chosen;
  return goes_per_packet(cluster, transport, first) ? Detail::kPerPacket : Detail::kFluid;
}

}  // namespace gradwire::sim
