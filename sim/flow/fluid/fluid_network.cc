#include "sim/flow/fluid/fluid_network.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "sim/cluster/handshake.h"
#include "sim/flow/fluid/jitter.h"
#include "sim/flow/fluid/windows.h"

namespace gradwire::sim {
namespace {

constexpr std::size_t kEventsAhead = 6;

using Protocol = TransportSettings::Protocol;

/// The ideal transport has no headers, and datagrams no congestion control.
TransportSettings effective(TransportSettings transport) {
  if (transport.protocol == Protocol::kTcp) return transport;
  transport.constants.idle_restart = false;
  transport.congestion_control = TransportSettings::CongestionControl::kReno;
  if (transport.protocol == Protocol::kIdeal) transport.segment = transport.wire_segment;
  return transport;
}

}  // namespace

FluidNetwork::FluidNetwork(const Cluster& cluster, const TransportSettings& transport,
                           std::uint64_t seed)
    : cluster_(cluster),
      transport_(effective(transport)),
      seed_(seed),
      losses_(cluster, seed),
      phases_(phases_of(transport, seed)),
      segment_(static_cast<double>(transport.wire_segment.count())),
      initial_window_(static_cast<double>(transport_.initial_window) * segment_),
      first_flight_(static_cast<double>(
          wire_bytes(Bytes(static_cast<std::int64_t>(transport_.constants.first_offer)), transport_)
              .count())),
      headers_(static_cast<double>((transport_.wire_segment - transport_.segment).count())),
      acks_(transport.protocol == Protocol::kTcp ? ack_share(transport_) : 0),
      clock_(clock_at_start(cluster, transport_)),
      channels_(cluster, acks_, segment_),
      sharing_(channels_.capacities(), acks_),
      last_peer_(static_cast<std::size_t>(1 + transport.connections) *
                 static_cast<std::size_t>(cluster.host_count())) {}

inline std::int32_t FluidNetwork::connect(int source, int destination) {
  LastPeer& last = last_peer_[static_cast<std::size_t>(source)];
  if (last.destination == destination) return last.connection;
  const std::int32_t c = table_.find_or_add(source, destination);
  last = {destination, c};
  if (c == static_cast<std::int32_t>(connections_.size())) {
    const int hosts = cluster_.host_count();
    open(source % hosts, destination,
         static_cast<std::uint64_t>(source) * static_cast<std::uint64_t>(hosts) +
             static_cast<std::uint64_t>(destination));
  }
  return c;
}

void FluidNetwork::open(int source, int destination, std::uint64_t key) {
  route_.clear();
  cluster_.route(source, destination, route_);
  GRADWIRE_ASSERT(!route_.empty());
  connections_.emplace_back();
  connections_.back().key = key;
  due_nodes_.emplace_back();
  Connection& connection = connections_.back();
  TcpPath path(cluster_, route_, transport_);
  connection.may_open = transport_.protocol == Protocol::kTcp && may_open(path, transport_);
  connection.window_at_rest = std::min(initial_window_, first_flight_);
  if (transport_.protocol != Protocol::kTcp) {  // it has no windows, and loses nothing
    path.loss = path.ack_loss = 0;
    connection.is_open = true;
    if (transport_.protocol == Protocol::kIdeal) path.forwarding = 0;
  }
  connection.path = share(path);
  connection.follows = channels_.changes(route_);
  connection.jitters = std::ranges::any_of(
      route_, [&](ChannelId id) { return cluster_.channel(id).jitter.value() > 0; });
  channels_.append_media(route_);
  sharing_.add_flow(route_);
}

/// One of equal paths: most networks have few, and the others' are not looked for among all.
const StreamPath* FluidNetwork::share(const TcpPath& path) {
  constexpr std::size_t kLatest = 4;
  for (std::size_t i = 1; i <= std::min(kLatest, paths_.size()); ++i)
    if (const StreamPath& other = paths_[paths_.size() - i]; other == path) return &other;
  return &paths_.emplace_back(path, transport_, clock_);
}

FluidNetwork::Sized FluidNetwork::size_of(Bytes payload) const {
  const std::int64_t segment = transport_.segment.count();
  const std::int64_t segments = (payload.count() + segment - 1) / segment;
  return {payload, wire_bytes(payload, transport_), static_cast<double>(segments)};
}

void FluidNetwork::start(TransferId id, int source, int destination, Bytes payload) {
  start_on(connect(source, destination), id, payload);
}

/// Connections beside those of the pairs are theirs of more hosts, as many times as many.
void FluidNetwork::start_beside(TransferId id, int beside, int source, int destination,
                                Bytes payload) {
  GRADWIRE_ASSERT(beside >= 1 && beside <= transport_.connections);
  start_on(connect(source + beside * cluster_.host_count(), destination), id, payload);
}

inline void FluidNetwork::start_on(std::int32_t c, TransferId id, Bytes payload) {
  GRADWIRE_ASSERT(payload.count() > 0);
  if (payload != sized_.payload) {
    std::swap(sized_, sized_before_);  // uneven chunks come in two sizes
    if (payload != sized_.payload) sized_ = size_of(payload);
  }
  const std::int32_t number = transfers_.add({.id = id,
                                              .payload = payload,
                                              .wire = sized_.wire,
                                              .segments = sized_.segments,
                                              .connection = c});
  Connection& connection = connection_at(c);
  const bool first = connection.first < 0;
  (first ? connection.first : transfers_[connection.last].next) = number;
  connection.last = number;
  if (connection.state == State::kStream) {
    write(c, number);
  } else if (first) {
    begin_transfer(c);
  }
}

/// The first transfer of the connection's queue may send from now on: as a fluid, or as a stream.
inline void FluidNetwork::begin_transfer(std::int32_t c) {
  Connection& connection = connection_at(c);
  FluidTransfer& t = transfers_[connection.first];
  const bool sending = connection.state == State::kFluid;
  if (connection.is_open && connection.state == State::kIdle) close_after_idle(connection);
  if (connection.is_open ? !stays_fluid(c) : !is_covered(connection, t)) {
    if (sending) rest(c);
    begin_stream(c);
    return;
  }
  connection.remaining = static_cast<double>(t.wire.count());
  if (sending) {
    schedule(c);
    return;
  }
  connection.state = State::kFluid;
  connection.updated = now_;
  connection.rate = 0;
  if (connection.follows) follow(c);
  settling_.remove(c);
  sharing_.activate(c, MaxMin::kNoCap);
}

/// The connection sends nothing.
void FluidNetwork::rest(std::int32_t c) {
  Connection& connection = connection_at(c);
  sharing_.deactivate(c, now_);
  drop_due(c);
  if (connection.state == State::kStream) --streams_;
  if (connection.stream && connection.follows) connection.stream->hold_acks(now_, -1);
  connection.state = State::kIdle;
  connection.bursts = false;
  connection.rate = 0;
  connection.updated = now_;
  if (connection.stream && connection.stream->tcp().is_large())
    settling_.set(c, now_ + connection.path->round_trip + transport_.delayed_ack.value());
}

/// Streams that are silent give back the memory of what they had under way, once all of it is
/// acknowledged. No event of the network: nothing hangs on when it is done.
void FluidNetwork::settle() {
  while (!settling_.empty() && settling_.first_time() <= now_) {
    settling_.take_until(now_, batch_);
    for (const IndexedHeap::Entry& entry : batch_) {
      FluidStream& stream = *connection_at(entry.number).stream;
      stream.run(now_);
      if (stream.tcp().idle()) stream.release();
    }
  }
}

double FluidNetwork::next_event() const {
  double next = arrivals_.empty() ? kNever : arrivals_.top().time;
  if (!due_.empty()) next = std::min(next, due_.first_time());
  return std::min({next, pools_.next_event(), channels_.next_event()});
}

void FluidNetwork::advance(Seconds until, std::vector<Delivery>& delivered) {
  const std::size_t before = delivered.size();
  for (;;) {
    resolve();
    const double next = next_event();
    if (next > until.value()) break;
    now_ = std::max(now_, next);
    settle();
    const double batch = now_ + now_ * kSameInstant;
    if (channels_.next_event() <= batch) {
      turned_.clear();
      channels_.run(now_, batch, sharing_, turned_);
      for (const ChannelId id : turned_) hold_acks_on(id);
    }
    // What happens to one connection changes no other one's events before resolve().
    while (!due_.empty() && due_.first_time() <= batch) {
      due_.take_until(batch, batch_);
      on_batch_due();
    }
    while (pools_.next_event() <= batch) {
      pools_.take_until(batch, now_, batch_);
      on_batch_due();
    }
    deliver(delivered);
    if (delivered.size() > before) return;
  }
  if (until < kForever) now_ = std::max(now_, until.value());
}

void FluidNetwork::on_batch_due() {
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (i + kEventsAhead < batch_.size()) fetch(batch_[i + kEventsAhead].number);
    const std::int32_t c = batch_[i].number;
    connection_at(c).state == State::kStream ? step_stream(c) : on_sent(c);
  }
}

/// Into the cache: what an event of a fluid touches first.
inline void FluidNetwork::fetch(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  constexpr std::size_t kLine = 64;
  __builtin_prefetch(&connection);
  __builtin_prefetch(reinterpret_cast<const char*>(&connection) + kLine);
  sharing_.fetch(c);
}

/// When the connection's first transfer arrives, all of which is sent now.
inline double FluidNetwork::arrival_of(std::int32_t c, const FluidTransfer& t) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  const auto wire = static_cast<double>(t.wire.count());
  double arrival =
      now_ + connection.path->propagation + connection.path->forwarding * std::min(wire, segment_);
  if (connection.jitters) {
    const double rate = connection.pool < 0 ? connection.rate : pools_.rate(connection.pool);
    arrival += jitter_of(cluster_, sharing_.route(c), seed_, connection.key,
                         rate > 0 ? segment_ / rate : connection.path->segment_time, t.segments,
                         static_cast<std::uint64_t>(connection.segments_sent + t.segments));
  }
  if (wire < connection.path->felt_below) arrival -= connection.path->following;
  return std::max(now_, arrival);
}

inline void FluidNetwork::on_sent(std::int32_t c) {
  Connection& connection = connection_at(c);
  progress(connection);
  const std::int32_t number = connection.first;
  FluidTransfer& t = transfers_[number];
  const auto wire = static_cast<double>(t.wire.count());
  connection.last_delivery = std::max(connection.last_delivery, arrival_of(c, t));
  t.is_sent = true;
  connection.wire_sent += wire;
  connection.segments_sent += t.segments;
  if (connection.may_open && !connection.is_open && wire > 0)
    connection.unacknowledged.add(now_, wire, connection.path->line_rate,
                                  connection.path->round_trip);
  arrivals_.insert(connection.last_delivery).transfer = number;
  next_transfer(c);
}

/// The first transfer is through (or gone): the next one sends, or the connection rests.
inline void FluidNetwork::next_transfer(std::int32_t c) {
  Connection& connection = connection_at(c);
  connection.first = transfers_[connection.first].next;
  if (connection.first >= 0) {
    begin_transfer(c);
    return;
  }
  connection.last = -1;
  if (connection.state == State::kFluid) rest(c);
}

void FluidNetwork::deliver(std::vector<Delivery>& delivered) {
  const double batch = now_ + now_ * kSameInstant;
  while (!arrivals_.empty() && arrivals_.top().time <= batch) {
    const Arrival arrival = arrivals_.pop();
    const std::int32_t number = arrival.transfer;
    FluidTransfer& t = transfers_[number];
    if (!t.is_cancelled) {
      Delivery& delivery = delivered.emplace_back();
      delivery.id = t.id;
      delivery.time = Seconds(now_);
      delivery.wire = t.wire;
      delivery.retransmissions = t.retransmissions;
    }
    transfers_.free(number);
  }
}

void FluidNetwork::cancel(TransferId id) {
  const std::int32_t number = transfers_.find(id);
  if (number < 0 || transfers_[number].is_cancelled) return;
  FluidTransfer& t = transfers_[number];
  t.is_cancelled = true;
  if (t.is_sent) return;  // freed when it would have arrived
  Connection& connection = connection_at(t.connection);
  if (connection.state == State::kStream) {
    if (connection.waits) resolve();
    // What it has sent arrives all the same, and then it is freed.
    connection_at(t.connection).stream->tcp().cancel(now_, static_cast<std::uint64_t>(number));
    step_stream(t.connection);
    return;
  }
  if (connection.first == number) {
    progress(connection);
    next_transfer(t.connection);
  } else {
    std::int32_t before = connection.first;
    while (transfers_[before].next != number) before = transfers_[before].next;
    transfers_[before].next = t.next;
    if (connection.last == number) connection.last = before;
  }
  transfers_.free(number);
}

/// Accounts for what was sent since the connection was last looked at.
void FluidNetwork::progress(Connection& connection) {
  const double sent = sent_since_update(connection);
  connection.updated = connection.pool < 0 ? now_ : connection.updated + sent;
  if (sent > 0) connection.remaining -= sent;
}

/// schedule() of one in a pool, or of which nothing passes.
void FluidNetwork::set_other_due(std::int32_t c, double bytes) {
  const Connection& connection = connection_at(c);
  if (connection.pool < 0) {
    if (bytes <= 0) {
      due_.set(c, now_);
    } else {
      due_.remove(c);  // nothing passes, or nobody has said yet how fast
    }
    return;
  }
  pools_.set_due(connection.pool, c, bytes, now_);
}

void FluidNetwork::drop_due(std::int32_t c) {
  Connection& connection = connection_at(c);
  if (connection.pool < 0) {
    due_.remove(c);
    return;
  }
  pools_.remove(connection.pool, c, now_);
  connection.pool = -1;
}

void FluidNetwork::resolve() {
  do {
    restarted_ = false;
    resolve_once();
    if (!beginning_.empty() && !begin_writing()) restarted_ = true;
  } while (restarted_);
}

void FluidNetwork::resolve_once() {
  if (channels_.has_air()) channels_.contend(sharing_);
  const std::span<const std::int32_t> changed = sharing_.resolve(now_);
  pools_.grow(sharing_.pool_count());
  for (const std::int32_t p : sharing_.changed_pools()) pools_.set_rate(p, sharing_.level(p), now_);
  for (const std::int32_t c : changed) change_rate(c);
  for (const std::int32_t p : sharing_.changed_pools()) {
    pools_.schedule(p, now_);
    if (streams_ > 0) serve_streams(p);
  }
}

inline void FluidNetwork::change_rate(std::int32_t c) {
  Connection& connection = connection_at(c);
  if (connection.state == State::kStream) {
    // Others may have come at this instant with bursts of their own.
    if (!connection.bursts && !connection.waits && may_burst(c)) {
      demand(c);
      restarted_ = restarted_ || connection.bursts;
    }
    serve_stream(c);
    set_stream_due(c);
    return;
  }
  if (begins_crowded(c)) {
    rest(c);
    begin_stream(c);
    restarted_ = true;
    return;
  }
  progress(connection);
  const std::int32_t p = sharing_.pool(c);
  if (p >= 0 || connection.pool >= 0) {
    drop_due(c);
    connection.pool = p;
    connection.updated = p >= 0 ? pools_.served(p, now_) : now_;
  }
  connection.rate = sharing_.rate(c);
  schedule(c);
}

std::vector<ChannelRecord> FluidNetwork::channels() const {
  std::vector<double> wire(channels_.capacities().size(), 0);
  const double headers = acks_ > 0 ? headers_ : 0;  // of an acknowledgement
  for (std::size_t c = 0; c < connections_.size(); ++c) {
    const Connection& connection = connections_[c];
    double sent = connection.wire_sent;
    double acks = connection.segments_sent / kSegmentsPerAck + connection.stream_acks;
    if (connection.stream) {
      sent += connection.stream->wire_sent();
      acks += static_cast<double>(connection.stream->tcp().acknowledgements());
    }
    if (connection.state == State::kFluid) {
      const FluidTransfer& t = transfers_[connection.first];
      const auto all = static_cast<double>(t.wire.count());
      const double so_far = all - (connection.remaining - sent_since_update(connection));
      sent += so_far;
      // They go back while the data comes, not when the last of it has.
      if (all > 0) acks += static_cast<double>(t.segments) * so_far / all / kSegmentsPerAck;
    }
    for (const ChannelId channel : sharing_.route(static_cast<std::int32_t>(c))) {
      wire[static_cast<std::size_t>(channel)] += sent;
      wire[static_cast<std::size_t>(channel ^ 1)] += acks * headers;
    }
  }
  std::vector<ChannelRecord> records;
  for (ChannelId id = 0; id < cluster_.channel_count(); ++id) {
    const auto c = static_cast<std::size_t>(id);
    const double busy = sharing_.busy(channels_.shared_by(id), now_);
    records.push_back({Bytes(std::llround(wire[c])), Seconds(busy)});
  }
  return records;
}

}  // namespace gradwire::sim
