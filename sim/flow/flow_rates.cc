// How rates become bytes sent, and bytes still to send become events.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/flow/flow_network.h"

namespace gradwire::sim {
namespace {

using Protocol = TransportSettings::Protocol;

/// Rates that differ by less, relatively, are one share.
constexpr double kEqualRates = 1e-9;

}  // namespace

/// Accounts for what was sent since the connection was last looked at.
void FlowNetwork::progress(Connection& connection) {
  const double sent = sent_since_update(connection);
  connection.updated = connection.pool < 0 ? now_ : connection.updated + sent;
  if (sent > 0) connection.remaining -= sent;
}

/// schedule() of one that has so many bytes to send and meets others.
void FlowNetwork::schedule_in_turns(std::int32_t c, double bytes) {
  const Connection& connection = connection_at(c);
  if (connection.state == State::kFluid && !transfer(connection.first).foretold) {
    const double last = last_round(c);
    if (bytes > last)
      bytes -= last;
    else if (last > 0 && transfer(connection.first).segments <= 1)
      bytes = 0;  // its first turn is its last one
  }
  set_due(c, bytes);
}

double FlowNetwork::last_segment(const Connection& connection) const {
  const Transfer& t = transfers_[static_cast<std::size_t>(connection.first)];
  const auto wire = static_cast<double>(t.wire.count());
  return wire - segment_ * (std::ceil(wire / segment_) - 1);
}

/// Bytes of its own that the last round of a fluid's turns has, where that takes so long that its
/// last segment may have arrived before the round is over; else 0.
double FlowNetwork::last_round(std::int32_t c) const {
  const Connection& connection = connections_[static_cast<std::size_t>(c)];
  if (transport_.protocol != Protocol::kTcp || !takes_turns(c)) return 0;
  const ChannelId queue = sharing_.queue_of(c);
  if (queue >= cluster_.channel_count()) return 0;  // a medium, where no queue is served
  const double others = sharing_.active_on(queue) - 1;
  const double round = others * segment_ / capacities_[static_cast<std::size_t>(queue)];
  return round > connection.path->propagation ? last_segment(connection) : 0;
}

/// set_due() of one in a pool, or of which nothing passes.
void FlowNetwork::set_other_due(std::int32_t c, double bytes) {
  const Connection& connection = connection_at(c);
  if (connection.pool < 0) {
    if (bytes <= 0) {
      due_.set(c, now_);
    } else {
      due_.remove(c);  // nothing passes, or nobody has said yet how fast
    }
    return;
  }
  pool(connection.pool).due.set(c, served(connection.pool) + bytes);
  schedule_pool(connection.pool);
}

void FlowNetwork::drop_due(std::int32_t c) {
  Connection& connection = connection_at(c);
  if (connection.pool < 0) {
    due_.remove(c);
    return;
  }
  pool(connection.pool).due.remove(c);
  schedule_pool(connection.pool);
  connection.pool = -1;
}

void FlowNetwork::schedule_pool(std::int32_t p) {
  const Pool& members = pool(p);
  if (members.due.empty() || members.rate <= 0) {
    pool_due_.remove(p);
  } else {
    const double bytes = members.due.first_time() - served(p);
    pool_due_.set(p, now_ + std::max(0.0, bytes) / members.rate);
  }
}

void FlowNetwork::resolve() {
  do {
    restarted_ = false;
    resolve_once();
    if (!beginning_.empty() && !begin_writing()) restarted_ = true;
  } while (restarted_);
}

void FlowNetwork::resolve_once() {
  if (!airs_.empty() && !cells_) contend();
  const std::span<const std::int32_t> changed = sharing_.resolve(now_);
  while (static_cast<std::int32_t>(pools_.size()) < sharing_.pool_count()) {
    pools_.emplace_back(due_nodes_);
    pool_nodes_.emplace_back();
  }
  for (const std::int32_t p : sharing_.changed_pools()) {
    pool(p).served = served(p);
    pool(p).updated = now_;
    pool(p).rate = sharing_.level(p);
  }
  for (const std::int32_t c : changed) change_rate(c);
  for (const std::int32_t p : sharing_.changed_pools()) {
    schedule_pool(p);
    if (streams_ > 0) serve_streams(p);
    if (pool(p).rate == 0 && pool(p).due.empty()) pool(p).served = 0;  // nobody is in it
  }
}

inline void FlowNetwork::change_rate(std::int32_t c) {
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
  const bool begins = connection.updated == now_ && connection.rate == 0 && connection.pool < 0;
  progress(connection);
  const std::int32_t p = sharing_.pool(c);
  if (p >= 0 || connection.pool >= 0) {
    drop_due(c);
    connection.pool = p;
    connection.updated = p >= 0 ? served(p) : now_;
  }
  connection.rate = sharing_.rate(c);
  if (begins) {
    if (std::exchange(last_begun_, now_) != now_) ++begun_;
    connection.place = begun_;
    if (sharing_.meets_others(c)) serve_first_turn(c);
  }
  schedule(c);
}

/// Whether the fluid waits for its turns in a queue, among few, at the share `level`; then pooled_
/// are the other fluids that do.
bool FlowNetwork::find_equals(std::int32_t c, double level) {
  pooled_.clear();
  const ChannelId queue = sharing_.queue_of(c);
  const bool is_medium = queue >= cluster_.channel_count();  // where no queue is served
  if (transport_.protocol != Protocol::kTcp || is_medium || !takes_turns(c)) return false;
  sharing_.append_active(queue, pooled_);
  std::erase_if(pooled_, [&](std::int32_t other) {
    return other == c || connection_at(other).state != State::kFluid ||
           std::abs(sharing_.rate(other) - level) > kEqualRates * level;
  });
  return !pooled_.empty();
}

/// Fair queueing serves the first segment of a flow that begins before the next ones of those that
/// are there: of what they have been served, up to a segment is no lead of theirs. (Else what
/// begins within one round would be ever further apart with each transfer that follows.)
void FlowNetwork::serve_first_turn(std::int32_t c) {
  Connection& connection = connection_at(c);
  const auto wire = static_cast<double>(transfer(connection.first).wire.count());
  const bool goes_on = connection.remaining < wire;  // as a fluid, what began as a stream
  if (goes_on || !find_equals(c, sharing_.rate(c))) return;
  const double turn = std::min(segment_, wire);
  const auto lead_of = [&](std::int32_t other) {
    const Connection& o = connection_at(other);
    return std::clamp(static_cast<double>(transfer(o.first).wire.count()) - o.remaining, 0.0, turn);
  };
  double leads = 0;
  for (const std::int32_t other : pooled_) {
    progress(connection_at(other));
    leads += lead_of(other);
  }
  if (leads <= 0) return;
  const double each = leads / static_cast<double>(pooled_.size() + 1);
  connection.remaining -= each;
  for (const std::int32_t other : pooled_) {
    Connection& o = connection_at(other);
    o.remaining = std::max(0.0, o.remaining + lead_of(other) - each);
    schedule(other);
  }
}

/// s by which the last segment of a fluid leaves its queue later than its share of the bytes says,
/// or earlier: in the last round those that began before it have sent whole segments, and those
/// behind it nothing yet.
double FlowNetwork::end_among_others(std::int32_t c) {
  const Connection& connection = connection_at(c);
  if (connection.state != State::kFluid) return 0;
  const auto wire = static_cast<double>(transfer(connection.first).wire.count());
  if (wire <= 0 || !find_equals(c, sharing_.rate(c))) return 0;
  const double last = last_segment(connection);
  const double own = connection.remaining - sent_since_update(connection);
  double bytes = 0;
  for (const std::int32_t other : pooled_) {
    const Connection& o = connection_at(other);
    const auto ahead = static_cast<std::int16_t>(o.place - connection.place);
    const bool before = ahead < 0 || (ahead == 0 && o.key < connection.key);
    const double left = o.remaining - sent_since_update(o) - own;  // when its own are through
    bytes += before ? std::clamp(left, 0.0, segment_ - last) : -last;
  }
  return bytes / capacities_[static_cast<std::size_t>(sharing_.queue_of(c))];
}

void FlowNetwork::on_pool_due(std::int32_t p, double until) {
  const Pool& members = pool(p);
  const double bytes = members.served + members.rate * (until - members.updated);
  pool(p).due.take_until(std::max(bytes, members.due.first_time()), batch_);
  schedule_pool(p);
  on_batch_due();
}

}  // namespace gradwire::sim
