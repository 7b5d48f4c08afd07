// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/ns3_topology.h"

#include <ns3/boolean.h>
#include <ns3/double.h>
#include <ns3/error-model.h>
#include <ns3/internet-stack-helper.h>
#include <ns3/ipv4.h>
#include <ns3/point-to-point-helper.h>
#include <ns3/queue-size.h>
#include <ns3/string.h>
#include <ns3/traffic-control-helper.h>
#include <ns3/uinteger.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/packet/ns3_routing.h"

namespace gradwire::sim {
namespace {

constexpr std::int64_t kTcpIpHeader = 52;  // IP 20, TCP 20, timestamps 12
constexpr std::int64_t kPppHeader = 2;
constexpr std::uint64_t kPacketsAProgress = 512;
constexpr double kCoDelTarget = 5e-3;   // s, ns-3's and Linux's default
constexpr double kCoDelInterval = 0.1;  // s
constexpr double kCoDelPackets = 100;

std::int64_t ethernet_overhead(const TransportSettings& transport) {
  return transport.wire_segment.count() - transport.segment.count() - kTcpIpHeader;
}

ns3::Ptr<ChannelRouting> routing_of(ns3::Ptr<ns3::Node> node) {
  return ns3::DynamicCast<ChannelRouting>(node->GetObject<ns3::Ipv4>()->GetRoutingProtocol());
}

}  // namespace

Ns3Topology::Ns3Topology(const Cluster& cluster, const ExecutorOptions& options)
    : cluster_(cluster),
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
  sender_.resize(static_cast<std::size_t>(cluster.channel_count()));
  channels_.resize(sender_.size());
  loss_models_.resize(sender_.size());
  for (std::size_t link = 0; link < cluster.links().size(); ++link)
    add_link(static_cast<int>(link), options.transport);
}

ns3::Ptr<ns3::Node> Ns3Topology::host(int host) const {
  return nodes_.Get(static_cast<uint32_t>(cluster_.host_node(host)));
}

ns3::Ipv4Address Ns3Topology::address(int host) const {
  return ns3::Ipv4Address(0x0A000001u + static_cast<uint32_t>(host));  // 10.0.0.1 and up
}

void Ns3Topology::add_link(int link, const TransportSettings& transport) {
  const Link& spec = cluster_.links()[static_cast<std::size_t>(link)];
  const double rate = spec.spec.rate.value();
  const double gap = 8 * static_cast<double>(ethernet_overhead_ - kPppHeader) / rate;
  const std::int64_t mtu = std::max<std::int64_t>(1500, transport.segment.count() + kTcpIpHeader);
  ns3::PointToPointHelper helper;
  helper.SetDeviceAttribute(
      "DataRate",
      ns3::DataRateValue(ns3::DataRate(static_cast<std::uint64_t>(std::llround(rate)))));
  helper.SetDeviceAttribute("InterframeGap", ns3::TimeValue(ns3::Seconds(gap)));
  helper.SetDeviceAttribute("Mtu", ns3::UintegerValue(static_cast<std::uint64_t>(mtu)));
  helper.SetChannelAttribute("Delay", ns3::TimeValue(ns3::Seconds(spec.spec.delay.value())));
  helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue("1p"));
  const ns3::NetDeviceContainer ends = helper.Install(nodes_.Get(static_cast<uint32_t>(spec.a)),
                                                      nodes_.Get(static_cast<uint32_t>(spec.b)));
  for (int side = 0; side < 2; ++side) {
    const ChannelId channel = 2 * link + side;
    const auto index = static_cast<std::size_t>(channel);
    const auto device = ends.Get(static_cast<uint32_t>(side));
    sender_[index] = ns3::DynamicCast<ns3::PointToPointNetDevice>(device);
    add_queue(device, spec.spec, transport);
    add_address(device, side == 0 ? spec.a : spec.b);
    add_loss(ends.Get(static_cast<uint32_t>(1 - side)), channel);
    device->TraceConnectWithoutContext(
        "PhyTxBegin", ns3::MakeBoundCallback(&Ns3Topology::transmitted, this, channel));
  }
}

void Ns3Topology::add_address(ns3::Ptr<ns3::NetDevice> device, NodeId node) {
  const int host = host_of_node_[static_cast<std::size_t>(node)];
  const ns3::Ipv4Address own =
      host >= 0 ? address(host) : ns3::Ipv4Address(0xAC100001u + static_cast<uint32_t>(node));
  const ns3::Ptr<ns3::Ipv4> ipv4 = device->GetNode()->GetObject<ns3::Ipv4>();
  const uint32_t interface = ipv4->AddInterface(device);
  ipv4->AddAddress(interface, ns3::Ipv4InterfaceAddress(own, ns3::Ipv4Mask("255.0.0.0")));
  ipv4->SetMetric(interface, 1);
  ipv4->SetUp(interface);
}

void Ns3Topology::add_queue(ns3::Ptr<ns3::NetDevice> device, const LinkSpec& spec,
                            const TransportSettings& transport) const {
  ns3::TrafficControlHelper helper;
  if (spec.queue.count() > 0) {
    helper.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize",
                            ns3::StringValue(std::to_string(spec.queue.count()) + "B"));
  } else {
    // Room for two bandwidth-delay products of a path of four such links, where that is more.
    const double segment = static_cast<double>(transport.wire_segment.count());
    const double product = spec.rate.value() * spec.delay.value();
    const auto packets = static_cast<std::int64_t>(2 * product / segment);
    const double target = std::max(kCoDelTarget, kCoDelPackets * 8 * segment / spec.rate.value());
    const double interval = std::max(kCoDelInterval, 2 * target);
    helper.SetRootQueueDisc(
        "ns3::FqCoDelQueueDisc", "MaxSize",
        ns3::StringValue(std::to_string(std::max<std::int64_t>(10240, packets)) + "p"), "Target",
        ns3::StringValue(std::to_string(target) + "s"), "Interval",
        ns3::StringValue(std::to_string(interval) + "s"));
  }
  helper.Install(device);
}

void Ns3Topology::add_loss(ns3::Ptr<ns3::NetDevice> receiver, ChannelId channel) {
  const double loss = cluster_.channel(channel).loss;
  if (loss <= 0) return;
  const auto model = ns3::CreateObject<ns3::RateErrorModel>();
  model->SetUnit(ns3::RateErrorModel::ERROR_UNIT_PACKET);
  model->SetRate(loss);
  model->AssignStreams(channel);
  ns3::DynamicCast<ns3::PointToPointNetDevice>(receiver)->SetReceiveErrorModel(model);
  loss_models_[static_cast<std::size_t>(channel)] = model;
}

void Ns3Topology::enable_loss(bool enabled) {
  for (const auto& object : loss_models_) {
    if (!object) continue;
    const auto model = ns3::DynamicCast<ns3::ErrorModel>(object);
    enabled ? model->Enable() : model->Disable();
  }
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
    routing_of(device->GetNode())->add(address(source), address(destination), device);
  }
}

void Ns3Topology::transmitted(Ns3Topology* self, ChannelId channel,
                              ns3::Ptr<const ns3::Packet> packet) {
  const auto index = static_cast<std::size_t>(channel);
  const Bytes on_wire(packet->GetSize() - kPppHeader + self->ethernet_overhead_);
  self->channels_[index].wire += on_wire;
  self->channels_[index].busy += transmission_time(on_wire, self->cluster_.channel(channel).rate);
  if (++self->packets_ % kPacketsAProgress == 0 && self->progress_) self->progress_();
}

}  // namespace gradwire::sim
