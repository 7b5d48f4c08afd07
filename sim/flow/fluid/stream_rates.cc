// What streams ask for, and at which rates they are served.
#include <algorithm>
#include <cmath>

#include "sim/flow/fluid/fluid_network.h"

namespace gradwire::sim {
namespace {

/// A stream asks for another cap when its demand has changed by this much.
constexpr double kDemandChange = 0.125;
/// ... and of so many no windows that meet.
constexpr std::int32_t kBurstCrowd = 4096;
/// So many segments that wait are a burst.
constexpr double kBurst = 0.5;
/// Bytes a second that a stream asks for between two bursts.
constexpr double kSilent = 1;
/// A pool's streams are served anew when its level has changed by this much.
constexpr double kLevelChange = 0.02;

}  // namespace

/// Whether more meet on one of its channels than can be followed: then shares drop nothing, or
/// windows pass at their mean rates (docs/network.md).
bool FluidNetwork::is_crowd(std::int32_t c, std::int32_t most) const {
  for (const ChannelId id : sharing_.route(c))
    if (sharing_.active_on(id) > most) return true;
  return false;
}

/// Whether what it sends at once may wait, at a link that the mean of all does not fill, for what
/// others send at the same time.
bool FluidNetwork::may_burst(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  return !connection.stream->congestion().is_paced() && sharing_.may_queue(c) &&
         !is_crowd(c, kBurstCrowd);
}

/// The stream's next event; for a burst also its end.
double FluidNetwork::stream_due(const Connection& connection) const {
  const double due = connection.stream->next_event();
  if (!connection.bursts) return due;
  return std::min(due, std::max(now_, connection.stream->free_at()));
}

void FluidNetwork::set_stream_due(std::int32_t c) {
  const Connection& connection = connection_at(c);
  due_.set(c, stream_due(connection));
  const double arrival = connection.stream->first_arrival();
  if (arrival < kNever) note_coming(c, arrival);
}

/// Bytes a second of the slowest link on its way, as links are now.
double FluidNetwork::line_now(std::int32_t c) const {
  double line = kNever;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;
    const std::int32_t f = follower_of_[static_cast<std::size_t>(id)];
    line = std::min(line, f >= 0 ? followers_[static_cast<std::size_t>(f)].rate()
                                 : capacities_[static_cast<std::size_t>(id)]);
  }
  return std::max(line, Bottleneck::kStalled);
}

/// Bytes pass at the stream's share; where it asks for less than it could have, at all that is
/// left.
void FluidNetwork::serve_stream(std::int32_t c) {
  Connection& connection = connection_at(c);
  double rate = sharing_.rate(c);
  if (rate >= connection.cap * (1 - 1e-9)) rate = std::max(rate, sharing_.room(c));
  if (connection.follows) connection.stream->set_line(line_now(c));
  connection.stream->serve(now_, std::max(rate, Bottleneck::kStalled));
}

/// A pool's streams get its level, which has changed.
void FluidNetwork::serve_streams(std::int32_t p) {
  Pool& members = pool(p);
  if (std::abs(members.rate - members.stream_rate) <= kLevelChange * members.stream_rate) return;
  members.stream_rate = members.rate;
  pooled_.clear();
  sharing_.append_pooled(p, pooled_);
  for (const std::int32_t c : pooled_) {
    if (connection_at(c).state != State::kStream) continue;
    serve_stream(c);
    set_stream_due(c);
  }
}

/// Whether its acknowledgements wait before a link that carries nothing in either direction.
void FluidNetwork::hold_acks(std::int32_t c) {
  const double ack = headers_;
  double behind = 0, held = -1;
  for (const ChannelId id : sharing_.route(c)) {
    if (id >= cluster_.channel_count()) break;
    behind += cluster_.channel(id).delay.value() + 8 * ack / cluster_.nominal_rate(id ^ 1).value();
    const std::int32_t f = follower_of_[static_cast<std::size_t>(id)];
    if (f >= 0 && followers_[static_cast<std::size_t>(f)].in_outage()) held = behind;
  }
  connection_at(c).stream->hold_acks(now_, held);
}

/// What the stream asks for: its window in each round trip; while a burst waits, all that it can
/// get, and between bursts nothing.
void FluidNetwork::demand(std::int32_t c) {
  Connection& connection = connection_at(c);
  double cap = connection.stream->demand();
  connection.bursts = may_burst(c) && connection.stream->queued(now_) > kBurst * segment_;
  if (connection.bursts) {
    cap = MaxMin::kNoCap;
  } else if (may_burst(c) &&
             connection.stream->next_event() - now_ > kAhead * connection.path->round_trip) {
    cap = kSilent;
  }
  const bool differs = (cap == MaxMin::kNoCap) != (connection.cap == MaxMin::kNoCap);
  if (!differs && std::abs(cap - connection.cap) <= kDemandChange * connection.cap) return;
  connection.cap = cap;
  sharing_.set_cap(c, cap);
}

}  // namespace gradwire::sim
