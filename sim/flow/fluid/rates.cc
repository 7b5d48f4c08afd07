// How rates become bytes sent, and bytes still to send become events.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/flow/fluid/fluid_network.h"

namespace gradwire::sim {

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
  pool(connection.pool).due.set(c, served(connection.pool) + bytes);
  schedule_pool(connection.pool);
}

void FluidNetwork::drop_due(std::int32_t c) {
  Connection& connection = connection_at(c);
  if (connection.pool < 0) {
    due_.remove(c);
    return;
  }
  pool(connection.pool).due.remove(c);
  schedule_pool(connection.pool);
  connection.pool = -1;
}

void FluidNetwork::schedule_pool(std::int32_t p) {
  const Pool& members = pool(p);
  if (members.due.empty() || members.rate <= 0) {
    pool_due_.remove(p);
  } else {
    const double bytes = members.due.first_time() - served(p);
    pool_due_.set(p, now_ + std::max(0.0, bytes) / members.rate);
  }
}

void FluidNetwork::resolve() {
  do {
    restarted_ = false;
    resolve_once();
    if (!beginning_.empty() && !begin_writing()) restarted_ = true;
  } while (restarted_);
}

void FluidNetwork::resolve_once() {
  if (!airs_.empty()) contend();
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
    connection.updated = p >= 0 ? served(p) : now_;
  }
  connection.rate = sharing_.rate(c);
  schedule(c);
}

void FluidNetwork::on_pool_due(std::int32_t p, double until) {
  const Pool& members = pool(p);
  const double bytes = members.served + members.rate * (until - members.updated);
  pool(p).due.take_until(std::max(bytes, members.due.first_time()), batch_);
  schedule_pool(p);
  on_batch_due();
}

}  // namespace gradwire::sim
