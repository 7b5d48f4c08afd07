#pragma once
#include <optional>

#include "base/units.h"
#include "sim/transport/nccl.h"
#include "sim/transport/tcp_constants.h"

namespace gradwire::sim {

/// TCP as the machines of today speak it; one place for every constant (documented in
/// docs/network.md). All executors read these.
struct TransportSettings {
  enum class CongestionControl { kCubic, kReno, kBbr };
  CongestionControl congestion_control = CongestionControl::kCubic;
  Bytes segment{1448};       ///< TCP payload of a full segment (MSS 1460 less timestamps)
  Bytes wire_segment{1538};  ///< what a full segment occupies on Ethernet: + TCP/IP 52, MAC 18
                             ///< (header, FCS), preamble and gap 20
  int initial_window = 10;   ///< segments (RFC 6928)
  Seconds delayed_ack{0.040};
  Seconds min_rto{0.200};
  Seconds initial_rto{1.0};
  Bytes buffer{8 * 1024 * 1024};  ///< send and receive buffers
  /// Of an ordered pair of hosts, on which its transfers are side by side
  /// (sim/session/parallel_connections.h). At most kMostConnections.
  int connections = 1;
  /// kIdeal: fluid at once at the fair rate, no headers, no start-up, no acknowledgements, no loss.
  /// kUdpLossy: datagrams of a segment, never sent again: what is lost is missing.
  /// kRdma: fluid at once at the fair rate, with headers, over a lossless network (InfiniBand, RoCE
  /// with flow control by priority); no start-up, no windows; acknowledgements take nothing.
  enum class Protocol { kTcp, kIdeal, kUdpLossy, kRdma };
  Protocol protocol = Protocol::kTcp;
  /// udp-lossy: how long a receiver waits for a message's last segment after it was due; none:
  /// datagram_wait.h's.
  std::optional<Seconds> deadline;
  /// Collectives run as NCCL runs them, over kRdma; none: as their hops take on the links alone.
  std::optional<NcclSettings> library;
  TcpConstants constants{};  ///< of the calibration that `flow` follows
};

inline constexpr int kMostConnections = 64;

/// Wire bytes of a payload: whole segments plus a last short one, each with its headers.
Bytes wire_bytes(Bytes payload, const TransportSettings& transport);

/// Of a full RoCEv2 packet: an MTU of 4,096 B of payload, and Ethernet 38 (header, FCS, preamble
/// and gap), IPv4 20, UDP 8, BTH 12 and ICRC 4 (InfiniBand Architecture Specification 1.4, annex
/// A17). InfiniBand's own link header is shorter (LRH 8, BTH 12, ICRC 4, VCRC 2: 26 B).
inline constexpr Bytes kRdmaSegment{4096};
inline constexpr Bytes kRdmaWireSegment{4178};

}  // namespace gradwire::sim
