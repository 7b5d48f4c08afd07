#include "sim/flow/choose_detail.h"

#include "base/error.h"

namespace gradwire::sim {
namespace {

using Protocol = TransportSettings::Protocol;

[[noreturn]] void refuse(Detail detail, const char* reason, const char* remedy) {
  throw Error(ErrorKind::kCapability, "simulate in the detail", name_of(detail), reason, remedy);
}

}  // namespace

DetailQuestion detail_question(const Cluster& cluster, const TransportSettings& transport,
                               std::optional<Detail> asked) {
  return {transport.protocol, !cluster.cells().empty(), asked};
}

Detail choose_detail(const DetailQuestion& question) {
  const bool packets =
      question.protocol == Protocol::kTcp || question.protocol == Protocol::kUdpLossy;
  const bool only_packets =
      packets && (question.has_air || question.protocol == Protocol::kUdpLossy);
  const Detail usual = !packets       ? Detail::kFluid
                       : only_packets ? Detail::kPerPacket
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
