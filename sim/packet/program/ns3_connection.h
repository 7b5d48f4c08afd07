// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/socket.h>
#include <ns3/tcp-header.h>
#include <ns3/tcp-socket-base.h>

#include <cstdint>
#include <deque>
#include <functional>

#include "sim/cluster/cluster.h"
#include "sim/packet/program/host_connection.h"
#include "sim/packet/program/segment_ledger.h"

namespace gradwire::sim {

class Ns3Topology;

/// One warm TCP connection from a host to another, and the messages on it.
///
/// Messages are byte ranges [begin, end) of one stream; a message is delivered when the receiver
/// has read `end` bytes. The sender hands bytes to its socket only so far ahead of what TCP has
/// sent (kAheadSegments, as TCP_NOTSENT_LOWAT does on Linux), so that a cancelled message leaves
/// little behind: what was handed over is still carried, the rest is taken out of the stream.
///
/// Each segment sent, again or for the first time, is charged to the messages whose bytes it
/// carries; its headers to the message of its first byte. Copies sent after a message was read are
/// counted by the channels alone.
class TcpConnection final : public HostConnection {
 public:
  /// `delivered` gets id, wire, retransmissions and failed; the caller fills in the time.
  TcpConnection(Ns3Topology& topology, int source, int destination,
                const TransportSettings& transport, Report delivered, std::function<void()> opened);
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;
  ~TcpConnection() override;

  bool open() const { return connected_ && accepted_; }
  bool broken() const override { return broken_; }
  void send(TransferId id, Bytes payload) override;
  /// Takes the message out of the stream.
  void cancel(TransferId id, Delivery& spent) override;

 private:
  struct Message {
    TransferId id = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    Delivery spent;
    bool cancelled = false;
  };

  void listen(Ns3Topology& topology, int destination);
  void connect(Ns3Topology& topology, int source, int destination);
  void on_connected(ns3::Ptr<ns3::Socket> socket);
  void on_accepted(ns3::Ptr<ns3::Socket> socket, const ns3::Address& from);
  void on_broken(ns3::Ptr<ns3::Socket> socket);
  void on_room(ns3::Ptr<ns3::Socket> socket, std::uint32_t bytes);
  void on_data(ns3::Ptr<ns3::Socket> socket);
  void on_segment(ns3::Ptr<const ns3::Packet> payload, const ns3::TcpHeader& header,
                  ns3::Ptr<const ns3::TcpSocketBase> socket);
  void fill();
  void charge(std::int64_t offset, std::int64_t length, std::int64_t overhead, bool again);
  void deliver_read_messages();

  TransportSettings transport_;
  Report delivered_;
  std::function<void()> opened_;
  ns3::Ptr<ns3::Socket> sender_;
  ns3::Ptr<ns3::Socket> listener_;
  ns3::Ptr<ns3::Socket> receiver_;
  bool connected_ = false;
  bool accepted_ = false;
  bool broken_ = false;
  bool fill_scheduled_ = false;
  std::deque<Message> messages_;  ///< by begin; those that are not read yet
  std::int64_t end_ = 0;          ///< bytes of all messages so far
  std::int64_t written_ = 0;      ///< of these, handed to the socket
  std::int64_t sent_ = 0;         ///< of these, sent at least once
  std::int64_t read_ = 0;         ///< of these, read by the receiver
  SegmentLedger* ledger_ = nullptr;
};

}  // namespace gradwire::sim
