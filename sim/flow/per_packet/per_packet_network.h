#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/per_packet/air/air.h"
#include "sim/flow/per_packet/datagrams.h"
#include "sim/flow/per_packet/packet_events.h"
#include "sim/flow/per_packet/packet_link.h"
#include "sim/flow/tcp/stream.h"
#include "sim/session/connection_table.h"
#include "sim/session/network.h"

/// A network packet by packet, in whole nanoseconds and in ns-3's order of events: the segments and
/// acknowledgements of TCP's connections (tcp/stream.h, by ns-3's or by Linux's rules), and
/// datagrams, which nothing but their senders' links holds back, through the queues of all links of
/// their ways: wires (wire_link.h) and the air of radio cells (air/). What finds a queue full is
/// dropped, what a link loses is gone at its end. What is written to a connection at one instant
/// goes out together, and by ns-3's rules a nanosecond later, as its sockets send it.
///
/// A packet costs an event for each wire that it crosses, and up to two more where it waits.
///
/// Others' traffic, which begins beside a pair's own connection, is TCP's, whatever the transport.
/// A message of datagrams ends as sim/cluster/datagram_wait.h says.
///
/// With cells its clock goes as ns-3's does: while connections open together before the first
/// message (their handshakes leave bearers with something owed), and not while nothing has been
/// under way for 100 ms. So a phone's subframes stand to its messages as they do there.
///
/// Where it breaks down: where ns-3 opens connections while others send (here they are open); of a
/// short segment that goes out again with the next one's bytes (tcp/scoreboard.h).
namespace gradwire::sim {

class PerPacketNetwork final : public Network {
 public:
  /// `cluster` outlives it.
  PerPacketNetwork(const Cluster& cluster, const TransportSettings& transport, std::uint64_t seed);

  void prepare(const GraphTemplate& graph, std::span<const Bytes> bytes) override;
  bool prepares() const override { return !airs_.empty(); }
  void start(TransferId id, int source, int destination, Bytes payload) override {
    write(connect(source, destination, 0), id, payload);
  }
  void start_beside(TransferId id, int beside, int source, int destination,
                    Bytes payload) override {
    write(connect(source, destination, beside), id, payload);
  }
  void cancel(TransferId id) override;
  void advance(Seconds until, std::vector<Delivery>& delivered) override;
  Seconds now() const override { return Seconds(now_); }
  std::vector<ChannelRecord> channels() const override;

 private:
  static constexpr double kNever = DatagramFlow::kNever;
  static constexpr std::int64_t kRest = 100'000'000;  ///< ns
  struct Entry {
    ChannelId channel = -1;
    std::int32_t flow = -1;
  };
  struct Ends {
    int source = 0;  ///< host
    int destination = 0;
    int beside = 0;
  };
  struct Unwritten {
    TransferId id = 0;
    std::int64_t bytes = 0;
  };
  /// Of what opens a connection.
  struct Handshake {
    bool is_begun = false;
    // Of its packets: the first one, its answer, and what acknowledges that.
    bool has_come = false, is_answered = false, is_accepted = false;
    int tries[2] = {0, 0};  ///< of the first one, and of the answer
    double since = 0;       ///< s: the first one was sent, of those that came
  };
  struct Connection final : SegmentCarrier {
    void carry(double now, std::int64_t number, std::int32_t wire, std::int32_t sent) override;
    PerPacketNetwork* network = nullptr;
    std::int32_t number = 0;
    Entry entry;  ///< of its way
    Entry back;   ///< ... of acknowledgements'
    Ends ends;
    std::unique_ptr<DatagramFlow> datagrams;  ///< or:
    std::unique_ptr<TcpStream> stream;
    std::vector<Unwritten> unwritten;  ///< messages that came at this instant
    std::uint64_t acknowledged = 0;    ///< acknowledgements that have gone out
    double due = kNever;               ///< s: when the stream does something next
    /// ... among the events. Acknowledgements put it off again and again: an earlier event,
    /// `event`, is left where it is, and makes way for it when it comes.
    PacketEvents::Key due_at;
    PacketEvents::Key event;
    Handshake handshake;
  };
  struct Sender {
    DatagramSender datagrams;
    std::uint64_t order = 0;  ///< of its event
  };
  /// A cell, and its event.
  struct CellAir {
    std::unique_ptr<Air> air;
    PacketEvents::Key event;
  };

  double own(double session) const { return session + events_.clock().behind; }
  void move_to_now();
  void run_until(std::int64_t time);
  void write(Connection& owner, TransferId id, Bytes payload);
  void send_written(Connection& owner);
  void deliver(std::vector<Delivery>& delivered);
  PacketLink& link(ChannelId id) { return *links_[static_cast<std::size_t>(id)]; }
  PacketLink& open_link(ChannelId id);
  std::unique_ptr<PacketLink> new_link(ChannelId id);
  Connection& connection(std::int32_t c) { return *connections_[static_cast<std::size_t>(c)]; }
  Connection& connect(int source, int destination, int beside);
  Connection& open(const Ends& ends);
  void open_datagrams(Connection& added);
  void open_stream(Connection& added);
  Entry enter_way(const Connection& owner, bool acknowledges);
  void enter(const Entry& entry, const PacketLink::Packet& packet);
  void handle(const PacketEvent& event);
  void come(PacketLink& from, const PacketLink::Arrival& arrival);
  void on_send(std::int32_t host, std::uint64_t order);
  void schedule(std::int32_t host, std::int64_t time);
  void on_timer(Connection& owner, std::uint64_t order);
  void set_timer(Connection& owner, double next);
  void run_stream(Connection& owner);
  void send_acks(Connection& owner);
  void look_at(Connection& owner);

  // handshakes.cc
  void open_airs();
  void schedule_air(std::int32_t cell);
  void on_air(std::int32_t cell, std::uint64_t order);
  void set_clock(const SessionClock& clock);
  void wake_up();
  void shake_hands();
  void send_first(Connection& owner, bool answers);
  void on_handshake(Connection& owner, bool answers, const PacketLink::Packet& packet);
  std::int32_t header() const {  ///< bytes of a packet on a wire that are no payload
    return static_cast<std::int32_t>((transport_.wire_segment - transport_.segment).count());
  }

  const Cluster& cluster_;
  TransportSettings transport_;
  TransportSettings tcp_;
  std::uint64_t seed_;
  StreamNumbers phases_;
  double clock_;
  std::int64_t until_sent_;  ///< ns: ns-3 sends what is written a step of its clock later
  double now_ = 0;           ///< s, the session's; all other times are the packets' own
  PacketEvents events_;
  std::vector<std::unique_ptr<PacketLink>> links_;  ///< [channels], as far as they are used
  std::vector<CellAir> airs_;                       ///< [cells]
  std::vector<std::size_t> stations_;               ///< [links]: of those, their numbers in a cell
  std::vector<AirPacket> through_;                  ///< scratch
  ConnectionTable table_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::deque<StreamPath> paths_;
  std::vector<Sender> senders_;  ///< [hosts]
  std::int64_t moved_to_ = -1;   ///< ns: when something last began
  std::int64_t rests_at_ = 0;    ///< ns: until then cells go on although nothing is under way
  std::int64_t opening_ = 0;     ///< connections
  std::unordered_map<TransferId, std::int32_t> under_way_;  ///< messages: their connections
  std::vector<EndedMessage> ended_;
  std::vector<EndedMessage> delivered_;  ///< by the last advance(): Delivery::missing is theirs
  std::vector<ChannelId> route_;         ///< scratch
};

}  // namespace gradwire::sim
