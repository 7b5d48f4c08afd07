// SPDX-License-Identifier: GPL-2.0-only
// A ring all-reduce on a star as one writes it in ns-3 by hand: point-to-point links, global
// routing, a socket to the right and one from the left. TCP, queues and framing are set as
// gradwire-packet sets them. Prints events and simulated seconds.
#include <ns3/core-module.h>
#include <ns3/internet-module.h>
#include <ns3/network-module.h>
#include <ns3/point-to-point-module.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "sim/packet/program/ns3_queues.h"
#include "sim/packet/program/ns3_settings.h"

namespace {

using namespace gradwire;

constexpr std::uint16_t kPort = 5000;
constexpr double kStart = 1;       // s; connections are open by then
constexpr int kMissingBytes = 36;  // of Ethernet's framing, beside PPP's 2

/// One worker: a chunk goes to the right as soon as one has come from the left.
class Worker {
 public:
  Worker(ns3::Ptr<ns3::Node> node, int hops, std::uint32_t chunk, std::function<void()> done)
      : node_(node), hops_(hops), chunk_(chunk), done_(std::move(done)) {
    listener_ = ns3::Socket::CreateSocket(node, ns3::TcpSocketFactory::GetTypeId());
    listener_->Bind(ns3::InetSocketAddress(ns3::Ipv4Address::GetAny(), kPort));
    listener_->Listen();
    listener_->SetAcceptCallback(
        ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
        ns3::MakeCallback(&Worker::accepted, this));
  }

  void connect(ns3::Ipv4Address right) {
    right_ = ns3::Socket::CreateSocket(node_, ns3::TcpSocketFactory::GetTypeId());
    right_->Connect(ns3::InetSocketAddress(right, kPort));
    ns3::Simulator::Schedule(ns3::Seconds(kStart), &Worker::send, this);
  }

 private:
  void accepted(ns3::Ptr<ns3::Socket> left, const ns3::Address&) {
    left->SetRecvCallback(ns3::MakeCallback(&Worker::received, this));
  }

  void send() { right_->Send(ns3::Create<ns3::Packet>(chunk_)); }

  void received(ns3::Ptr<ns3::Socket> left) {
    while (const ns3::Ptr<ns3::Packet> data = left->Recv()) {
      if (data->GetSize() == 0) break;
      bytes_ += data->GetSize();
    }
    for (; arrived_ < hops_ && bytes_ >= chunk_; bytes_ -= chunk_)
      ++arrived_ < hops_ ? send() : done_();
  }

  ns3::Ptr<ns3::Node> node_;
  ns3::Ptr<ns3::Socket> listener_, right_;
  int hops_, arrived_ = 0;
  std::uint32_t chunk_;
  std::uint64_t bytes_ = 0;
  std::function<void()> done_;
};

/// Hosts on one switch; returns their addresses.
std::vector<ns3::Ipv4Address> join(const ns3::NodeContainer& hosts, ns3::Ptr<ns3::Node> hub,
                                   const sim::LinkSpec& link) {
  ns3::PointToPointHelper helper;
  helper.SetDeviceAttribute(
      "DataRate", ns3::DataRateValue(ns3::DataRate(static_cast<std::uint64_t>(link.rate.value()))));
  helper.SetDeviceAttribute("InterframeGap",
                            ns3::TimeValue(ns3::Seconds(8 * kMissingBytes / link.rate.value())));
  helper.SetChannelAttribute("Delay", ns3::TimeValue(ns3::Seconds(link.delay.value())));
  helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", ns3::StringValue("1p"));
  ns3::Ipv4AddressHelper addresses;
  addresses.SetBase("10.0.0.0", "255.255.255.252");
  std::vector<ns3::Ipv4Address> result;
  for (std::uint32_t host = 0; host < hosts.GetN(); ++host) {
    const ns3::NetDeviceContainer ends = helper.Install(hosts.Get(host), hub);
    for (std::uint32_t end = 0; end < 2; ++end)
      sim::install_queue(ends.Get(end), link, link.rate, {});
    result.push_back(addresses.Assign(ends).GetAddress(0));
    addresses.NewNetwork();
  }
  return result;
}

void run(int workers, std::uint32_t chunk) {
  sim::apply_settings({});
  ns3::NodeContainer hosts, hub;
  hosts.Create(static_cast<std::uint32_t>(workers));
  hub.Create(1);
  ns3::InternetStackHelper stack;
  stack.Install(hosts);
  stack.Install(hub);
  const std::vector<ns3::Ipv4Address> addresses = join(hosts, hub.Get(0), {});
  ns3::Ipv4GlobalRoutingHelper::PopulateRoutingTables();
  int left = workers;
  double end = 0;
  std::vector<std::unique_ptr<Worker>> ring;
  for (int w = 0; w < workers; ++w)
    ring.push_back(std::make_unique<Worker>(hosts.Get(static_cast<std::uint32_t>(w)),
                                            2 * (workers - 1), chunk, [&] {
                                              end = ns3::Simulator::Now().GetSeconds() - kStart;
                                              if (--left == 0) ns3::Simulator::Stop();
                                            }));
  for (int w = 0; w < workers; ++w)
    ns3::Simulator::ScheduleNow(&Worker::connect, ring[static_cast<std::size_t>(w)].get(),
                                addresses[static_cast<std::size_t>((w + 1) % workers)]);
  ns3::Simulator::Run();
  std::printf("%llu %.9f\n", static_cast<unsigned long long>(ns3::Simulator::GetEventCount()), end);
  ns3::Simulator::Destroy();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: gradwire-bench-ns3 WORKERS BYTES_A_HOP\n", stderr);
    return 2;
  }
  run(std::atoi(argv[1]), static_cast<std::uint32_t>(std::atoi(argv[2])));
  return 0;
}
