// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/ipv4-address.h>
#include <ns3/net-device.h>
#include <ns3/node-container.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/packet/program/ns3_cells.h"
#include "sim/packet/program/packet_loss.h"
#include "sim/packet/program/segment_ledger.h"
#include "sim/packet/program/session_clock.h"
#include "sim/session/executor.h"

/// A cluster as ns-3 nodes and links.
///
/// Framing. ns-3's point-to-point packet of a full segment is 1,502 bytes long (1,448 payload, 52
/// TCP/IP with timestamps, 2 PPP); on Ethernet it occupies 1,538 (18 header and check sum, 8
/// preamble, 12 gap in place of PPP's 2). The missing 36 bytes follow each packet as an interframe
/// gap, so that every packet, full or acknowledgement (54 bytes here, 90 on Ethernet), occupies the
/// link for exactly as long as on Ethernet. (Scaling the rate by 1502/1538 would do so for full
/// segments only, and let acknowledgements that share a direction with data cost 1 % too little.)
/// A packet arrives 36 byte times early at the end of each hop: 0.3 us at 1 Gbps.
///
/// Links. ns-3's own point-to-point devices where a link is full duplex, of one rate, and always
/// there; else ours (sim/packet/program/link_device.h). Queues: sim/packet/program/ns3_queues.h.
///
/// Radio cells: sim/packet/program/radio_cell.h. Their channels carry what enters them at the IP
/// layer, each packet with Ethernet's framing for comparison's sake, and are busy for as long as
/// that would take at the rate that the link has in the cluster.
///
/// Loss. A packet is dropped at the receiving end of each channel, acknowledgements as well
/// (sim/packet/program/packet_loss.h); what is drawn depends on the seed alone.
namespace gradwire::sim {

class Ns3Topology {
 public:
  Ns3Topology(const Cluster& cluster, const ExecutorOptions& options);
  Ns3Topology(const Ns3Topology&) = delete;
  Ns3Topology& operator=(const Ns3Topology&) = delete;

  ns3::Ptr<ns3::Node> host(int host) const;
  ns3::Ipv4Address address(int host) const;
  /// Lets the two hosts reach each other, along the cluster's routes of both directions.
  void join(int source, int destination);
  /// While connections are opened the session's clock stands still: links neither lose nor hold
  /// anything back. end_set_up() says how long that took on ns-3's clock.
  void begin_set_up();
  void end_set_up(std::int64_t nanoseconds);
  /// The session's clock leaps ahead while nothing is under way.
  void leap(std::int64_t nanoseconds);
  /// ns-3's clock less the session's.
  std::int64_t clock_offset() const { return clock_.offset; }
  const SessionClock& clock() const { return clock_; }
  const Ns3Cells& cells() const { return *cells_; }

  /// Bytes in Ethernet's framing and seconds of transmission, by channel.
  const std::vector<ChannelRecord>& channels() const { return channels_; }
  /// Null unless segments are counted.
  SegmentLedger* ledger() const { return ledger_.get(); }
  /// Called for every few hundred packets sent.
  void on_progress(std::function<void()> callback) { progress_ = std::move(callback); }

 private:
  using Ends = std::array<ns3::Ptr<ns3::NetDevice>, 2>;
  void add_link(int link);
  Ends point_to_point(int link);
  Ends own_devices(int link);
  void add_cells();
  void heartbeat();
  ns3::Ptr<ns3::Node> node(NodeId node) const;
  ns3::Ipv4Address address_of_node(NodeId node) const;
  ns3::Ptr<PacketLoss> loss_of(ChannelId channel, std::uint32_t header);
  void join_one_way(int source, int destination);
  void sent(ChannelId channel, Bytes packet, Seconds busy);
  static void sent_point_to_point(Ns3Topology* self, ChannelId channel,
                                  ns3::Ptr<const ns3::Packet> packet);

  const Cluster& cluster_;
  ns3::NodeContainer nodes_;
  TransportSettings transport_;
  std::uint64_t seed_ = 1;
  SessionClock clock_;
  std::vector<int> host_of_node_;                 ///< -1 = switch
  std::vector<ns3::Ptr<ns3::NetDevice>> sender_;  ///< [channels]
  std::vector<ChannelRecord> channels_;
  std::unique_ptr<SegmentLedger> ledger_;
  std::unique_ptr<Ns3Cells> cells_;
  std::vector<ns3::Ptr<PacketLoss>> losses_;  ///< [channels]; null where nothing is lost
  std::function<void()> progress_;
  std::int64_t ethernet_overhead_ = 38;  ///< bytes a packet has on the wire beside its IP packet
  std::uint64_t packets_ = 0;
};

}  // namespace gradwire::sim
