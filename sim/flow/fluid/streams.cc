// Connections whose window or losses decide: streams of segments (tcp/stream.h).
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/cluster/channel_draws.h"
#include "sim/flow/burst_chain.h"
#include "sim/flow/fluid/fluid_network.h"

namespace gradwire::sim {
namespace {

constexpr std::uint32_t kAckDraws = 1;
/// A window of so many shares of the pipe limits nothing.
constexpr double kOpenPipes = 2;
/// kAhead while it may send bursts that wait for those of others
constexpr double kBurstAhead = 0;
/// Where its segments wait, by this share of the time until they are through: what it sends by then
/// comes behind them whenever it is sent.
constexpr double kAheadOfQueue = 0.5;
/// ... and where its rate is its own limit, which others seldom change.
constexpr double kFarAhead = 0.5;

}  // namespace

LossSequence FluidNetwork::losses(std::span<const ChannelId> route, std::uint64_t key,
                                  bool acknowledgements) {
  std::vector<std::shared_ptr<BurstChain>> bursts;
  std::vector<LossSequence::Channel> channels;
  const auto hosts = static_cast<std::uint64_t>(cluster_.host_count());
  const auto source = static_cast<std::uint32_t>(key / hosts);
  const auto destination = static_cast<std::uint32_t>(key % hosts);
  double kept = 1;
  for (const ChannelId id : route) {
    if (BurstChain::is_needed(cluster_.channel(id))) {
      bursts.push_back(burst_of(id));
      continue;
    }
    const double loss = cluster_.channel(id).loss;
    kept *= 1 - loss;
    if (loss > 0 && losses_by_channel_)
      channels.push_back(
          {connection_losses(seed_, id, source, destination, acknowledgements), loss});
  }
  const LossDraws draws(seed_, key, acknowledgements ? kAckDraws : 0);
  LossSequence rest =
      channels.empty() ? LossSequence(1 - kept, draws) : LossSequence(std::move(channels));
  return LossSequence(std::move(bursts), std::move(rest));
}

std::shared_ptr<BurstChain> FluidNetwork::burst_of(ChannelId id) {
  std::shared_ptr<BurstChain>& burst = bursts_[static_cast<std::size_t>(id)];
  if (!burst)
    burst =
        std::make_shared<BurstChain>(cluster_.channel(id), channel_stream(seed_, id, kLossDraws));
  return burst;
}

TcpStream& FluidNetwork::stream_of(Connection& connection) {
  if (connection.stream) return *connection.stream;
  const auto c = static_cast<std::int32_t>(&connection - connections_.data());
  std::vector<ChannelId> forward;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;  // media come last
    forward.push_back(id);
  }
  const std::vector<ChannelId> back = way_back(forward);
  connection.stream = std::make_unique<TcpStream>(
      std::shared_ptr<const StreamPath>(std::shared_ptr<void>(), connection.path), transport_,
      losses(forward, connection.key, false), losses(back, connection.key, true));
  connection.stream->set_phases(phases_);
  if (connection.kept_window > 0) {
    CongestionWindow kept(transport_);
    kept.set_size(static_cast<std::int64_t>(connection.kept_window) / connection.path->segment *
                  connection.path->segment);
    connection.stream->resume(kept, connection.path->round_trip);
  }
  if (connection.wire_sent > 0) connection.stream->know_offer();
  return *connection.stream;
}

/// What the connection has sent as a fluid and is not acknowledged fills its stream's window, and
/// its acknowledgements let that grow.
void FluidNetwork::take_over(Connection& connection) {
  if (!connection.may_open || transport_.constants.kernel_recovery) return;
  const double line = connection.path->line_rate;
  connection.unacknowledged.hand_over(line, [&](double begin, double end, double bytes) {
    const std::int64_t segments = connection.stream->take_over(now_, begin, end, bytes);
    connection.stream_acks -= static_cast<double>(segments) / kSegmentsPerAck;
  });
}

void FluidNetwork::begin_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  TcpStream& stream = stream_of(connection);
  connection.state = State::kStream;
  ++streams_;
  connection.streamed = true;
  connection.window_at_rest = 0;
  if (connection.follows) follow(c);
  catch_up(c);
  take_over(connection);
  connection.cap = stream.demand();
  settling_.remove(c);
  sharing_.activate(c, connection.cap);
  connection.waits = true;
  beginning_.push_back(c);
}

/// Acknowledgements that came while the stream rested.
void FluidNetwork::catch_up(std::int32_t c) {
  TcpStream& stream = *connection_at(c).stream;
  const ChannelId out = sharing_.route(c).front();
  if (out < cluster_.channel_count()) {
    const Coming& coming = coming_[static_cast<std::size_t>(out ^ 1)];
    stream.meet(coming.time, coming.takes);
  }
  stream.run(now_);
}

void FluidNetwork::write(std::int32_t c, std::int32_t number) {
  Connection& connection = connection_at(c);
  if (connection.waits) return;  // begin_writing() does it
  const Transfer& t = transfer(number);
  connection.stream->write(now_, static_cast<std::uint64_t>(number), t.payload.count(),
                           t.next >= 0);
  set_stream_due(c);
}

void FluidNetwork::step_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  TcpStream& stream = *connection.stream;
  const double batch = now_ + now_ * kSameInstant;
  // BBR's bursts fill what is shared at once, whatever was left before.
  const bool far =
      sharing_.has_own_rate(c) && (!sharing_.meets_others(c) || !stream.congestion().is_paced());
  const double ahead = may_burst(c) ? kBurstAhead : far ? kFarAhead : kAhead;
  // Where places in a round count, what goes out when does, too. A link that changes moves what
  // waits, and a loss on the way may leave nothing that waits.
  const bool keeps =
      connection.bursts && connection.is_clean() && !connection.follows && !takes_turns(c);
  const double waits = keeps ? std::max(0.0, stream.free_at() - now_) : 0;
  // What is sent behind a change of a link is sent by its new rate.
  stream.run(batch + kAheadOfQueue * waits,
             std::min(batch + ahead * connection.path->round_trip, next_change(c)));
  while (stream.delivered(batch)) finish_first(c);
  if ((connection.is_clean() && stream.is_quiet()) || stream.idle()) {
    rest(c);
    return;
  }
  // What a window fills while a link is slow it may not fill when it is fast again.
  if (connection.may_open && (!connection.is_open || connection.path->changes)) {
    const double window = stream.demand() * connection.path->round_trip;
    // A burst's acknowledgements double a window at once: what it asked for before is no share.
    const bool asks_for_all = sharing_.rate(c) >= connection.cap * (1 - 1e-9);
    const double left = asks_for_all ? sharing_.room(c) : 0;
    const double share = kOpenPipes * std::max(sharing_.rate(c), left);
    const double line = connection.path->changes ? line_now(c) : connection.path->line_rate;
    const double pipe = connection.path->round_trip * std::min(line, share);
    connection.is_open = window >= pipe && sharing_.rate(c) > 0;
  }
  if (connection.is_open && stream.is_settled() && can_leave(c)) {
    leave_stream(c);
    return;
  }
  demand(c);
  serve_stream(c);
  set_stream_due(c);
}

/// The stream's oldest message has arrived.
void FluidNetwork::finish_first(std::int32_t c) {
  Connection& connection = connection_at(c);
  const TcpStream::Message& message = connection.stream->front();
  const Whole whole{static_cast<std::int32_t>(message.id), Bytes(message.wire),
                    message.retransmissions};
  connection.stream->pop();
  deliver_first(connection, whole);
}

/// All of the connection's oldest transfer is where it was sent to.
void FluidNetwork::deliver_first(Connection& connection, const Whole& whole) {
  Transfer& t = transfer(whole.number);
  GRADWIRE_ASSERT(whole.number == connection.first);
  t.wire = whole.wire;
  t.retransmissions = whole.retransmissions;
  t.delivering = true;
  connection.first = t.next;
  if (connection.first < 0) connection.last = -1;
  arrive(whole.number, now_);
}

/// The stream ends; `wire`, `acks`: what of its bytes and acknowledgements is counted later, with
/// the rest of its transfer.
void FluidNetwork::retire(Connection& connection, double wire, double acks) {
  connection.wire_sent += connection.stream->wire_sent() - wire;
  connection.stream_acks += connection.stream->acks_sent() - acks;
  connection.stream.reset();
}

/// From here on the connection is a fluid. What the stream has sent of the first transfer is
/// counted with the rest of it, when that is through.
void FluidNetwork::leave_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  const TcpStream& stream = *connection.stream;
  const Transfer& t = transfer(connection.first);
  connection.remaining = stream.unsent_wire() + stream.queued(now_) + stream.round_left(now_);
  const double sent = static_cast<double>(t.wire.count()) - stream.unsent_wire();
  const double acks = (t.segments - stream.unsent_segments()) / kSegmentsPerAck;
  connection.kept_window = stream.window();
  retire(connection, sent, acks);
  rest(c);
  connection.state = State::kFluid;
  connection.updated = now_;
  sharing_.activate(c, MaxMin::kNoCap);
}

}  // namespace gradwire::sim
