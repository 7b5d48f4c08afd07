// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/datagram_connection.h"

#include <ns3/inet-socket-address.h>
#include <ns3/packet.h>
#include <ns3/simulator.h>
#include <ns3/udp-socket-factory.h>
#include <ns3/uinteger.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "sim/cluster/datagram_wait.h"
#include "sim/packet/program/datagram_sender.h"
#include "sim/packet/program/ns3_topology.h"

namespace gradwire::sim {
namespace {

/// Begins each datagram.
struct Header {
  std::uint64_t message = 0;
  std::uint64_t segment = 0;
  std::uint64_t count = 0;  ///< payload bytes that follow
};
static_assert(sizeof(Header) == 24);

std::int64_t nanoseconds(double seconds) {
  return std::llround(seconds * 1e9);
}

}  // namespace

DatagramConnection::DatagramConnection(Ns3Topology& topology, const Cluster& cluster, int source,
                                       int destination, const TransportSettings& transport,
                                       DatagramSender& sender, Report delivered)
    : transport_(transport), sender_(sender), delivered_(std::move(delivered)) {
  topology.join(source, destination);
  measure_way(cluster, source, destination);
  in_ = ns3::Socket::CreateSocket(topology.host(destination), ns3::UdpSocketFactory::GetTypeId());
  in_->SetAttribute("RcvBufSize", ns3::UintegerValue(1u << 30));
  in_->Bind(ns3::InetSocketAddress(topology.address(destination), 0));
  in_->SetRecvCallback(ns3::MakeCallback(&DatagramConnection::on_data, this));
  ns3::Address bound;
  in_->GetSockName(bound);
  const std::uint16_t port = ns3::InetSocketAddress::ConvertFrom(bound).GetPort();
  out_ = ns3::Socket::CreateSocket(topology.host(source), ns3::UdpSocketFactory::GetTypeId());
  out_->Bind(ns3::InetSocketAddress(topology.address(source), 0));
  out_->Connect(ns3::InetSocketAddress(topology.address(destination), port));
}

DatagramConnection::~DatagramConnection() {
  sender_.remove(*this);
  in_->SetRecvCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>());
}

void DatagramConnection::measure_way(const Cluster& cluster, int source, int destination) {
  std::vector<ChannelId> route;
  cluster.route(source, destination, route);
  slowest_rate_ = std::numeric_limits<double>::infinity();
  double latest = datagram_wait(cluster, route, transport_).value();
  for (const ChannelId channel : route) {
    const LinkSpec& spec = cluster.channel(channel);
    const double rate = cluster.nominal_rate(channel).value();
    if (first_rate_ == 0) first_rate_ = rate;
    slowest_rate_ = std::min(slowest_rate_, rate);
    latest += spec.delay.value() + kLateJitters * spec.jitter.value() +
              static_cast<double>(transport_.wire_segment.count()) * 8 / rate;
  }
  latest_ = nanoseconds(latest) + 1;  // what is due at that very instant is not late
}

std::int64_t DatagramConnection::segments_of(const Message& message) const {
  const std::int64_t segment = transport_.segment.count();
  return (message.payload + segment - 1) / segment;
}

void DatagramConnection::send(TransferId id, Bytes payload) {
  Message message;
  message.number = ++last_number_;
  message.payload = payload.count();
  message.there.assign(static_cast<std::size_t>(segments_of(message)), false);
  message.spent.id = id;
  messages_.push_back(std::move(message));
  sender_.wake(*this);
}

void DatagramConnection::cancel(TransferId id, Delivery& spent) {
  const auto found = std::find_if(messages_.begin(), messages_.end(),
                                  [id](const Message& each) { return each.spent.id == id; });
  if (found == messages_.end()) return;
  spent = found->spent;
  messages_.erase(found);
}

bool DatagramConnection::has_more() const {
  return !messages_.empty() && messages_.back().sent < messages_.back().payload;
}

std::int64_t DatagramConnection::send_one() {
  const auto message = std::find_if(messages_.begin(), messages_.end(),
                                    [](const Message& each) { return each.sent < each.payload; });
  const std::int64_t count = std::min(transport_.segment.count(), message->payload - message->sent);
  const Header header{message->number,
                      static_cast<std::uint64_t>(message->sent / transport_.segment.count()),
                      static_cast<std::uint64_t>(count)};
  std::vector<std::uint8_t> head(sizeof header);
  std::memcpy(head.data(), &header, sizeof header);
  const auto packet =
      ns3::Create<ns3::Packet>(head.data(), static_cast<std::uint32_t>(head.size()));
  packet->AddAtEnd(ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(count)));
  out_->Send(packet);
  const std::int64_t overhead = transport_.wire_segment.count() - transport_.segment.count();
  const double bits = static_cast<double>(count + overhead) * 8;
  message->spent.wire += Bytes(count + overhead);
  message->sent += count;
  if (message->sent == message->payload)
    ns3::Simulator::Schedule(ns3::NanoSeconds(latest_), &DatagramConnection::give_up, this,
                             message->number);
  next_time_ = ns3::Simulator::Now().GetNanoSeconds() + nanoseconds(bits / slowest_rate_);
  return nanoseconds(bits / first_rate_);
}

std::deque<DatagramConnection::Message>::iterator DatagramConnection::find(std::uint32_t number) {
  return std::find_if(messages_.begin(), messages_.end(),
                      [number](const Message& each) { return each.number == number; });
}

void DatagramConnection::on_data(ns3::Ptr<ns3::Socket> socket) {
  while (const ns3::Ptr<ns3::Packet> data = socket->Recv()) {
    Header header;
    std::vector<std::uint8_t> head(sizeof header);
    data->CopyData(head.data(), static_cast<std::uint32_t>(head.size()));
    std::memcpy(&header, head.data(), sizeof header);
    take(static_cast<std::uint32_t>(header.message), header.segment);
  }
}

/// A segment is there: it ends all messages before its own, and its own if it is the last one.
void DatagramConnection::take(std::uint32_t number, std::size_t segment) {
  while (!messages_.empty() && messages_.front().number < number) deliver(messages_.begin());
  const auto message = find(number);
  if (message == messages_.end()) return;  // given up, or cancelled
  message->there[segment] = true;
  if (segment + 1 == message->there.size()) deliver(message);
}

void DatagramConnection::give_up(std::uint32_t number) {
  const auto message = find(number);
  if (message != messages_.end()) deliver(message);
}

void DatagramConnection::deliver(std::deque<Message>::iterator message) {
  const std::int64_t segment = transport_.segment.count();
  missing_.clear();
  for (std::size_t i = 0; i < message->there.size(); ++i) {
    if (message->there[i]) continue;
    const std::int64_t first = static_cast<std::int64_t>(i) * segment;
    const std::int64_t count = std::min(segment, message->payload - first);
    if (!missing_.empty() && missing_.back().first + missing_.back().count == first)
      missing_.back().count += count;
    else
      missing_.push_back({first, count});
  }
  Delivery spent = message->spent;
  spent.missing = missing_;
  messages_.erase(message);
  delivered_(spent);
}

}  // namespace gradwire::sim
