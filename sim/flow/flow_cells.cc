// Connections over the air of radio cells: packet by packet (cells/cell_network.h).
#include <algorithm>
#include <limits>

#include "sim/cluster/datagram_wait.h"
#include "sim/flow/flow_network.h"

namespace gradwire::sim {
namespace {

constexpr std::uint32_t kCellPhases = kFirstReservedTensor + 0x10000007u;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

}  // namespace

/// The connection that was added last, whose way is in route_.
void FlowNetwork::open_in_cell(std::int32_t c, int source) {
  in_cell_.resize(static_cast<std::size_t>(c) + 1, -1);
  if (!CellNetwork::is_needed(cluster_, route_)) return;
  const Connection& connection = connection_at(c);
  of_cell_.push_back(c);
  if (transport_.protocol == TransportSettings::Protocol::kUdpLossy) {
    in_cell_.back() = cells_->add_datagrams(datagram_way(), source, route_,
                                            losses(route_, connection.key, false));
    return;
  }
  auto stream = std::make_unique<TcpStream>(
      std::shared_ptr<const StreamPath>(std::shared_ptr<void>(), connection.path), transport_,
      LossSequence(0, {}), LossSequence(0, {}));
  stream->set_phases({seed_, 0, 0, kCellPhases});
  const std::vector<ChannelId> back = way_back(route_);
  in_cell_.back() = cells_->add(std::move(stream), route_, losses(route_, connection.key, false),
                                losses(back, connection.key, true));
}

/// Of route_.
DatagramFlow::Way FlowNetwork::datagram_way() const {
  DatagramFlow::Way way;
  way.rate = kInfinity;
  way.latest = datagram_wait(cluster_, route_, transport_).value();
  for (const ChannelId id : route_) {
    const LinkSpec& spec = cluster_.channel(id);
    const double rate = cluster_.nominal_rate(id).value() / 8;
    way.rate = std::min(way.rate, rate);
    way.latest += spec.delay.value() + kLateJitters * spec.jitter.value() + segment_ / rate;
  }
  way.segment = transport_.segment.count();
  way.header = static_cast<std::int64_t>(headers_);
  return way;
}

void FlowNetwork::run_cells(double until) {
  ended_.clear();
  cells_->run(until, ended_);
  for (const CellNetwork::Ended& each : ended_) {
    const std::int32_t c = of_cell_[static_cast<std::size_t>(each.connection)];
    const auto number = static_cast<std::int32_t>(each.id);
    if (!each.missing.empty()) {
      Transfer& t = transfer(number);
      t.missing = take_missing();
      missing_[static_cast<std::size_t>(t.missing)] = each.missing;
    }
    deliver_first(connection_at(c), {number, Bytes(each.wire), each.retransmissions});
  }
}

/// What it has sent arrives all the same, and then it is freed.
void FlowNetwork::cancel_in_cell(std::int32_t number) {
  const std::int32_t c = transfer(number).connection;
  cells_->cancel(now_, in_cell_[static_cast<std::size_t>(c)], static_cast<std::uint64_t>(number));
}

}  // namespace gradwire::sim
