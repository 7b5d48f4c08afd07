#include "sim/flow/tcp/stream_path.h"

#include <algorithm>
#include <cmath>

#include "sim/cluster/handshake.h"
#include "sim/cluster/link_kind.h"

namespace gradwire::sim {
namespace {

constexpr double kLeastSample = 1e-6;  // s: what a round trip of no whole tick counts as
/// What follows a packet counts where it is a larger share of a message's time.
constexpr double kFelt = 0.01;

Bottleneck::Discipline discipline_of(const TcpPath& path, const TransportSettings& transport) {
  const TcpConstants& constants = transport.constants;
  Bottleneck::Discipline discipline{codel_times(path.segment_time, constants)};
  discipline.line_rate = path.line_rate;
  discipline.spreads = transport.congestion_control == TransportSettings::CongestionControl::kBbr;
  // The links on which kernels are measured queue by themselves.
  discipline.at_device = !constants.kernel_recovery;
  discipline.at_wire = path.changes && path.line_changes;
  if (discipline.at_device)
    discipline.quantum = static_cast<double>(transport.wire_segment.count());
  return discipline;
}

TcpReceiver::Quickness quickness_of(const TcpPath& path, const TransportSettings& transport) {
  const TcpConstants& constants = transport.constants;
  const double silence = constants.kernel_recovery
                             ? 2 * path.propagation + transport.min_rto.value()
                             : TcpReceiver::kNever;
  const double growth = constants.quick_share * static_cast<double>(transport.buffer.count()) /
                        static_cast<double>(transport.segment.count());
  const auto quick = static_cast<int>(constants.quick_acks);
  const auto block =
      static_cast<float>(constants.kernel_recovery ? 0 : kBlockBytes * path.ack_a_byte);
  return {transport.delayed_ack.value(), quick + static_cast<int>(growth), silence, quick, block};
}

}  // namespace

StreamPath::StreamPath(const TcpPath& path, const TransportSettings& transport, double clock)
    : TcpPath(path),
      discipline(discipline_of(path, transport)),
      quickness(quickness_of(path, transport)),
      header(static_cast<double>((transport.wire_segment - transport.segment).count())),
      segment(transport.segment.count()),
      arrival(path.propagation),
      ack_arrival(path.ack_latency) {
  using CongestionControl = TransportSettings::CongestionControl;
  if (!transport.constants.kernel_recovery)
    shake_hands(transport.congestion_control == CongestionControl::kBbr);
  if (clock >= 0) clock_ahead = clock;
  has_stamps = !transport.constants.kernel_recovery;
}

/// The handshake has taken three ways of a packet without payload when the first byte may be sent:
/// by so much the clock of time stamps is ahead. (On round trips of less than a tick, which counts
/// as 1 us, that decides which of them count as a tick, and so when HyStart ends slow start.)
void StreamPath::shake_hands(bool paced) {
  const Handshake opening = handshake_of(*this, gap_a_byte, header);
  handshake = opening.round_trip;
  clock_ahead = opening.whole;
  following = std::min(kFollowingBytes, header) * gap_a_byte;
  felt_below = (following / kFelt - propagation) * line_rate;
  // A fluid's deliveries wait for what follows, where that is next to nothing: so do a stream's,
  // unless their pace hangs on them.
  ack_arrival -= following;
  (paced ? arrival : ack_arrival) -= following;
}

std::int32_t StreamPath::stamp(double time) const {
  if (!has_stamps) return 0;
  const double ticks = std::floor((time + clock_ahead) * ticks_per_second);
  return static_cast<std::int32_t>(static_cast<std::int64_t>(ticks));
}

double StreamPath::between(std::int32_t sent, std::int32_t now) const {
  const auto ticks =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(now) - static_cast<std::uint32_t>(sent));
  return ticks > 0 ? ticks / ticks_per_second : kLeastSample;
}

}  // namespace gradwire::sim
