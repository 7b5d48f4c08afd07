// SPDX-License-Identifier: GPL-2.0-only
#pragma once
#include <ns3/event-id.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/packet/program/datagram_sender.h"
#include "sim/packet/program/host_connection.h"
#include "sim/packet/program/ns3_output.h"
#include "sim/packet/program/ns3_topology.h"
#include "sim/session/executor.h"
#include "sim/session/network.h"

namespace gradwire::sim {

/// ns-3 as the network of a graph session. One a process: ns-3's simulator, settings and random
/// numbers are global.
///
/// The session's clock is ns-3's less the time that was spent opening connections while nothing was
/// under way (prepare()); it starts at 0. Times are ns-3's whole nanoseconds.
///
/// A transfer that takes longer than `transfer_limit` fails at that instant; so do all transfers of
/// a connection that TCP gave up. The next transfer of that pair opens a new connection, whose
/// handshake then takes virtual time and crosses the lossy links like everything else.
///
/// Stations of radio cells associate or connect before the session's clock starts. Where a cluster
/// has cells, times at which no transfer is under way are leapt over once the cell is at rest: its
/// idle radio costs events. It is at rest, too, when the session's clock starts.
class Ns3Network final : public Network {
 public:
  Ns3Network(const Cluster& cluster, const ExecutorOptions& options);
  ~Ns3Network() override;

  /// Opens the connections that are missing, those of background traffic over wires, too. Where no
  /// transfer is under way the session's clock stands still meanwhile, and no packet is lost.
  void prepare(const GraphTemplate& graph, std::span<const Bytes> bytes) override;

  void start(TransferId id, int source, int destination, Bytes payload) override;
  void start_beside(TransferId id, int beside, int source, int destination, Bytes payload) override;
  void cancel(TransferId id) override;
  void advance(Seconds until, std::vector<Delivery>& delivered) override;
  Seconds now() const override { return now_; }

  std::vector<ChannelRecord> channels() const override { return topology_->channels(); }
  /// Writes what the options asked for at the end. Call once, last.
  void write_output();
  std::uint64_t events() const;
  /// All zero unless options.count_segments.
  SegmentBooks segments() const;
  /// Called from time to time while advance() runs, with the session's time.
  void on_progress(std::function<void(Seconds)> callback);

 private:
  struct Running {
    HostConnection* connection = nullptr;
    std::int64_t deadline = 0;
  };
  struct Deadline {
    std::int64_t time = 0;
    TransferId id = 0;
  };

  void open_output();
  void connect_stations();
  HostConnection& connection(int source, int destination, int beside = 0);
  std::unique_ptr<HostConnection> open_tcp(int source, int destination);
  std::unique_ptr<HostConnection> open_datagrams(int source, int destination);
  void start_on(HostConnection& stream, TransferId id, Bytes payload);
  bool opens_alone() const;
  void finish_opening();
  std::int64_t longest_gap() const;
  void rest_until_tick(std::int64_t origin);
  void run(std::int64_t until);
  void finish(Delivery delivery);
  void check_deadlines();
  void watch_deadlines();
  Seconds session_time() const;

  Cluster cluster_;
  ExecutorOptions options_;
  std::unique_ptr<Ns3Topology> topology_;
  std::unique_ptr<Ns3Output> output_;
  std::vector<std::unique_ptr<DatagramSender>> senders_;      ///< [hosts], where they are needed
  std::vector<std::unique_ptr<HostConnection>> connections_;  ///< broken ones too, until the end
  std::unordered_map<std::uint64_t, HostConnection*> by_pair_;
  std::unordered_map<TransferId, Running> running_;
  std::deque<Deadline> deadlines_;  ///< in order of start, hence of time
  ns3::EventId deadline_event_;
  ns3::EventId arrival_stop_;
  std::vector<Delivery> arrived_;
  std::deque<std::vector<ByteRange>> missing_;  ///< of those that arrived last
  std::int64_t rests_at_ = 0;                   ///< ns-3's clock: when a cell is at rest
  std::size_t opening_ = 0;
  bool preparing_ = false;
  Seconds now_{0};
};

}  // namespace gradwire::sim
