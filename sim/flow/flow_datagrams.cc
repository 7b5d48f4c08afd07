// udp-lossy: segments that are lost for good.
#include <algorithm>
#include <utility>

#include "sim/cluster/datagram_wait.h"
#include "sim/flow/flow_network.h"

namespace gradwire::sim {

/// A connection that is not TCP's: a fluid from the first byte on. route_ is its way.
void FlowNetwork::open_plain(Connection& connection) {
  const double loss = std::exchange(connection.path.loss, 0);
  connection.path.ack_loss = 0;
  connection.is_open = true;
  if (transport_.protocol == TransportSettings::Protocol::kIdeal) {
    connection.path.forwarding = 0;
  } else if (loss > 0) {
    const Seconds wait = datagram_wait(cluster_, route_, transport_);
    connection.datagrams = std::make_unique<Datagrams>(
        Datagrams{losses(route_, connection.key, false), wait.value(), {}});
  }
}

/// The transfer begins to be sent. Its first segment that is not lost ends those before it whose
/// receivers wait; it comes as if the link were the connection's alone.
void FlowNetwork::begin_datagrams(Connection& connection, Transfer& t) {
  const std::int64_t lost = lose_datagrams(connection.datagrams->losses, t);
  if (static_cast<double>(lost) >= t.segments) return;
  const auto wire = static_cast<double>(t.wire.count());
  const double sent = std::min(static_cast<double>(lost + 1) * segment_, wire);
  end_awaited(connection, now_ + sent / connection.path.line_rate + connection.path.propagation +
                              connection.path.forwarding * std::min(segment_, wire));
}

/// Which of the transfer's segments are lost, as ranges of its payload; gives how many before the
/// first that is not.
std::int64_t FlowNetwork::lose_datagrams(LossSequence& losses, Transfer& t) {
  const std::int64_t segment = transport_.segment.count();
  const std::int64_t payload = t.payload.count();
  for (std::int64_t first = 0; first < payload; first += segment) {
    if (!losses.next()) continue;
    if (t.missing < 0) t.missing = take_missing();
    std::vector<ByteRange>& ranges = missing_[static_cast<std::size_t>(t.missing)];
    const std::int64_t count = std::min(segment, payload - first);
    if (!ranges.empty() && ranges.back().first + ranges.back().count == first) {
      ranges.back().count += count;
    } else {
      ranges.push_back({first, count});
    }
  }
  if (t.missing < 0) return 0;
  const ByteRange& range = missing_[static_cast<std::size_t>(t.missing)].front();
  return range.first > 0 ? 0 : (range.count + segment - 1) / segment;
}

/// Transfers that wait for their last segment end at `time`, if not before.
void FlowNetwork::end_awaited(Connection& connection, double time) {
  std::vector<Arrival>& awaited = connection.datagrams->awaited;
  for (const Arrival& end : awaited) {
    if (end.time <= time) continue;
    transfer(end.transfer).arrives_earlier = true;
    arrivals_.push({time, 0, end.transfer});
  }
  if (!awaited.empty()) connection.last_delivery = std::max(connection.last_delivery, time);
  awaited.clear();
}

/// All of the transfer, which has lost something, is sent; true: its last segment was lost, and its
/// receiver waits.
bool FlowNetwork::await_last(Connection& connection, std::int32_t number) {
  const Transfer& t = transfer(number);
  const ByteRange& range = missing_[static_cast<std::size_t>(t.missing)].back();
  if (range.first + range.count < t.payload.count()) return false;
  const Arrival end{connection.last_delivery + connection.datagrams->wait, 0, number};
  connection.datagrams->awaited.push_back(end);
  arrivals_.push(end);
  return true;
}

void FlowNetwork::forget_awaited(std::int32_t number) {
  std::erase_if(connection_at(transfer(number).connection).datagrams->awaited,
                [number](const Arrival& each) { return each.transfer == number; });
}

std::int32_t FlowNetwork::take_missing() {
  if (free_missing_.empty()) {
    missing_.emplace_back();
    return static_cast<std::int32_t>(missing_.size()) - 1;
  }
  const std::int32_t number = free_missing_.back();
  free_missing_.pop_back();
  missing_[static_cast<std::size_t>(number)].clear();
  return number;
}

void FlowNetwork::free_missing(Transfer& t) {
  free_missing_.push_back(t.missing);
  t.missing = -1;
}

}  // namespace gradwire::sim
