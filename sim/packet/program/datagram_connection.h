// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/socket.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/packet/program/host_connection.h"

namespace gradwire::sim {

class DatagramSender;
class Ns3Topology;

/// udp-lossy on ns-3: messages from a host to another as UDP datagrams of one segment, never sent
/// again. A datagram carries 24 bytes of its own (message, segment, sizes), so that with UDP's and
/// IP's headers it is as long as a TCP segment.
///
/// A message is delivered when sim/cluster/datagram_wait.h says; what has not come by then is
/// missing, lost or late. Its last segment is due its way's delays (and four times their jitter)
/// after it was sent.
class DatagramConnection final : public HostConnection {
 public:
  DatagramConnection(Ns3Topology& topology, const Cluster& cluster, int source, int destination,
                     const TransportSettings& transport, DatagramSender& sender, Report delivered);
  DatagramConnection(const DatagramConnection&) = delete;
  DatagramConnection& operator=(const DatagramConnection&) = delete;
  ~DatagramConnection() override;

  bool broken() const override { return false; }
  void send(TransferId id, Bytes payload) override;
  void cancel(TransferId id, Delivery& spent) override;

  // For the sender alone.
  bool has_more() const;
  /// ns-3's clock at which the slowest link of the way has room for one more.
  std::int64_t next_time() const { return next_time_; }
  /// Gives the time that it occupies the host's link.
  std::int64_t send_one();

 private:
  struct Message {
    std::uint32_t number = 0;
    std::int64_t payload = 0;
    std::int64_t sent = 0;    ///< bytes
    std::vector<bool> there;  ///< by segment
    Delivery spent;
  };

  void measure_way(const Cluster& cluster, int source, int destination);
  void on_data(ns3::Ptr<ns3::Socket> socket);
  void give_up(std::uint32_t number);
  void take(std::uint32_t number, std::size_t segment);
  void deliver(std::deque<Message>::iterator message);
  std::deque<Message>::iterator find(std::uint32_t number);
  std::int64_t segments_of(const Message& message) const;

  TransportSettings transport_;
  DatagramSender& sender_;
  Report delivered_;
  ns3::Ptr<ns3::Socket> out_;
  ns3::Ptr<ns3::Socket> in_;
  std::deque<Message> messages_;    ///< not delivered yet
  std::vector<ByteRange> missing_;  ///< of the one that is being delivered
  std::uint32_t last_number_ = 0;
  std::int64_t next_time_ = 0;
  double first_rate_ = 0;    ///< bit/s, of the host's own link
  double slowest_rate_ = 0;  ///< of the way
  std::int64_t latest_ = 0;  ///< ns from the sending of a message's last segment to its end
};

}  // namespace gradwire::sim
