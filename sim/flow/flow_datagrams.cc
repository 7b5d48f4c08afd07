// udp-lossy: segments that are lost for good.
#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/cluster/datagram_wait.h"
#include "sim/flow/flow_network.h"
#include "sim/graph/byte_ranges.h"

namespace gradwire::sim {
namespace {

constexpr double kRoundingOfSegments = 1e-9;

}  // namespace

/// A connection that is not TCP's: a fluid from the first byte on. route_ is its way.
void FlowNetwork::open_plain(Connection& connection, TcpPath& path) {
  const double loss = std::exchange(path.loss, 0);
  path.ack_loss = 0;
  connection.is_open = true;
  if (transport_.protocol == TransportSettings::Protocol::kIdeal) {
    path.forwarding = 0;
    return;
  }
  if (transport_.protocol == TransportSettings::Protocol::kRdma) return;
  const double wait = datagram_wait(cluster_, route_, transport_).value();
  const double per_byte = path.forwarding + 1 / path.line_rate;
  connection.latest = wait + path.propagation + segment_ * per_byte;
  for (const ChannelId id : route_)
    connection.latest += kLateJitters * cluster_.channel(id).jitter.value();
  if (loss > 0)
    connection.datagrams =
        std::make_unique<Datagrams>(Datagrams{losses(route_, connection.key, false), wait, {}});
}

/// The sender knows of no share: it sends at the rate of its way, and when the last segment is late
/// by more than the deadline its receiver takes what is there.
void FlowNetwork::set_deadline(Connection& connection, std::int32_t number) {
  const auto wire = static_cast<double>(transfer(number).wire.count());
  connection.sent_by = std::max(connection.sent_by, now_) + wire / connection.path->line_rate;
  arrive(number, connection.sent_by + connection.latest, true);
}

/// A transfer ends: what of it is not there yet, as its share is less than its sender's rate, is
/// missing.
void FlowNetwork::give_up(std::int32_t number) {
  Transfer& t = transfer(number);
  Connection& connection = connection_at(t.connection);
  const auto wire = static_cast<double>(t.wire.count());
  double there = t.delivering ? wire - 1 : 0;  // bytes; the last segment is on its way
  if (connection.first == number) {
    const double under_way = connection.path->propagation + connection.path->forwarding * segment_;
    there = wire - (connection.remaining - sent_since_update(connection)) -
            rate_of(connection) * under_way;
  }
  const double segments = std::floor(std::max(0.0, there) / segment_ + kRoundingOfSegments);
  const auto from = static_cast<std::int64_t>(segments) * transport_.segment.count();
  if (from >= t.payload.count()) return;
  if (t.missing < 0) t.missing = take_missing();
  std::vector<ByteRange>& ranges = missing_[static_cast<std::size_t>(t.missing)];
  while (!ranges.empty() && ranges.back().first >= from) ranges.pop_back();
  if (!ranges.empty() && ranges.back().first + ranges.back().count >= from) {
    ranges.back().count = t.payload.count() - ranges.back().first;
  } else {
    ranges.push_back({from, t.payload.count() - from});
  }
}

/// The transfer begins to be sent. Its first segment that is not lost ends those before it whose
/// receivers wait; it comes as if the link were the connection's alone.
void FlowNetwork::begin_datagrams(Connection& connection, Transfer& t) {
  const std::int64_t lost = lose_datagrams(connection.datagrams->losses, t);
  if (static_cast<double>(lost) >= t.segments) return;
  const auto wire = static_cast<double>(t.wire.count());
  const double sent = std::min(static_cast<double>(lost + 1) * segment_, wire);
  end_awaited(connection, now_ + sent / connection.path->line_rate + connection.path->propagation +
                              connection.path->forwarding * std::min(segment_, wire));
}

/// Which of the transfer's segments are lost, as ranges of its payload; gives how many before the
/// first that is not.
std::int64_t FlowNetwork::lose_datagrams(LossSequence& losses, Transfer& t) {
  const std::int64_t segment = transport_.segment.count();
  const std::int64_t payload = t.payload.count();
  for (std::int64_t first = 0; first < payload; first += segment) {
    if (!losses.next()) continue;
    if (t.missing < 0) t.missing = take_missing();
    append(missing_[static_cast<std::size_t>(t.missing)],
           {first, std::min(segment, payload - first)});
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
    arrive(end.transfer, time);
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
  arrive(number, end.time);
  return true;
}

void FlowNetwork::forget_awaited(std::int32_t number) {
  const auto& datagrams = connection_at(transfer(number).connection).datagrams;
  if (!datagrams) return;
  std::erase_if(datagrams->awaited,
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
