// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/ipv4-address.h>
#include <ns3/node-container.h>
#include <ns3/point-to-point-net-device.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/cluster.h"
#include "sim/executor.h"

/// A cluster as ns-3 nodes and point-to-point links.
///
/// Framing. ns-3's point-to-point packet of a full segment is 1,502 bytes long (1,448 payload, 52
/// TCP/IP with timestamps, 2 PPP); on Ethernet it occupies 1,538 (18 header and check sum, 8
/// preamble, 12 gap in place of PPP's 2). The missing 36 bytes follow each packet as an interframe
/// gap, so that every packet, full or acknowledgement (54 bytes here, 90 on Ethernet), occupies the
/// link for exactly as long as on Ethernet. (Scaling the rate by 1502/1538 would do so for full
/// segments only, and let acknowledgements that share a direction with data cost 1 % too little.)
/// It arrives 36 byte times early at the end of each hop: 0.3 us at 1 Gbps.
///
/// Queues. ns-3's default queue disc, FQ-CoDel (at least 10,240 packets), stands in front of a
/// device queue of one packet, much as byte queue limits keep it on Linux. ns-3's own device queue
/// of 100 packets would make acknowledgements wait behind the host's data wherever both share a
/// direction: the first steps of a ring at 1 Gbps took 5-20 % longer by it. In its place CoDel's
/// target is max(5 ms, 100 full segments' time), its interval max(100 ms, 2 targets): on slow
/// links, too, up to 100 packets of a flow stand before any is dropped. A link with an explicit
/// `queue` has a drop-tail FIFO of that many bytes instead.
///
/// Loss. A packet is dropped at the receiving end of each channel with the channel's probability,
/// acknowledgements as well; the streams of random numbers depend on the seed alone.
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
  /// Losses are off while connections are opened.
  void enable_loss(bool enabled);

  /// Bytes in Ethernet's framing and seconds of transmission, by channel.
  const std::vector<ChannelRecord>& channels() const { return channels_; }
  /// Called for every few hundred packets sent.
  void on_progress(std::function<void()> callback) { progress_ = std::move(callback); }

 private:
  void add_link(int link, const TransportSettings& transport);
  void add_address(ns3::Ptr<ns3::NetDevice> device, NodeId node);
  void add_queue(ns3::Ptr<ns3::NetDevice> device, const LinkSpec& spec,
                 const TransportSettings& transport) const;
  void add_loss(ns3::Ptr<ns3::NetDevice> receiver, ChannelId channel);
  void join_one_way(int source, int destination);
  static void transmitted(Ns3Topology* self, ChannelId channel, ns3::Ptr<const ns3::Packet> packet);

  const Cluster& cluster_;
  ns3::NodeContainer nodes_;
  std::vector<int> host_of_node_;                             ///< -1 = switch
  std::vector<ns3::Ptr<ns3::PointToPointNetDevice>> sender_;  ///< [channels]
  std::vector<ChannelRecord> channels_;
  std::vector<ns3::Ptr<ns3::Object>> loss_models_;
  std::function<void()> progress_;
  std::int64_t ethernet_overhead_ = 38;  ///< bytes a packet has on the wire beside its IP packet
  std::uint64_t packets_ = 0;
};

}  // namespace gradwire::sim
