#pragma once
#include <cstdint>
#include <deque>
#include <limits>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/graph/byte_range.h"

/// udp-lossy, datagram by datagram, as `packet` sends them: in whole nanoseconds.
namespace gradwire::sim {

struct Datagram {
  std::int32_t connection = 0;
  std::int64_t number = 0;
  std::int32_t wire = 0;  ///< bytes
  /// s: of a message's last one, when the message ends at the latest.
  double due = std::numeric_limits<double>::infinity();
};

/// A message of a connection that is followed packet by packet has ended.
struct EndedMessage {
  std::uint64_t id = 0;
  std::int64_t wire = 0;  ///< bytes sent, copies too
  std::int64_t retransmissions = 0;
  std::vector<ByteRange> missing = {};  ///< of the payload of datagrams, ascending and apart
};

/// One connection: the messages that its sender has not sent wholly, and those that its receiver
/// waits for. A message ends when sim/cluster/datagram_wait.h says; what has not come by then is
/// missing.
class DatagramFlow {
 public:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  struct Way {
    double rate = 0;    ///< bytes/s, of its slowest link, at which it is sent
    double latest = 0;  ///< s from the sending of a message's last datagram to its end
    std::int64_t segment = 0;
    std::int64_t header = 0;  ///< bytes of a datagram on the wire that are no payload
  };

  explicit DatagramFlow(const Way& way) : way_(way) {}

  void write(std::uint64_t id, std::int64_t bytes);
  /// Nothing more of it is sent, and nothing waited for.
  void cancel(std::uint64_t id);

  bool has_more() const { return sending_ < messages_.size(); }
  /// s: when the slowest link has room for the next one.
  double next_time() const { return next_time_; }
  /// The next datagram goes out. Precondition: has_more().
  Datagram send(double now);

  void arrive(std::int64_t number);
  /// s: when the oldest message ends, whatever has come.
  double deadline() const;
  void give_up(double now);
  /// Messages that have ended since the last call, in order.
  std::vector<EndedMessage> take_ended() { return std::exchange(ended_, {}); }

 private:
  friend class DatagramSender;

  struct Message {
    std::uint64_t id = 0;
    std::int64_t first = 0;    ///< number of its first datagram
    std::int64_t payload = 0;  ///< bytes
    std::int64_t sent = 0;     ///< datagrams
    std::int64_t wire = 0;     ///< bytes
    double due = kNever;       ///< s
    bool is_cancelled = false;
    std::vector<bool> there;
  };

  std::vector<ByteRange> missing_of(const Message& message) const;
  void end_first();
  void drop_cancelled();

  Way way_;
  std::deque<Message> messages_;  ///< that have not ended
  std::size_t sending_ = 0;       ///< the first one that is not wholly sent
  std::int64_t next_ = 0;         ///< datagram's number
  double next_time_ = 0;
  std::vector<EndedMessage> ended_;
  // Its sender's.
  bool is_active_ = false;  ///< has a place in the order of turns
  bool is_ready_ = false;   ///< may send as soon as the host's link is free
  bool is_awaited_ = false;
};

/// Of a way over these channels.
DatagramFlow::Way datagram_way(const Cluster& cluster, std::span<const ChannelId> route,
                               const TransportSettings& transport);

/// A host that sends datagrams: one of each connection in turn, as fast as its own link takes them,
/// and none faster than the slowest link of its way.
class DatagramSender {
 public:
  static constexpr double kNever = DatagramFlow::kNever;

  /// Of its link, bytes/s.
  void set_rate(double rate) { rate_ = rate; }

  /// The connection, whose number is `number`, has something to send from now on.
  void wake(std::int32_t number, DatagramFlow& flow);
  /// Something of a connection was cancelled.
  void look_again() { looks_again_ = true; }
  /// Sends one datagram if one may go out. Gives the connection's number; -1: none may.
  std::int32_t send(double now, Datagram& packet);
  /// s: when send() has something to do next.
  double next_event() const;

 private:
  struct Awaited {
    double time = 0;
    DatagramFlow* flow = nullptr;
    bool operator>(const Awaited& other) const { return time > other.time; }
  };
  void drop_finished();
  void await(DatagramFlow& flow);
  void find_ready(double now);

  std::vector<std::pair<std::int32_t, DatagramFlow*>> active_;
  std::size_t turn_ = 0;
  std::size_t finished_ = SIZE_MAX;  ///< place of the one that may have nothing more
  bool looks_again_ = false;
  std::int64_t ready_ = 0;  ///< connections
  std::priority_queue<Awaited, std::vector<Awaited>, std::greater<>> awaited_;
  double rate_ = 1;
  double free_at_ = 0;  ///< s, its link
};

}  // namespace gradwire::sim
