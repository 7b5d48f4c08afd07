#include "sim/flow/choose_detail.h"

#include <algorithm>
#include <vector>

#include "base/error.h"
#include "sim/flow/shares/rate_follower.h"
#include "sim/flow/tcp_path.h"
#include "sim/graph/graph_work.h"
#include "sim/graph/host_pairs.h"

namespace gradwire::sim {
namespace {

using Protocol = TransportSettings::Protocol;

/// Segments that may go out before the first acknowledgement: where they take as long as the least
/// timeout, timers go off whose segments only wait.
constexpr double kFirstWindow = 10;

bool has_no_rates(const Cluster& cluster, const TransportSettings& transport) {
  if (transport.protocol != Protocol::kTcp) return false;
  const bool kernel = transport.constants.kernel_recovery;
  if (kernel && transport.congestion_control == TransportSettings::CongestionControl::kBbr)
    return false;
  const double segment = 8 * static_cast<double>(transport.wire_segment.count());
  for (ChannelId id = 0; id < cluster.channel_count(); ++id) {
    const LinkSpec& spec = cluster.channel(id);
    const double first_window = kFirstWindow * segment / cluster.nominal_rate(id).value();
    if (spec.queue.count() > 0) return true;
    if (kernel) continue;
    if (spec.jitter.value() > 0 || spec.half_duplex || first_window > transport.min_rto.value())
      return true;
  }
  return false;
}

[[noreturn]] void refuse(Detail detail, const char* reason, const char* remedy) {
  throw Error(ErrorKind::kCapability, "simulate in the detail", name_of(detail), reason, remedy);
}

}  // namespace

DetailQuestion detail_question(const Cluster& cluster, const TransportSettings& transport,
                               std::optional<Detail> asked) {
  return {transport.protocol, !cluster.cells().empty(), has_no_rates(cluster, transport), asked};
}

Detail choose_detail(const DetailQuestion& question) {
  const bool packets =
      question.protocol == Protocol::kTcp || question.protocol == Protocol::kUdpLossy;
  const bool only_packets =
      packets && (question.has_air || question.protocol == Protocol::kUdpLossy);
  const Detail usual = !packets                                ? Detail::kFluid
                       : only_packets || question.has_no_rates ? Detail::kPerPacket
                                                               : Detail::kMixed;
  const Detail detail = question.asked.value_or(usual);
  if (detail == Detail::kPerPacket && !packets)
    refuse(detail, "ideal and rdma have rates and no packets", "take tcp or udp-lossy, or auto");
  if (detail == Detail::kFluid && only_packets)
    refuse(detail, "a fluid has neither the frames of a radio cell nor the losses of udp-lossy",
           "take per-packet or auto");
  return detail;
}

namespace {

constexpr double kMostEvents = 3e6, kFewEvents = 3e5;  // packets over links, of one graph
constexpr int kFewMeet = 64;
constexpr double kPacketsASegment = 1.5;  // every second one is acknowledged

/// Whether hosts are joined by one switch and, but for one (a server), as far away from it.
bool is_even_star(const Cluster& cluster) {
  if (cluster.represented_nodes() != cluster.represented_hosts() + 1) return false;
  std::vector<double> delays;
  for (const Link& link : cluster.links()) delays.push_back(link.spec.delay.value());
  std::ranges::sort(delays);
  const std::size_t last = delays.size() - 1;  // the odd one is the first of them, or the last
  return last < 2 || delays[1] == delays[last] || delays[0] == delays[last - 1];
}

bool loses_or_changes(const Cluster& cluster) {
  for (ChannelId id = 0; id < cluster.channel_count(); ++id)
    if (cluster.channel(id).mean_loss() > 0 || RateFollower::is_needed(cluster.link_of(id), id))
      return true;
  return false;
}

/// Whether who sends to several meets others at one: then who comes first decides who loses what.
/// Or more meet at one than can take turns there.
bool is_crowd(const Cluster& cluster, std::span<const HostPair> pairs) {
  const auto hosts = static_cast<std::size_t>(cluster.host_count());
  std::vector<int> destinations(hosts), sources(hosts);
  for (const HostPair& pair : pairs) {
    ++destinations[static_cast<std::size_t>(pair.source)];
    ++sources[static_cast<std::size_t>(pair.destination)];
  }
  return std::ranges::any_of(pairs,
                             [&](const HostPair& pair) {
                               return destinations[static_cast<std::size_t>(pair.source)] > 1 &&
                                      sources[static_cast<std::size_t>(pair.destination)] > 1;
                             }) ||
         std::ranges::any_of(sources, [](int count) { return count > kFewMeet; });
}

}  // namespace

bool goes_per_packet(const Cluster& cluster, const TransportSettings& transport,
                     const GraphTemplate& graph, std::span<const Bytes> bytes) {
  if (transport.protocol != Protocol::kTcp || transport.constants.kernel_recovery ||
      !cluster.cells().empty())
    return false;
  const GraphWork work = graph_work(graph, bytes);
  const double segments = work.bytes / static_cast<double>(transport.segment.count());
  const double packets = kPacketsASegment * (segments + work.transfers) *
                         cluster.represented_hosts() / cluster.host_count();
  if (packets > kMostEvents) return false;
  const std::vector<HostPair> pairs = pairs_of(graph);
  double links = 0;
  bool is_hard = loses_or_changes(cluster);
  std::vector<ChannelId> route;
  for (const HostPair& pair : pairs) {
    route.clear();
    cluster.route(pair.source, pair.destination, route);
    links += static_cast<double>(route.size()) / static_cast<double>(pairs.size());
    if (is_hard) continue;
    const TcpPath path(cluster, route, transport);
    is_hard = waits_for_acks(path, transport);
  }
  if (is_hard) return packets * links <= kMostEvents;
  const bool paced = transport.congestion_control == TransportSettings::CongestionControl::kBbr;
  return packets * links <= kFewEvents &&
         (paced || !is_even_star(cluster) || is_crowd(cluster, pairs));
}

}  // namespace gradwire::sim
