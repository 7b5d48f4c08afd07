#pragma once
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <thread>
#include <utility>
#include <vector>

#include "base/file_descriptor.h"
#include "emulator/exchange/pattern.h"
#include "emulator/exchange/payload_store.h"
#include "emulator/exchange/tcp_socket.h"
#include "sim/graph/interpreter.h"

/// One host's TCP connections to the others: one for each ordered pair that has something to say,
/// opened before the first step and kept. Messages of a pair arrive in the order of sending.
///
/// A message is a 56-byte header and its payload, written by one sendmsg. Nothing is copied on the
/// way out; on the way in each stretch is compared, as it arrives, with what the method's message
/// holds (emulator/exchange/payload_store.h), or, where nobody said what that is, with the pattern.
///
/// Who reads. Whichever thread waits for something drives the sockets itself (poll, then reads and
/// writes), so that a hop costs one wake-up; others that wait meanwhile are told. When no operation
/// is at work, a background thread drives, so that early messages of later operations do not block
/// the connection.
namespace gradwire::emulator {

using GraphId = std::uint64_t;
using sim::OpIndex;

/// Thrown to a thread that waits for a message of a cancelled graph.
struct Cancelled {};

struct MessageHeader;  // emulator/exchange/exchange_state.h
inline constexpr int kMessageHeaderBytes = 56;

/// Where a host listens.
struct PeerAddress {
  std::string address;
  int port = 0;
};

struct ConnectionCounters {
  int to_host = 0;
  TcpCounters tcp;
};

class Exchange {
 public:
  /// Called (from a thread that must not be kept) when a message has come for an operation.
  using OnMessage = std::function<void(GraphId, OpIndex)>;
  /// Called once (the same) when what arrives is damaged or cannot be read. Whoever waits is thrown
  /// the reason, but nobody need be waiting.
  using OnFailure = std::function<void(const std::exception&)>;

  /// `payloads`: what graphs' messages hold; may be null. Must outlive this object.
  Exchange(int host, std::vector<PeerAddress> peers, const SocketSettings& settings,
           OnMessage on_message, OnFailure on_failure, const PayloadReader* payloads);
  Exchange(const Exchange&) = delete;  // threads and sockets refer to it
  Exchange& operator=(const Exchange&) = delete;
  ~Exchange();

  /// Where it listens itself.
  int port() const;
  /// As the kernel gave it.
  std::string congestion_control() const;
  /// In the place of those that it was made with; before anything connects.
  void use_peers(std::vector<PeerAddress> peers) { peers_ = std::move(peers); }
  /// Opens the connection to `host` if there is none.
  void connect_to(int host);

  /// `row`: of the graph's payloads; none: the payload is of the pattern. It must stay valid until
  /// flush() of the same operation has returned.
  void send(int to_host, GraphId graph, OpIndex op, const sim::HopTransfer& hop,
            std::span<const std::byte> payload, std::optional<std::uint32_t> row = {});
  sim::WireMessage receive(GraphId graph, OpIndex op);
  /// Returns when the kernel has taken all that was sent for the operation.
  void flush(GraphId graph, OpIndex op);
  /// Discards what has come and will come for the graph; waiting threads get Cancelled.
  void cancel(GraphId graph);
  bool has_message(GraphId graph, OpIndex op);

  /// Round-trip time of a header to `host` and back.
  Seconds ping(int host);
  /// Segments sent again to `host` since the last call.
  std::int64_t take_retransmissions(int host);
  std::vector<ConnectionCounters> counters();

  /// While one lives, the background thread leaves the sockets to the threads that wait.
  class Foreground {
   public:
    explicit Foreground(Exchange& exchange);
    Foreground(const Foreground&) = delete;  // it stands for one count
    Foreground& operator=(const Foreground&) = delete;
    ~Foreground();

   private:
    Exchange& exchange_;
  };

 private:
  struct Incoming;
  struct Outgoing;

  using Lock = std::unique_lock<std::mutex>;
  using Key = std::pair<GraphId, OpIndex>;

  template <typename Condition>
  void wait_for(Lock& lock, Condition condition);
  void background();
  void poll_once(Lock& lock);
  void accept_one();
  void read_some(Incoming& incoming);
  bool read_header(Incoming& incoming);
  void begin_message(Incoming& incoming);
  std::span<const std::byte> expected_of(const MessageHeader& header, int host);
  bool read_payload(Incoming& incoming);
  void end_message(Incoming& incoming);
  void write_some(Outgoing& outgoing);
  void enqueue(Outgoing& outgoing, const MessageHeader& header, std::span<const std::byte> payload);
  Outgoing& outgoing_to(int host);
  void poke();

  const int host_;
  std::vector<PeerAddress> peers_;
  const SocketSettings settings_;
  const OnMessage on_message_;
  const OnFailure on_failure_;
  const PayloadReader* const payloads_;
  Pattern pattern_;
  FileDescriptor listener_;
  FileDescriptor wake_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Incoming>> incoming_;
  std::map<int, std::unique_ptr<Outgoing>> outgoing_;
  std::map<Key, std::deque<sim::WireMessage>> inbox_;
  std::map<Key, int> unsent_;
  std::set<GraphId> cancelled_;
  std::uint64_t pongs_ = 0;
  int foreground_ = 0;
  bool driven_ = false;
  bool stop_ = false;
  std::exception_ptr failure_;
  std::thread thread_;

 public:
  /// Where payloads come from that nobody has said; see emulator/exchange/pattern.h.
  Pattern& pattern() { return pattern_; }
  const PayloadReader* payloads() const { return payloads_; }
};

}  // namespace gradwire::emulator
