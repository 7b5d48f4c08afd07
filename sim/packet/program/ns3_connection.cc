// SPDX-License-Identifier: GPL-2.0-only
#include "sim/packet/program/ns3_connection.h"

#include <ns3/inet-socket-address.h>
#include <ns3/packet.h>
#include <ns3/simulator.h>
#include <ns3/tcp-socket-factory.h>

#include <algorithm>

#include "sim/packet/program/ns3_topology.h"

namespace gradwire::sim {
namespace {

constexpr std::int64_t kAheadSegments = 256;
constexpr std::int64_t kIpHeader = 20;
constexpr std::int64_t kTcpIpHeader = 52;

}  // namespace

TcpConnection::TcpConnection(Ns3Topology& topology, int source, int destination,
                             const TransportSettings& transport, Report delivered,
                             std::function<void()> opened)
    : transport_(transport),
      delivered_(std::move(delivered)),
      opened_(std::move(opened)),
      ledger_(topology.ledger()) {
  topology.join(source, destination);
  listen(topology, destination);
  connect(topology, source, destination);
}

TcpConnection::~TcpConnection() {
  const auto silent = ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>>();
  for (const auto& socket : {sender_, listener_, receiver_}) {
    if (!socket) continue;
    socket->SetConnectCallback(silent, silent);
    socket->SetCloseCallbacks(silent, silent);
    socket->SetRecvCallback(silent);
    socket->SetSendCallback(ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>, std::uint32_t>());
    socket->SetAcceptCallback(
        ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
        ns3::MakeNullCallback<void, ns3::Ptr<ns3::Socket>, const ns3::Address&>());
  }
  sender_->TraceDisconnectWithoutContext("Tx", ns3::MakeCallback(&TcpConnection::on_segment, this));
}

void TcpConnection::listen(Ns3Topology& topology, int destination) {
  listener_ =
      ns3::Socket::CreateSocket(topology.host(destination), ns3::TcpSocketFactory::GetTypeId());
  listener_->Bind(ns3::InetSocketAddress(topology.address(destination), 0));
  listener_->Listen();
  listener_->SetAcceptCallback(
      ns3::MakeNullCallback<bool, ns3::Ptr<ns3::Socket>, const ns3::Address&>(),
      ns3::MakeCallback(&TcpConnection::on_accepted, this));
}

void TcpConnection::connect(Ns3Topology& topology, int source, int destination) {
  ns3::Address bound;
  listener_->GetSockName(bound);
  const std::uint16_t port = ns3::InetSocketAddress::ConvertFrom(bound).GetPort();
  sender_ = ns3::Socket::CreateSocket(topology.host(source), ns3::TcpSocketFactory::GetTypeId());
  sender_->SetConnectCallback(ns3::MakeCallback(&TcpConnection::on_connected, this),
                              ns3::MakeCallback(&TcpConnection::on_broken, this));
  sender_->SetCloseCallbacks(ns3::MakeCallback(&TcpConnection::on_broken, this),
                             ns3::MakeCallback(&TcpConnection::on_broken, this));
  sender_->SetSendCallback(ns3::MakeCallback(&TcpConnection::on_room, this));
  sender_->TraceConnectWithoutContext("Tx", ns3::MakeCallback(&TcpConnection::on_segment, this));
  sender_->Bind();
  sender_->Connect(ns3::InetSocketAddress(topology.address(destination), port));
}

void TcpConnection::on_connected(ns3::Ptr<ns3::Socket>) {
  connected_ = true;
  fill();
  if (open() && opened_) opened_();
}

void TcpConnection::on_accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address&) {
  accepted_ = true;
  receiver_ = socket;
  receiver_->SetRecvCallback(ns3::MakeCallback(&TcpConnection::on_data, this));
  // One connection a port: with the listener gone a host looks through half as many end points.
  listener_->Close();
  if (open() && opened_) opened_();
}

void TcpConnection::on_broken(ns3::Ptr<ns3::Socket>) {
  broken_ = true;
  std::deque<Message> lost;
  lost.swap(messages_);
  for (Message& message : lost) {
    message.spent.failed = true;
    if (!message.cancelled) delivered_(message.spent);
  }
}

void TcpConnection::send(TransferId id, Bytes payload) {
  Message message;
  message.id = id;
  message.begin = end_;
  message.end = end_ + payload.count();
  message.spent.id = id;
  end_ = message.end;
  messages_.push_back(message);
  if (connected_) fill();
  if (read_ == end_) ns3::Simulator::ScheduleNow(&TcpConnection::deliver_read_messages, this);
}

void TcpConnection::cancel(TransferId id, Delivery& spent) {
  const auto found = std::find_if(messages_.begin(), messages_.end(),
                                  [id](const Message& message) { return message.id == id; });
  if (found == messages_.end()) return;
  spent = found->spent;
  const std::int64_t removed = found->end - std::max(found->begin, std::min(written_, found->end));
  for (auto later = found + 1; later != messages_.end(); ++later) {
    later->begin -= removed;
    later->end -= removed;
  }
  found->end -= removed;
  end_ -= removed;
  found->cancelled = true;
  if (found->begin == found->end) messages_.erase(found);
  if (read_ == end_) ns3::Simulator::ScheduleNow(&TcpConnection::deliver_read_messages, this);
}

/// Keeps `kAheadSegments` unsent segments in the socket.
void TcpConnection::fill() {
  fill_scheduled_ = false;
  const std::int64_t ahead = kAheadSegments * transport_.segment.count();
  const std::int64_t wanted = std::min(end_, sent_ + ahead) - written_;
  const std::int64_t size = std::min<std::int64_t>(wanted, sender_->GetTxAvailable());
  if (size <= 0 || broken_) return;
  // Whole segments, unless the stream ends here: else TCP sends the short piece as it is.
  const std::int64_t whole = size - size % transport_.segment.count();
  const std::int64_t piece = written_ + size == end_ ? size : whole;
  if (piece <= 0) return;
  const int accepted = sender_->Send(ns3::Create<ns3::Packet>(static_cast<std::uint32_t>(piece)));
  if (accepted > 0) written_ += accepted;
}

void TcpConnection::on_room(ns3::Ptr<ns3::Socket>, std::uint32_t) {
  fill();
}

void TcpConnection::on_data(ns3::Ptr<ns3::Socket> socket) {
  while (const ns3::Ptr<ns3::Packet> data = socket->Recv()) {
    if (data->GetSize() == 0) break;
    read_ += data->GetSize();
  }
  deliver_read_messages();
}

void TcpConnection::deliver_read_messages() {
  while (!messages_.empty() && messages_.front().end <= read_) {
    const Message message = messages_.front();
    messages_.pop_front();
    if (!message.cancelled) delivered_(message.spent);
  }
}

void TcpConnection::on_segment(ns3::Ptr<const ns3::Packet> payload, const ns3::TcpHeader& header,
                               ns3::Ptr<const ns3::TcpSocketBase>) {
  const std::int64_t length = payload->GetSize();
  if (length == 0) return;
  const std::int64_t offset = stream_offset(header, sent_);
  if (ledger_) ledger_->sent(length, std::clamp<std::int64_t>(offset + length - sent_, 0, length));
  const std::int64_t ethernet =
      transport_.wire_segment.count() - transport_.segment.count() - kTcpIpHeader;
  charge(offset, length, kIpHeader + header.GetSerializedSize() + ethernet, offset < sent_);
  sent_ = std::max(sent_, offset + length);
  if (sent_ == written_ && written_ < end_ && !fill_scheduled_) {
    // The window opened by more than what lay ready.
    fill_scheduled_ = true;
    ns3::Simulator::ScheduleNow(&TcpConnection::fill, this);
  }
}

void TcpConnection::charge(std::int64_t offset, std::int64_t length, std::int64_t overhead,
                           bool again) {
  const auto first =
      std::partition_point(messages_.begin(), messages_.end(),
                           [offset](const Message& message) { return message.end <= offset; });
  for (auto message = first; message != messages_.end() && message->begin < offset + length;
       ++message) {
    const std::int64_t share =
        std::min(message->end, offset + length) - std::max(message->begin, offset);
    message->spent.wire += Bytes(std::max<std::int64_t>(share, 0));
    if (message == first) {
      message->spent.wire += Bytes(overhead);
      message->spent.retransmissions += again ? 1 : 0;
    }
  }
}

}  // namespace gradwire::sim
