#pragma once
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/per_packet/datagrams.h"
#include "sim/flow/per_packet/packet_events.h"
#include "sim/flow/per_packet/packet_link.h"
#include "sim/flow/tcp/stream.h"

/// What crosses wires, packet by packet, in whole nanoseconds and in ns-3's order of events: the
/// segments and acknowledgements of TCP's connections (tcp/stream.h, by ns-3's or by Linux's
/// rules), and datagrams, which nothing but their senders' links holds back, through the queues of
/// all links of their ways (packet_link.h). What finds a queue full is dropped, what a link loses
/// is gone at its end. What is written to a connection at one instant goes out together, and by
/// ns-3's rules a nanosecond later, as its sockets send it.
///
/// A packet costs an event for each link that it crosses, and up to two more where it waits.
///
/// Where it breaks down: where ns-3 opens connections while others send (here they are open); of a
/// short segment that goes out again with the next one's bytes (tcp/joined_copies.h).
namespace gradwire::sim {

class PerPacketNetwork {
 public:
  static constexpr double kNever = DatagramFlow::kNever;
  using Ended = EndedMessage;

  /// `cluster` outlives it. `clock`: StreamPath's, of TCP.
  PerPacketNetwork(const Cluster& cluster, const TransportSettings& transport, std::uint64_t seed,
                   double clock);

  /// Another connection, of datagrams.
  std::int32_t add_datagrams(int source, int destination);
  /// ... or of TCP, the so many-th beside the pair's first one.
  std::int32_t add_stream(int source, int destination, int beside);

  /// A message is written at `now`, s, until which run() has been.
  void write(double now, std::int32_t connection, std::uint64_t id, std::int64_t bytes);
  void cancel(double now, std::int32_t connection, std::uint64_t id);
  /// Goes on until something has ended, or all until `until`, s, is over. s: when something has
  /// ended or may end next; infinite: all has.
  double run_ahead(double until);
  /// All events until `until`, s. Appends the messages that have ended.
  void run(double until, std::vector<Ended>& ended);

  std::int64_t wire_bytes(ChannelId id) const;
  double busy(ChannelId id) const;  ///< s

 private:
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
    std::uint64_t id = 0;
    std::int64_t bytes = 0;
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
  };
  struct Sender {
    DatagramSender datagrams;
    std::uint64_t order = 0;  ///< of its event
  };

  void move_to(double now);
  void send_written(Connection& owner);
  PacketLink& link(ChannelId id) { return *links_[static_cast<std::size_t>(id)]; }
  PacketLink& open_link(ChannelId id);
  Connection& connection(std::int32_t c) { return *connections_[static_cast<std::size_t>(c)]; }
  Connection& add(const Ends& ends);
  Entry enter_way(const Connection& owner, bool acknowledges);
  void enter(const Entry& entry, const PacketLink::Packet& packet);
  void handle(const PacketEvent& event);
  void on_arrival(PacketLink& from);
  void on_send(std::int32_t host, std::uint64_t order);
  void schedule(std::int32_t host, std::int64_t time);
  void on_timer(Connection& owner, std::uint64_t order);
  void set_timer(Connection& owner, double next);
  void run_stream(Connection& owner);
  void send_acks(Connection& owner);
  void look_at(Connection& owner);

  const Cluster& cluster_;
  TransportSettings transport_;
  TransportSettings tcp_;
  std::uint64_t seed_;
  StreamNumbers phases_;
  double clock_;
  std::int64_t until_sent_;  ///< ns: ns-3 sends what is written a step of its clock later
  PacketEvents events_;
  std::vector<std::unique_ptr<PacketLink>> links_;  ///< [channels], as far as they are used
  std::vector<std::unique_ptr<Connection>> connections_;
  std::deque<StreamPath> paths_;
  std::vector<Sender> senders_;  ///< [hosts]
  std::int64_t moved_to_ = -1;   ///< ns: when something last began
  std::int64_t open_ = 0;        ///< messages that have not ended
  std::vector<Ended> ended_;
  std::vector<ChannelId> route_;  ///< scratch
};

}  // namespace gradwire::sim
