#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "sim/cluster/cluster.h"
#include "sim/flow/cells/air.h"
#include "sim/flow/cells/cell_wire.h"
#include "sim/flow/per_packet/datagrams.h"
#include "sim/flow/shares/indexed_heap.h"
#include "sim/flow/tcp/stream.h"
#include "sim/session/event_heap.h"

/// Connections that cross radio cells, packet by packet: segments and acknowledgements over the air
/// of their cells (wifi_air.h, lte_air.h) and the wires behind the bases.
///
/// In the air what a byte costs hangs on what is sent with it, on who else has something, and on
/// the acknowledgements that come back over the same medium, so that no rate stands for it.
///
/// Its own clock goes as ns-3's does: while connections open together before the first message
/// (their handshakes leave bearers with something owed), and not while nothing has been under way
/// for 100 ms. So a phone's subframes stand to its messages as they do there.
///
/// Where it breaks down: on a wire that connections which cross no cell use, too, neither waits for
/// the other.
namespace gradwire::sim {

class CellNetwork {
 public:
  static constexpr double kNever = Air::kNever;
  static constexpr double kRest = 0.1;  ///< s
  /// s: how long before the first subframe the first handshakes begin; time stamps are ahead by it.
  static constexpr double kInTime = 5e-10;
  static constexpr double kBegin = 1;  ///< s: as a subframe begins

  using Ended = EndedMessage;

  CellNetwork(const Cluster& cluster, const TransportSettings& transport, std::uint64_t seed);

  /// Whether a way crosses a cell.
  static bool is_needed(const Cluster& cluster, std::span<const ChannelId> route);
  /// Another connection. `stream` has nothing written; `data`, `acks`: what is lost.
  std::int32_t add(std::unique_ptr<TcpStream> stream, std::span<const ChannelId> route,
                   LossSequence data, LossSequence acks);
  /// One of udp-lossy, of a host that sends.
  std::int32_t add_datagrams(const DatagramFlow::Way& way, std::int32_t host,
                             std::span<const ChannelId> route, LossSequence data);

  /// Those that were added since the last call open, in no time of the session's, where nothing is
  /// under way.
  void open(double now);

  /// A message is written at the next event, which is now.
  void write(double now, std::int32_t connection, std::uint64_t id, std::int64_t bytes);
  void cancel(double now, std::int32_t connection, std::uint64_t id);
  double next_event() const;
  /// All events until `until`. Appends what has arrived.
  void run(double until, std::vector<Ended>& ended);

  double wire_bytes(ChannelId id) const { return sent_[static_cast<std::size_t>(id)]; }
  double busy(ChannelId id) const;  ///< s

 private:
  struct Connection final : SegmentCarrier {
    void carry(double now, std::int64_t number, std::int32_t wire, std::int32_t sent) override;
    CellNetwork* network = nullptr;
    std::int32_t number = 0;
    std::unique_ptr<TcpStream> stream;  ///< or:
    std::unique_ptr<DatagramFlow> datagrams;
    std::int32_t host = 0;               ///< that sends them
    std::vector<ChannelId> ways[2];      ///< of segments, and of acknowledgements
    std::vector<std::int32_t> flows[2];  ///< in the queues of wires; -1: the air
    std::vector<LossSequence> losses;
    std::uint64_t acknowledged = 0;  ///< acknowledgements that have gone out
    bool is_open = false;            ///< or opens
    // The handshake's packets: the first one, its answer, and what acknowledges that.
    bool has_come = false, is_answered = false, is_accepted = false;
    double opens_since = 0;  ///< s: the first packet of its handshake was sent, of those that came
    double until = kNever;   ///< s: then a station on its way is out of range for ever
  };
  struct Coming {
    double time = 0;
    std::uint64_t order = 0;
    CellPacket packet;
  };
  struct Written {
    double time = 0;
    std::int32_t connection = 0;
    std::uint64_t id = 0;
    std::int64_t bytes = 0;
  };
  struct Retry {
    double time = 0;
    std::uint64_t order = 0;
    CellPacket packet;
    int tries = 0;
  };
  struct Place {
    std::int32_t cell = -1;
    std::size_t station = 0;
  };

  Connection& add_on(std::span<const ChannelId> route, LossSequence data, LossSequence acks);
  Connection& connection(std::int32_t c) { return *connections_[static_cast<std::size_t>(c)]; }
  CellWire* wire_of(ChannelId id);
  std::int32_t header() const {  ///< bytes of a packet on a wire that are no payload
    return static_cast<std::int32_t>((transport_.wire_segment - transport_.segment).count());
  }
  double own(double session) const { return session + clock_.behind; }
  double next_own() const;
  double next_but_written() const;
  void set_clock(const SessionClock& clock);
  void wake_up(double session);
  void send_first(double now, const CellPacket& packet, int tries);
  void retry(double now, const Retry& one);
  void shake_hands(double now, const CellPacket& packet);
  void enter(double now, const CellPacket& packet);
  void leave(double now, CellPacket packet);
  void come(double now, const CellPacket& packet);
  void send_acks(double now, Connection& connection);
  void take_passed();
  void wake(double now, Connection& connection);
  void send_datagrams(double now);
  void look_at_datagrams(Connection& connection, std::vector<Ended>& ended);
  void look_at(double now, Connection& connection, std::vector<Ended>& ended);
  void flush();
  void run_next(double now, std::vector<Ended>& ended);

  const Cluster& cluster_;
  const TransportSettings& transport_;
  std::uint64_t seed_;
  StreamNumbers phases_;
  double now_ = 0;  ///< s, as all times within: on the clock of its own
  SessionClock clock_{.behind = kBegin};
  double rests_at_ = kBegin;    ///< s: until then it goes on although nothing is under way
  std::int64_t under_way_ = 0;  ///< messages
  std::int64_t opening_ = 0;    ///< connections
  EventHeap<Retry> retries_;
  std::vector<std::unique_ptr<Air>> airs_;        ///< [cells]
  std::vector<Place> places_;                     ///< [links]
  std::vector<std::unique_ptr<CellWire>> wires_;  ///< [channels], null: not used
  std::vector<CellWire*> used_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::vector<Written> written_;
  EventHeap<Coming> coming_;
  IndexedHeap::Nodes nodes_;
  IndexedHeap due_{nodes_};              ///< timers, by connection
  std::vector<DatagramSender> senders_;  ///< [hosts], as far as they send
  IndexedHeap::Nodes sender_nodes_;
  IndexedHeap sending_{sender_nodes_};
  std::vector<double> sent_;  ///< bytes, [channels]
  std::vector<CellPacket> through_;
  CellWire::Passed passed_;
  std::vector<IndexedHeap::Entry> batch_;
  std::vector<std::int32_t> touched_;  ///< where something may have arrived
};

}  // namespace gradwire::sim
