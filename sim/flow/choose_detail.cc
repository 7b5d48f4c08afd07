#include "sim/flow/choose_detail.h"

#include "base/error.h"

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

}  // namespace gradwire::sim
