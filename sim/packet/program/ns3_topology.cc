// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/ns3_topology.h"

#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4.h>
#include <ns3/net-device-queue-interface.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/point-to-point-net-device.h>
#include <ns3/simulator.h>
#include <ns3/string.h>
#include <ns3/uinteger.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "sim/cluster/link_kind.h"
#include "sim/packet/program/link_device.h"
#include "sim/packet/program/ns3_queues.h"
#include "sim/packet/program/ns3_routing.h"

namespace gradwire::sim {
namespace {

constexpr std::int64_t kTcpIpHeader = 52;  // IP 20, TCP 20, timestamps 12
constexpr std::uint32_t kPppHeader = 2;
constexpr std::uint64_t kPacketsAProgress = 512;

std::int64_t ethernet_overhead(const TransportSettings& transport) {
  return transport.wire_segment.count() - transport.segment.count() - kTcpIpHeader;
}

std::uint64_t largest_packet(const TransportSettings& transport) {
  return static_cast<std::uint64_t>(
      std::max<std::int64_t>(1500, transport.segment.count() + kTcpIpHeader));
}

ns3::Ptr<ChannelRouting> routing_of(ns3::Ptr<ns3::Node> node) {
  return ns3::DynamicCast<ChannelRouting>(node->GetObject<ns3::Ipv4>()->GetRoutingProtocol());
}

}  // namespace

Ns3Topology::Ns3Topology(const Cluster& cluster, const ExecutorOptions& options)
    : cluster_(cluster),
      transport_(options.transport),
      seed_(options.seed),
      host_of_node_(cluster.node_names().size(), -1),
      ethernet_overhead_(ethernet_overhead(options.transport)) {
  nodes_.Create(static_cast<uint32_t>(cluster.node_names().size()));
  for (int host = 0; host < cluster.host_count(); ++host)
    host_of_node_[static_cast<std::size_t>(cluster.host_node(host))] = host;
  ns3::InternetStackHelper stack;
  stack.SetIpv6StackInstall(false);
  stack.SetRoutingHelper(ChannelRoutingHelper());
  stack.Install(nodes_);
  for (int host = 0; host < cluster.host_count(); ++host)
    routing_of(this->host(host))->set_local(address(host));
  if (options.count_segments) {
    ledger_ = std::make_unique<SegmentLedger>();
    for (auto node = nodes_.Begin(); node != nodes_.End(); ++node) ledger_->watch(*node);
  }
  sender_.resize(static_cast<std::size_t>(cluster.channel_count()));
  channels_.resize(sender_.size());
  losses_.resize(sender_.size());
  for (std::size_t link = 0; link < cluster.links().size(); ++link)
    if (cluster.links()[link].cell < 0) add_link(static_cast<int>(link));
  add_cells();
}

void Ns3Topology::add_cells() {
  Ns3Cells::Surroundings surroundings;
  surroundings.node = [this](NodeId id) { return node(id); };
  surroundings.address = [this](NodeId id) { return address_of_node(id); };
  surroundings.sent = [this](ChannelId channel, Bytes packet) {
    sent(channel, packet,
         transmission_time(packet + Bytes(ethernet_overhead_), cluster_.nominal_rate(channel)));
  };
  cells_ = std::make_unique<Ns3Cells>(cluster_, std::move(surroundings));
  for (int channel = 0; channel < cluster_.channel_count(); ++channel)
    if (cluster_.link_of(channel).cell >= 0)
      sender_[static_cast<std::size_t>(channel)] = cells_->sender(channel);
  if (!cells_->empty()) heartbeat();
}

/// A cell lives on while no packet moves: say so.
void Ns3Topology::heartbeat() {
  if (progress_) progress_();
  ns3::Simulator::Schedule(ns3::MilliSeconds(500), &Ns3Topology::heartbeat, this);
}

ns3::Ptr<ns3::Node> Ns3Topology::node(NodeId node) const {
  return nodes_.Get(static_cast<uint32_t>(node));
}

ns3::Ipv4Address Ns3Topology::address_of_node(NodeId node) const {
  const int host = host_of_node_[static_cast<std::size_t>(node)];
  return host >= 0 ? address(host) : ns3::Ipv4Address(0xAC100001u + static_cast<uint32_t>(node));
}

ns3::Ptr<ns3::Node> Ns3Topology::host(int host) const {
  return node(cluster_.host_node(host));
}

ns3::Ipv4Address Ns3Topology::address(int host) const {
  return ns3::Ipv4Address(0x0A000001u + static_cast<uint32_t>(host));  // 10.0.0.1 and up
}

void Ns3Topology::add_link(int link) {
  const Link& wanted = cluster_.links()[static_cast<std::size_t>(link)];
  const Ends ends = is_plain(wanted.spec) ? point_to_point(link) : own_devices(link);
  for (int side = 0; side < 2; ++side) {
    const ChannelId channel = 2 * link + side;
    const auto& device = ends[static_cast<std::size_t>(side)];
    sender_[static_cast<std::size_t>(channel)] = device;
    const auto queue = install_queue(device, wanted.spec, wanted.nominal_rate(channel), transport_);
    if (ledger_) ledger_->watch(queue);
    add_interface(device, address_of_node(side == 0 ? wanted.a : wanted.b));
  }
}

Ns3Topology::Ends Ns3Topology::point_to_point(int link) {
  const Link& spec = cluster_.links()[static_cast<std::size_t>(link)];
  const double rate = spec.spec.rate.value();
  const double gap = 8 * static_cast<double>(ethernet_overhead_ - kPppHeader) / rate;
  ns3::PointToPointHelper helper;
  helper.SetDeviceAttribute(
      "DataRate",
      ns3::DataRateValue(ns3::DataRate(static_cast<std::uint64_t>(std::llround(rate)))));
  helper.SetDeviceAttribute("InterframeGap", ns3::TimeValue(ns3::Seconds(gap)));
  helper.SetDeviceAttribute("Mtu", ns3::UintegerValue(largest_packet(transport_)));
  helper.SetChannelAttribute("Delay", ns3::TimeValue(ns3::Seconds(spec.spec.delay.value())));
  helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue("1p"));
  const ns3::NetDeviceContainer both = helper.Install(nodes_.Get(static_cast<uint32_t>(spec.a)),
                                                      nodes_.Get(static_cast<uint32_t>(spec.b)));
  for (int side = 0; side < 2; ++side) {
    const ChannelId channel = 2 * link + side;
    both.Get(static_cast<uint32_t>(side))
        ->TraceConnectWithoutContext(
            "PhyTxBegin", ns3::MakeBoundCallback(&Ns3Topology::sent_point_to_point, this, channel));
    if (const ns3::Ptr<PacketLoss> loss = loss_of(channel, kPppHeader))
      ns3::DynamicCast<ns3::PointToPointNetDevice>(both.Get(static_cast<uint32_t>(1 - side)))
          ->SetReceiveErrorModel(loss);
  }
  return {both.Get(0), both.Get(1)};
}

Ns3Topology::Ends Ns3Topology::own_devices(int link) {
  const Link& spec = cluster_.links()[static_cast<std::size_t>(link)];
  std::array<ns3::Ptr<LinkDevice>, 2> ends;
  auto medium = std::make_shared<SharedMedium>();
  for (int side = 0; side < 2; ++side) {
    const ChannelId channel = 2 * link + side;
    if (side == 1 && !spec.spec.half_duplex) medium = std::make_shared<SharedMedium>();
    auto& device = ends[static_cast<std::size_t>(side)];
    device = ns3::CreateObject<LinkDevice>(
        LinkDevice::Settings{spec.spec, spec.schedule(channel), channel, seed_,
                             Bytes(ethernet_overhead_), &clock_},
        medium);
    device->SetMtu(static_cast<std::uint16_t>(largest_packet(transport_)));
    device->on_sent([this, channel](ns3::Ptr<const ns3::Packet> packet, Seconds busy) {
      sent(channel, Bytes(packet->GetSize()), busy);
    });
    device->AggregateObject(ns3::CreateObject<ns3::NetDeviceQueueInterface>());
    nodes_.Get(static_cast<uint32_t>(side == 0 ? spec.a : spec.b))->AddDevice(device);
  }
  for (std::size_t side = 0; side < 2; ++side) {
    ends[side]->connect(ends[1 - side]);
    ends[1 - side]->set_loss(loss_of(2 * link + static_cast<ChannelId>(side), 0));
  }
  return {ends[0], ends[1]};
}

ns3::Ptr<PacketLoss> Ns3Topology::loss_of(ChannelId channel, std::uint32_t header) {
  const LinkSpec& spec = cluster_.channel(channel);
  if (spec.mean_loss() <= 0) return nullptr;
  const auto loss = ns3::CreateObject<PacketLoss>(spec, seed_, channel, header, address(0).Get());
  losses_[static_cast<std::size_t>(channel)] = loss;
  if (ledger_)
    loss->on_lost(
        [this, header](ns3::Ptr<const ns3::Packet> packet) { ledger_->lost(packet, header); });
  return loss;
}

void Ns3Topology::begin_set_up() {
  clock_.setting_up = true;
  cells_->walk(false);
  for (const auto& loss : losses_)
    if (loss) loss->Disable();
}

void Ns3Topology::end_set_up(std::int64_t nanoseconds) {
  clock_.setting_up = false;
  cells_->walk(true);
  clock_.offset += nanoseconds;
  for (const auto& loss : losses_)
    if (loss) loss->Enable();
}

void Ns3Topology::leap(std::int64_t nanoseconds) {
  clock_.offset -= nanoseconds;
  cells_->leap(Seconds(static_cast<double>(nanoseconds) * 1e-9));
}

void Ns3Topology::join(int source, int destination) {
  join_one_way(source, destination);
  join_one_way(destination, source);
}

void Ns3Topology::join_one_way(int source, int destination) {
  std::vector<ChannelId> route;
  cluster_.route(source, destination, route);
  for (const ChannelId channel : route) {
    const auto device = sender_[static_cast<std::size_t>(channel)];
    const bool radio = cluster_.link_of(channel).cell >= 0;
    routing_of(device->GetNode())
        ->add(address(source), address(destination), device,
              radio ? cells_->gateway(channel) : ns3::Ipv4Address::GetZero());
  }
}

void Ns3Topology::sent_point_to_point(Ns3Topology* self, ChannelId channel,
                                      ns3::Ptr<const ns3::Packet> packet) {
  const Bytes size(packet->GetSize() - kPppHeader);
  self->sent(channel, size,
             transmission_time(size + Bytes(self->ethernet_overhead_),
                               self->cluster_.channel(channel).rate));
}

void Ns3Topology::sent(ChannelId channel, Bytes packet, Seconds busy) {
  ChannelRecord& record = channels_[static_cast<std::size_t>(channel)];
  record.wire += packet + Bytes(ethernet_overhead_);
  record.busy += busy;
  if (++packets_ % kPacketsAProgress == 0 && progress_) progress_();
}

}  // namespace gradwire::sim
